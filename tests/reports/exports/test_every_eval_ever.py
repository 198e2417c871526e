"""A study as Every Eval Ever: valid against the published schema, read back with the same numbers, nothing set aside in it."""

import importlib.util
import json
import os
import zipfile
from pathlib import Path

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports.exports.every_eval_ever import write_every_eval_ever
from flipcore.runs import runner
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.runs.plan import plan
from flipcore.store.queries import studies
from tests.datasets.recorded import harness_files as written
from tests.runs.test_runner import tiny_study

pytestmark = pytest.mark.usefixtures("allowed_folders")

WHEEL = os.environ.get("FLIPSCOPE_EEE_WHEEL", "")  # every_eval_ever-0.3.0-py3-none-any.whl, from `pip download`
SCHEMAS = ("eval", "instance_level_eval")


def files(store, study_id, folder):
    return {path: path.read_text(encoding="utf-8") for path in write_every_eval_ever(store, study_id, folder)}


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def test_an_imported_log_goes_out_with_every_readout_and_its_scores(tmp_path, store):
    study_id = store_logs(survey([written.lm_eval(tmp_path / "run").parent]), store)
    (aggregate, text), (_, samples) = files(store, study_id, tmp_path / "out").items()
    document, rows = json.loads(text), lines(samples)
    scores = {
        one["metric_config"]["additional_details"]["extractor"]: one["score_details"] for one in document["evaluation_results"]
    }
    assert {name: one["score"] for name, one in scores.items()} == pytest.approx(
        {"strict-match": 0, "flexible-extract": 4 / 6, "regex": 4 / 6}
    )
    assert len(rows) == 18 == document["detailed_evaluation_results"]["total_rows"]
    assert {row["answer_attribution"][0]["extraction_method"] for row in rows} == set(scores)
    assert str(aggregate).endswith(document["detailed_evaluation_results"]["file_path"].replace("_samples.jsonl", ".json"))
    ids = {one["evaluation_result_id"] for one in document["evaluation_results"]}
    assert {row["evaluation_result_id"] for row in rows} == ids and len(ids) == 3


@pytest.mark.slow
def test_sets_in_different_roles_are_not_pooled(tmp_path, store):
    sources = (ItemSource("flipscope_choice", "target", 10), ItemSource("flipscope_problems", "retro", 8))
    study = Study("two sets", sources, (Part("identity"),), (Part("regex"),), (ModelUse("simulated-noisy"),))
    runner.run(study, store)
    rows = studies.study_items(store, study.study_id)
    text = next(iter(files(store, study.study_id, tmp_path / "out").values()))
    told = {one["evaluation_name"]: one["score_details"] for one in json.loads(text)["evaluation_results"]}
    n = {f"{dataset}, {role} items": len(part) for (dataset, role), part in rows.groupby(["dataset", "role"])}
    assert {name: one["uncertainty"]["num_samples"] for name, one in told.items()} == n and len(n) == 2


@pytest.mark.slow
def test_it_reads_back_with_the_same_axes_answers_and_scores(tmp_path, store):
    study = tiny_study(axes=tiny_study().axes[1:])
    runner.run(study, store)
    write_every_eval_ever(store, study.study_id, tmp_path / "out")
    found = survey([tmp_path / "out"])
    assert found.n_refused == 0 and found.unread == []
    back = studies.readouts(store, store_logs(found, store), everything=True)
    own = studies.readouts(store, study.study_id, everything=True)
    for extractor, name in (("first_token", "first_token"), ("regex", "regex (log)")):
        was, now = own[own["extractor"] == extractor], back[back["extractor"] == name]
        for part in ("base", "rest"):
            one, two = (frame[(frame["variant"] == "base") == (part == "base")] for frame in (was, now))
            assert len(one.drop_duplicates("variant_id")) == len(two.drop_duplicates("variant_id"))
            assert one["is_correct"].mean() == pytest.approx(two["is_correct"].mean())


def test_a_time_of_zero_is_the_time_that_was_given(tmp_path, store):
    study_id = store_logs(survey([written.lm_eval(tmp_path / "run").parent]), store)
    aggregate, _ = write_every_eval_ever(store, study_id, tmp_path / "out", retrieved=0.0)
    assert json.loads(aggregate.read_text(encoding="utf-8"))["retrieved_timestamp"] == "0.0"


@pytest.mark.slow
def test_items_that_are_set_aside_are_in_no_line(tmp_path, store):
    study = tiny_study(name="half aside", confirmatory_share=0.5)
    hidden = [one.item for one in plan(study, store).items if one.confirmatory]
    runner.run(study, store)
    text = "".join(files(store, study.study_id, tmp_path).values())
    assert hidden and not any(item.item_id in text or json.dumps(item.question)[1:-1] in text for item in hidden)


def test_a_study_without_right_answers_says_so(tmp_path, store):
    with pytest.raises(BadInput, match="There is no study"):
        write_every_eval_ever(store, "nowhere", tmp_path)
    row = written.lm_eval_row(1, "Two", "Two", False, target="", metrics=[], doc={"question": "Why?"})
    row.pop("exact_match")
    study_id = store_logs(survey([written.lines(tmp_path / "samples_x_2025.jsonl", [row])]), store)
    with pytest.raises(BadInput, match="nothing to write in this format"):
        write_every_eval_ever(store, study_id, tmp_path / "none")


@pytest.mark.skipif(
    not (WHEEL and Path(WHEEL).is_file() and importlib.util.find_spec("jsonschema")),
    reason="FLIPSCOPE_EEE_WHEEL names no wheel of every-eval-ever 0.3.0 (pip download every-eval-ever==0.3.0 --no-deps "
    "--python-version 3.12 --only-binary=:all:), or jsonschema is not installed",
)
def test_what_is_written_is_valid_against_the_published_schema(tmp_path, store):
    import jsonschema

    with zipfile.ZipFile(WHEEL) as packed:
        aggregate, instance = (
            jsonschema.Draft7Validator(json.loads(packed.read(f"every_eval_ever/schemas/{name}.schema.json")))
            for name in SCHEMAS
        )
    own = tiny_study(name="Own study, with words/slashes")
    runner.run(own, store)
    logs = [
        written.lm_eval(tmp_path / "a").parent,
        written.eee(tmp_path / "b") and tmp_path / "b",
        written.helm(tmp_path / "c"),
    ]
    imported = [store_logs(survey([log]), store) for log in logs]
    n_rows = 0
    for number, study_id in enumerate([own.study_id, *imported]):
        for path, text in files(store, study_id, tmp_path / f"out-{number}").items():
            if path.suffix == ".json":
                aggregate.validate(json.loads(text))
                continue
            for row in lines(text):
                instance.validate(row)
                n_rows += 1
    assert n_rows > 90
