"""Every finding of an audit opens its outputs, for each kind of study."""

import json

import pytest

from flipcore.reports.audit import audit
from flipcore.runs import runner
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.queries.inspection import inspection
from tests.datasets.recorded import harness_files
from tests.runs.test_runner import tiny_study

pytestmark = pytest.mark.usefixtures("allowed_folders")


def write_table(path):
    """Two models' outputs to twenty questions; some say nothing, some right answers stand twice."""
    rows = []
    for i in range(20):
        for model, right in (("m-1", i < 15), ("m-2", i < 8)):
            text = f"The answer is {2 * i if right else 1000}." if i != 3 else "I cannot say."
            question = f"What is {i} plus {i}?" if i != 19 else "What is 0 plus 0?"
            rows.append({"id": f"q{i}", "model": model, "question": question, "output": text, "target": 2 * i})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_log(path):
    samples = [harness_files.inspect_sample(i, text="ANSWER: A" if i < 15 else "I cannot.") for i in range(20)]
    samples[0]["scores"]["choice"]["value"] = "I"
    return harness_files.inspect_eval(path, samples, harness_files.inspect_header(0.4, 20))


def write_log_of_two_models(folder):
    harness_files.lm_eval(folder / "one", "m-1", n=30, n_right=25)
    harness_files.lm_eval(folder / "two", "m-2", n=30, n_right=5)
    return folder


def imported(store, path):
    return store_logs(survey([str(path)], corrections_of([], of_tables=False)), store)


STUDIES = {
    "a table": lambda store, folder: imported(store, write_table(folder / "table.jsonl")),
    "a log": lambda store, folder: imported(store, write_log(folder / "log.eval")),
    "logs of two models": lambda store, folder: imported(store, write_log_of_two_models(folder / "logs")),
    "asked here": lambda store, folder: runner.run(tiny_study(), store) and tiny_study().study_id,
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=pytest.mark.slow if kind in ("logs of two models", "a table") else ()) for kind in STUDIES],
)
def test_every_item_of_a_finding_opens_an_output(store, tmp_path, kind):
    study_id = STUDIES[kind](store, tmp_path)
    opened = 0
    for finding in audit(store, study_id).findings:
        for item in finding.items[:3]:
            view = inspection(store, study_id, finding.model, item, finding.axis)
            assert view and view.variants, (finding.about, finding.axis, item)
            samples = [sample for variant in view.variants for sample in variant.readings]
            if finding.model:
                assert any(sample.text for sample in samples), (finding.about, finding.axis, item)
                opened += 1
    assert opened, "no finding of this study has an item and a model: the check would be empty"
