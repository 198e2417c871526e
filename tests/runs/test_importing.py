"""Recorded outputs as a study: through the store the numbers are the source's, and nothing of it can be asked again."""

import json
import threading
from dataclasses import replace

import pytest

from flipcore import __main__ as command
from flipcore.core.errors import BadInput
from flipcore.core.study import Study
from flipcore.datasets.recorded.columns import Recording
from flipcore.datasets.recorded.fields import Field
from flipcore.reports.audit import audit
from flipcore.reports.study import study_report
from flipcore.runs import runner
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import store_logs, study_of
from flipcore.runs.log_survey import preview_row, survey
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from flipcore.store.queries.inspection import inspection
from tests.datasets.recorded.tables import imported

pytestmark = pytest.mark.usefixtures("allowed_folders")

ROWS = [
    {
        "id": i,
        "prompt": f"Which is {i}?\nA. {a}\nB. {b}",
        "shown": [a, b],
        "scores": {"A": 2.0, "B": 1.0},
        "gold": "oak",
        "text": "The answer is A.",
    }
    for i in range(3)
    for a, b in (("oak", "tin"), ("tin", "oak"))
]
RECORDING = Recording(
    "made", "m", "prompt", (Field("first_token", "scores"),), item="id", options="shown", text="text", target="gold"
)


def written(tmp_path, rows, name="made.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.slow
def test_an_import_is_an_ordinary_study(tmp_path, store):
    found = imported(written(tmp_path, ROWS), RECORDING, "Mine")
    study_id = store_logs(found, store)
    (row,) = studies.studies(store).to_dict("records")
    assert (row["study_id"], row["name"], row["state"], row["models"]) == (study_id, "Mine", "done", ["m"])
    assert (row["n_items"], row["n_calls_done"], row["n_failed"], row["simulated"]) == (3, 6, 0, False)
    frame = studies.readouts(store, study_id)
    assert len(frame) == 12 and set(frame["extractor"]) == {"first_token", "regex"}
    # A is oak in the base and tin when turned, so every pair flips and only the base is right
    assert frame.groupby("variant")["is_correct"].mean().to_dict() == {"base": 1.0, "variant-1": 0.0}
    seen = inspection(store, study_id, "m", studies.readouts(store, study_id)["item_id"].iloc[0], "option_order")
    assert [variant.readings[0].text for variant in seen.variants] == ["The answer is A."] * 2


@pytest.mark.slow
def test_importing_again_changes_nothing(tmp_path, store):
    path = written(tmp_path, ROWS)
    first, second = (store_logs(imported(path, RECORDING), store) for _ in range(2))
    assert first == second and len(studies.studies(store)) == 1 and len(studies.readouts(store, first)) == 12


@pytest.mark.slow
def test_two_recordings_of_one_prompt_keep_their_texts_apart(tmp_path, store):
    other = [row | {"text": "The answer is B."} for row in ROWS]
    ids = [
        store_logs(imported(path, RECORDING, path.stem), store)
        for path in (written(tmp_path, ROWS, "a.jsonl"), written(tmp_path, other, "b.jsonl"))
    ]
    wanted = "extractor == 'regex' and variant == 'base'"
    answers = [studies.readouts(store, one).query(wanted)["answer"].iloc[0] for one in ids]
    assert answers == ["0", "1"]


def test_a_recorded_study_survives_toml_and_cannot_be_asked_again(tmp_path, store):
    study = study_of(imported(written(tmp_path, ROWS), RECORDING))
    again = Study.from_toml(study.to_toml())
    assert again == study and again.study_id == study.study_id and again.is_recorded
    with pytest.raises(BadInput, match="recorded outputs cannot be asked again"):
        runner.run(again, store)


@pytest.mark.parametrize(
    ("recording", "why"),
    [
        (replace(RECORDING, fields=(), text=""), "nothing to read"),
        (replace(RECORDING, prompt="", target=""), "no column for the prompt"),
        (replace(RECORDING, prompt="moon"), "no column 'moon'"),
    ],
)
def test_a_recording_that_cannot_be_read_gets_a_sentence(tmp_path, recording, why):
    with pytest.raises(BadInput, match=why):
        imported(written(tmp_path, ROWS), recording)


@pytest.mark.stand_in("test_an_import_is_an_ordinary_study")
@pytest.mark.slow
def test_real_first_tokens_flip_1102_times_of_1800_through_the_store(shared_data, store):
    path = str(shared_data / "mcq_mismatch" / "mistral-7b" / "test.first40.json")
    found = imported(path, ["model=mistral-7b"])
    frame = studies.readouts(store, store_logs(found, store))
    of_first, of_text = study_report(frame, "regex")["mistral-7b"].cells
    assert (of_first.extractor, of_first.n_items) == ("first_token", 40)
    assert of_first.T.value == pytest.approx(1102 / 1800)
    assert 0.5 < of_text.T.value < 0.65  # the generated text of the same rows turns nearly as often
    first = frame[frame["extractor"] == "first_token"]
    assert first["label_mass"].isna().all() and set(first["reason"].str.split(",|:").str[0]) == {"Label mass unknown"}
    assert first["reason"].str.contains("at most").mean() > 0.5
    assert (frame.query("extractor == 'regex'")["status"] == "ok").sum() > 200


@pytest.mark.slow
@pytest.mark.stand_in("datasets/recorded/test_outputs.py::test_placeholder_scores_are_missing")
def test_a_field_that_no_row_has_is_missing_and_no_disagreement(shared_data, store):
    path = str(shared_data / "mcq_robustness" / "gemma-7b" / "shards" / "shard_0.json_labeled_resolved.json")
    found = imported(path, ["model=gemma-7b", "read:first_token=content_score_dict", "read:fourth=fourth"])
    frame = studies.readouts(store, store_logs(found, store))
    assert set(frame[frame["extractor"] == "fourth"]["status"]) == {"absent"}


@pytest.mark.slow
def test_the_command_imports_and_says_what_comes_next(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    path = written(tmp_path, ROWS)
    assert command.main(["import", str(path), "--dry-run"]) == 0
    assert "6 rows on 1 task" in capsys.readouterr().out and not (tmp_path / "flips.duckdb").exists()
    assert command.main(["import", str(path), "--map", "model=oak-1", "target=gold", "--name", "Mine"]) == 0
    said = capsys.readouterr().out
    assert "models: oak-1" in said and "python -m flipcore stats" in said
    assert command.main(["stats", "Mine"]) == 0 and "oak-1" in capsys.readouterr().out
    assert command.main(["import", str(path), "--map", "moon"]) == 1 and "maps nothing" in capsys.readouterr().err
    assert command.main(["import", str(path), "--read", "scores"]) == 1 and "names no readout" in capsys.readouterr().err
    assert command.main(["import", str(path), "--read", "a=scores", "a=gold"]) == 1 and "called 'a'" in capsys.readouterr().err
    assert command.main(["audit", "Mine"]) == 0 and "table of outputs" not in capsys.readouterr().err


@pytest.mark.slow
def test_a_variant_keeps_its_own_right_answer_role_and_axis(tmp_path, store):
    rows = [
        {
            "item": i,
            "variant": name,
            "axis": "numbers",
            "role": "control" if i < 2 else "benchmark",
            "prompt": f"{i} + {plus} = ?",
            "response": str(i + plus),
            "target": i + plus,
        }
        for i in range(4)
        for name, plus in (("base", 1), ("changed", 7))
    ]
    path = written(tmp_path, rows)
    study_id = store_logs(imported(path, []), store)
    frame = studies.readouts(store, study_id, everything=True)
    assert frame["is_correct"].tolist() == [True] * 8 and set(frame["axis"]) == {"numbers"}
    assert sorted(frame.drop_duplicates("item_id")["role"]) == ["benchmark", "benchmark", "control", "control"]
    # another right answer is no harmless change, so a model that is right throughout does not flip
    assert set(studies.readouts(store, study_id)["variant"]) == {"base"}


@pytest.mark.slow
def test_paths_lists_and_several_right_words(tmp_path, store):
    rows = [
        {"doc": {"q": f"Capital of {i}?", "gold": ["The Hague", "Den Haag"]}, "resps": [[said]], "id": i}
        for i, said in enumerate(["den haag.", "Ghent", "the hague"])
    ]
    words = ["prompt=doc.q", "target=doc.gold", "item=id", "answers=text", "text=resps[0][0]", "question="]
    path = written(tmp_path, rows)
    study_id = store_logs(imported(path, [*words, "read:said=resps[0][0]"]), store)
    frame = studies.readouts(store, study_id).query("extractor == 'said'")
    assert dict(zip(frame["answer"], frame["is_correct"], strict=True)) == {"hague": True, "ghent": False}


@pytest.mark.slow
def test_rows_that_are_numbered_are_grouped_by_their_question(tmp_path, store):
    rows = [{"id": n, "prompt": f"Q{n % 300}?", "response": str(n % 300), "target": n % 300} for n in range(600)]
    study_id = store_logs(imported(written(tmp_path, rows), []), store)
    assert studies.readouts(store, study_id)["item_id"].nunique() == 300


def test_a_preview_row_has_the_question_the_version_and_every_readout(tmp_path):
    found = imported(written(tmp_path, ROWS), RECORDING, "Mine")
    row = preview_row(found.first[0])
    assert row["right"] == row["first_token"] == "oak" and row["item"] == "0" and row["written"] == "The answer is A."


def table_of(store, study_id):
    frame = studies.readouts(store, study_id)
    return frame.sort_values(list(frame.columns)).reset_index(drop=True).astype(str)


@pytest.mark.slow
def test_an_import_that_is_stopped_goes_on_and_ends_the_same(tmp_path, store, monkeypatch):
    monkeypatch.setattr("flipcore.store.recorded.BATCH", 2)
    outputs, stop = imported(written(tmp_path, ROWS), RECORDING, "Mine"), threading.Event()
    steps = []
    study_id = store_logs(outputs, store, lambda done: (steps.append(done.n_done), stop.set()), stop)
    (row,) = studies.studies(store).to_dict("records")
    assert (row["state"], steps) == ("cancelled", [2]) and "after 2 of 6 rows" in row["message"]
    store_logs(outputs, store, lambda done: steps.append(done.n_done))
    assert steps == [2, 2, 4, 6, 2, 4, 6] and studies.studies(store)["state"].tolist() == ["done"]
    monkeypatch.setattr("flipcore.store.recorded.BATCH", 6_000)
    other = Store.open(tmp_path / "other.duckdb")
    store_logs(outputs, other)
    whole = table_of(other, study_id)
    other.close()
    assert table_of(store, study_id).equals(whole) and len(whole) == 12
    store_logs(outputs, store, lambda done: pytest.fail("it was stored again"))


@pytest.mark.slow
def test_several_tables_are_one_study_whose_items_meet_and_corrections_reach_a_table(tmp_path, store):
    """As of logs: models in files of their own, items joined by their text, roles and axes corrected, an audit."""
    for name, turn in (("m-1", ""), ("m-2", "B")):
        rows = [row | ({"text": f"The answer is {turn}."} if turn else {}) for row in ROWS]
        written(tmp_path, [row | {"model": name} for row in rows], f"{name}.jsonl")
    words = ["item=id", "options=shown", "target=gold", f"role:{tmp_path.name}=control", "axis:option_order=turned"]
    study_id = store_logs(survey([tmp_path], corrections_of(words, of_tables=True)), store)
    frame = studies.readouts(store, study_id, everything=True)
    assert set(frame["model"]) == {"m-1", "m-2"} and frame["item_id"].nunique() == 3 and set(frame["axis"]) == {"turned"}
    assert set(frame["role"]) == {"control"} and set(frame["extractor"]) == {"first_token", "regex"}
    assert "6 calls" in audit(store, study_id).recognised or "12 calls" in audit(store, study_id).recognised
    assert any("McNemar" in one.claim.text or one.claim.text for one in audit(store, study_id).findings)


def test_a_file_that_changed_since_it_was_looked_at_is_not_stored(tmp_path, store):
    path = written(tmp_path, ROWS)
    outputs = imported(path, RECORDING)
    written(tmp_path, ROWS[:4])
    with pytest.raises(BadInput, match="changed since it was looked at"):
        store_logs(outputs, store)
    assert studies.studies(store).empty
