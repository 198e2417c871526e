"""Logs that hold are not accused: each kind once said of a right log that something did not hold."""

import json
import shutil
from pathlib import Path

import pytest

from flipcore.core import folders
from flipcore.reports.audit import WRONG, audit
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.connection import Store
from tests.datasets.recorded import harness_files as made

TABLES = Path(__file__).parents[1] / "data" / "tables"


def audited(path):
    folders.admit(path)
    store = Store.open(":memory:")
    try:
        return audit(store, store_logs(survey([path]), store))
    finally:
        store.close()


def wrong(path):
    """The names of what does not hold."""
    return {finding.about for finding in audited(path).of_grades(WRONG)}


def changed(path, target, change):
    """A copy of a log with its document changed."""
    document = json.loads(Path(path).read_text(encoding="utf-8"))
    change(document)
    target.write_text(json.dumps(document), encoding="utf-8")
    return target


@pytest.mark.slow
def test_two_runs_under_two_temperatures_are_two_systems_that_hold():
    found = audited(TABLES / "two_runs")
    assert not found.of_grades(WRONG)
    assert "temperature 0" in found.recognised and "temperature 1" in found.recognised


@pytest.mark.slow
def test_two_runs_under_one_temperature_are_reruns_and_each_reports_its_own_score(tmp_path):
    shutil.copy(TABLES / "two_runs" / "warm.json", tmp_path / "warm.json")
    changed(
        TABLES / "two_runs" / "cold.json", tmp_path / "cold.json", lambda log: log["plan"].update(config={"temperature": 1.0})
    )
    found = audited(tmp_path)
    assert not found.of_grades(WRONG) and "80 calls, openai/gpt-4o-mini;" in found.recognised


@pytest.mark.slow
def test_a_false_score_of_one_of_two_runs_is_still_heard(tmp_path):
    shutil.copytree(TABLES / "two_runs", tmp_path / "runs")

    def raise_score(log):
        log["results"]["scores"][0]["metrics"]["accuracy"]["value"] = 0.725

    changed(TABLES / "two_runs" / "warm.json", tmp_path / "runs" / "warm.json", raise_score)
    (finding,) = [finding for finding in audited(tmp_path / "runs").of_grades(WRONG) if finding.about == "reported score"]
    assert "reported 0.725, recomputed 0.650 from all 40 rows" in finding.claim.text


@pytest.mark.slow
def test_two_tasks_of_two_models_on_the_same_items_each_report_their_own_rows(tmp_path):
    def second(log):
        log["eval"] |= {"task": "sums-again", "model": "openai/other"}

    shutil.copy(TABLES / "two_runs" / "cold.json", tmp_path / "a.json")
    changed(TABLES / "two_runs" / "warm.json", tmp_path / "b.json", second)

    def third(log):
        second(log)
        log["eval"]["task"] = "words"

    changed(TABLES / "critique.json", tmp_path / "c.json", third)
    assert not wrong(tmp_path)


@pytest.mark.slow
def test_two_tasks_on_the_same_texts_contradict_nothing():
    found = audited(TABLES / "two_tasks")
    abouts = {finding.about for finding in found.findings}
    assert not found.of_grades(WRONG) and "repeated items" not in abouts


@pytest.mark.slow
def test_two_tasks_that_send_one_prompt_with_two_right_answers_contradict_each_other(tmp_path):
    shutil.copy(TABLES / "two_tasks" / "kinds.json", tmp_path / "kinds.json")

    def same_prompt(log):
        first = json.loads((TABLES / "two_tasks" / "kinds.json").read_text(encoding="utf-8"))
        for sample, other in zip(log["samples"], first["samples"], strict=True):
            sample["messages"][0] = other["messages"][0]

    changed(TABLES / "two_tasks" / "new.json", tmp_path / "new.json", same_prompt)
    assert "contradicting golds" in wrong(tmp_path)


@pytest.mark.slow
def test_samples_that_failed_hold_no_other_model():
    found = audited(TABLES / "errors.json")
    assert "several models" not in {finding.about for finding in found.findings}
    assert "10 of 30 scores contradict" in next(
        finding.claim.text for finding in found.findings if finding.about == "score against answer"
    )


@pytest.mark.slow
def test_another_model_that_answered_is_still_heard(tmp_path):
    def other_model(log):
        log["samples"][-1]["output"]["model"] = "gpt-3"

    path = changed(TABLES / "errors.json", tmp_path / "a.json", other_model)
    assert "several models" in wrong(path)


@pytest.mark.slow
@pytest.mark.parametrize("is_marked", [True, False])
def test_the_first_answer_of_a_self_critique_is_no_leaked_key(tmp_path, is_marked):
    def unmark(log):
        for sample in log["samples"]:
            for message in sample["messages"]:
                if not is_marked:
                    message.pop("source", None)

    path = changed(TABLES / "critique.json", tmp_path / "a.json", unmark)
    assert not wrong(path)


@pytest.mark.slow
def test_a_key_in_the_first_question_of_a_self_critique_is_still_heard(tmp_path):
    def leak(log):
        for sample in log["samples"]:
            sample["messages"][0]["content"] += f"\n(answer: {sample['target']})"

    assert "leaked answers" in wrong(changed(TABLES / "critique.json", tmp_path / "a.json", leak))


@pytest.mark.slow
def test_includes_does_not_fail_to_read_an_empty_text(tmp_path):
    def empty(log):
        for sample in log["samples"][:9]:
            sample["output"] |= {"completion": ""}
            sample["output"]["choices"][0]["message"]["content"] = ""
            sample["scores"]["includes"] = {"value": "I", "answer": ""}

    found = audited(changed(TABLES / "two_runs" / "cold.json", tmp_path / "a.json", empty))
    assert "unreadable" not in {finding.about for finding in found.findings}


@pytest.mark.slow
def test_an_id_used_twice_with_another_right_answer_is_another_item(tmp_path):
    samples = [made.inspect_sample(i) for i in range(12)]
    other = made.inspect_sample(3, text="ANSWER: B") | {"target": "B", "input": "Which is 3 indeed?"}
    other["attachments"] = {"aa11": "Which is 3 indeed?\nA) oak\nB) tin\nC) ash"}
    head = made.inspect_header(1.0, 13)
    head["eval"]["dataset"] = {"name": "woods", "samples": 13}
    path = tmp_path / "a.json"
    path.write_text(json.dumps(head | {"samples": [*samples, other]}), encoding="utf-8")
    assert not wrong(path)
    doubled = tmp_path / "b.json"
    head["eval"]["dataset"]["samples"] = 12
    doubled.write_text(json.dumps(head | {"samples": [*samples, samples[3]]}), encoding="utf-8")
    assert "rows doubled" in wrong(doubled)


@pytest.mark.slow
def test_a_log_of_older_inspect_holds_its_scores_under_another_name(tmp_path):
    def older(log):
        log["results"] = {
            "scorer": {"name": "includes", "params": {}},
            "metrics": {"accuracy": {"name": "accuracy", "value": 0.8, "options": {}}},
        }
        for sample in log["samples"]:
            sample["score"] = sample.pop("scores")["includes"]

    found = audited(changed(TABLES / "two_runs" / "cold.json", tmp_path / "a.json", older))
    assert not found.of_grades(WRONG) and "scores by includes" in found.recognised


_TWO_OF_ONE_NAME = """
SELECT count(*) FROM (
    SELECT 1 FROM readouts JOIN study_variants USING (study_id, item_id, axis, variant_id)
    GROUP BY model, item_id, axis, key, sample, extractor HAVING count(*) > 1
)
"""


@pytest.mark.slow
def test_each_of_several_prompts_has_one_name_for_all_models(tmp_path):
    prompts = {"cot": "Think first. ", "short": "Be brief. ", "plain": "", "kind": "Be kind. ", "new": "Hello. "}
    asked = {"openai/a": ["plain", "cot", "short"], "openai/b": ["kind", "new", "cot"]}
    for model, names in asked.items():
        for number, name in enumerate(names):

            def rewrite(log, model=model, prompt=prompts[name]):
                log["eval"]["model"] = model
                for sample in log["samples"]:
                    sample["messages"][0]["content"] = prompt + sample["input"]

            path = tmp_path / f"{model[-1]}{number}.json"
            changed(TABLES / "two_runs" / "cold.json", path, rewrite)
    folders.admit(tmp_path)
    store = Store.open(":memory:")
    try:
        store_logs(survey([tmp_path]), store)
        assert store.rows(_TWO_OF_ONE_NAME) == [(0,)]
    finally:
        store.close()


@pytest.mark.slow
def test_two_tasks_in_two_wordings_are_no_change_of_wording(tmp_path):
    def rename(log):
        log["eval"]["task"] = "other-sums"
        for sample in log["samples"]:
            sample["input"] = sample["input"].replace("pens", "cups")
            sample["messages"][0]["content"] = f"Think first. {sample['input']}"

    shutil.copy(TABLES / "two_runs" / "cold.json", tmp_path / "a.json")
    changed(TABLES / "two_runs" / "cold.json", tmp_path / "b.json", rename)
    assert "wordings" not in {finding.about for finding in audited(tmp_path).findings}
