"""Score: the sentence and its board, the tables under it, the outputs behind a dot, and the lock."""

import shutil

import pytest
from streamlit.testing.v1 import AppTest

from flipcore.annotation.judge_labels import label_row
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs import demo
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.connection import Store
from flipcore.store.judgements import OUTPUT_LABELS
from flipcore.store.queries import judgements, judges, locks
from tests.datasets.recorded import harness_files as written
from tests.pages.opening import PAGE_MARKS, new_app, opened, quiet, words
from tests.stores import store_with

pytestmark = PAGE_MARKS
STUDY = Study(
    "how sure",
    (ItemSource("flipscope_choice", n=36),),
    (
        Part("identity"),
        Part("option_order", {"kind": "cyclic", "n": 2}),
        Part("combined", {"n": 4, "parts": ["option_order", "label_set"]}),
    ),
    (Part("first_token"), Part("regex")),
    (ModelUse("simulated-noisy", n_samples=2),),
    confirmatory_share=0.4,
)
S = STUDY.study_id


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return store_with(tmp_path_factory.mktemp("score"), STUDY)


@pytest.fixture
def own_path(file, tmp_path, monkeypatch):
    """A file of the test's own, without a lock."""
    copied = shutil.copyfile(file, tmp_path / "flips.duckdb")
    quiet(monkeypatch, copied)
    monkeypatch.setattr(demo, "demo_studies", list)
    return copied


def page(**link) -> AppTest:
    app = opened("score/page.py", study=S, **link)
    assert not app.exception
    return app


def columns(app: AppTest) -> list[list[str]]:
    return [list(one.value.columns) for one in app.dataframe]


def test_the_page_says_whose_the_uncertainty_is_and_where_the_next_call_goes(path):
    app = page()
    said = words(app)
    assert "simulated-noisy: another prompt would score between" in said
    assert "% comes from which questions were asked" in said and "more calls on" in said and "calls are split best as" in said
    assert [one[0] for one in columns(app)] == ["part", "100 more calls as", "axis", "interval over", "prompt", "extractor"]
    intervals = app.dataframe[3].value
    assert list(intervals["interval over"])[2] == "other questions and prompts"
    assert len(app.dataframe[4].value) == 4 and "prompts drawn: combined" in said


def test_a_card_says_one_score_with_its_whole_error_bar(path):
    app = new_app()
    said = words(app.run())
    assert not app.exception and "with other questions and prompts" in said
    assert "right on " not in said.lower()  # the accuracy of another set of items stood beside it: two scores of one study


def test_no_wording_drawn_is_said_and_no_small_bar(path):
    app = page()
    app.multiselect(key="score-axes").set_value([]).run()
    said = words(app)
    assert "counts one prompt only" in said and "in three random prompts" in said
    assert "another prompt would score" not in said and "part" not in [one[0] for one in columns(app)]


def test_the_outputs_behind_a_wording_stand_in_the_link(path):
    store = Store.open(path)
    item = store.rows("SELECT item_id FROM study_items WHERE NOT confirmatory ORDER BY position LIMIT 1")[0][0]
    store.close()
    app = page(item=item, axis="combined", variant="way-1", readout="regex", way="combined|way-1", of="simulated-noisy")
    assert "Variant: way-1" in words(app) and "Original" in words(app)


def test_a_lock_stores_the_gates_as_they_stand(own_path):
    app = page(mode="Locked")
    app.text_input(key="lock-name-score").set_value("Ada").run()
    app.button(key="lock-score").click().run()
    store = Store.open(own_path)
    assert [one["settings"]["closed_gates"] for one in locks.locks(store, S)] == [{}]
    store.close()


def test_a_gate_stands_under_a_lock_as_it_stood_when_the_lock_was_stored(own_path):
    store = Store.open(own_path)
    settings = {"level": 0.9, "reader": "first_token", "role": "benchmark", "axes": "combined"}
    locks.keep_lock(store, S, "score", settings | {"closed_gates": {"combined": "Nobody had reviewed them."}}, "Ada")
    store.close()
    assert "Left out of the wordings: Nobody had reviewed them." in words(page(mode="Locked"))
    assert "Left out of the wordings" not in words(page())


def test_what_was_set_aside_is_counted_under_a_lock_alone(path):
    assert "Lock your settings to see the results" in words(page(mode="Locked"))
    store = Store.open(path)
    try:
        settings = {"level": 0.9, "reader": "first_token", "role": "benchmark", "axes": "combined"}
        locks.keep_lock(store, S, "score", settings, "Ada")
    finally:
        store.close()
    app = page(mode="Locked")
    assert "Settings stored by Ada" in words(app) and not app.multiselect
    assert "9 questions: from 10 on there is an interval." in words(app)  # those that were set aside, and no other
    assert len(app.dataframe[2].value) == 4


def test_people_correct_the_score_where_they_labelled_its_outputs(path):
    assert "Nobody has labelled an output behind this score" in words(page())
    store = Store.open(path)
    queued = [judges.output(store, S, one["call_id"]) for one in judges.outputs(store, S)]
    judgements.keep(store, OUTPUT_LABELS, [label_row(one, "Ada", "0") for one in queued[:90]])
    store.close()
    app = page()
    said = words(app)
    assert "labels by people:" in said and "Nobody has labelled" not in said
    table = next(one.value for one in app.dataframe if "corrected" in one.value.columns)
    assert list(table["extractor"]) == ["Written answer"] and table["labels"][0] > 20


def test_tasks_of_a_log_have_a_score_each_and_none_together(tmp_path, monkeypatch):
    store = Store.open(tmp_path / "flips.duckdb")
    for task, right in (("sums", 3), ("cities", 1)):
        rows = [{"prompt": f"{task} {k}?", "pred": str(k if k < right else k + 1), "target": k} for k in range(4)]
        written.lines(tmp_path / f"{task}.jsonl", rows)
    study_id = store_logs(survey([tmp_path / "sums.jsonl", tmp_path / "cities.jsonl"]), store)
    store.close()
    quiet(monkeypatch, tmp_path / "flips.duckdb")
    monkeypatch.setattr(demo, "demo_studies", list)
    app = opened("score/page.py", study=study_id)
    text = words(app)
    assert "are not pooled" in text and "75%" in text and "25%" in text and "Nothing was judged" not in text


def test_a_log_of_scores_is_compared_with_another_reading_by_right_and_wrong(tmp_path, monkeypatch):
    store = Store.open(tmp_path / "flips.duckdb")
    rows = [
        {"prompt": f"What is {k}?", "response": f"The answer is {k if k < 3 else k + 1}.", "target": k, "score": k < 3}
        for k in range(9)
    ]
    study_id = store_logs(survey([written.lines(tmp_path / "scores.jsonl", rows)]), store)
    store.close()
    quiet(monkeypatch, tmp_path / "flips.duckdb")
    monkeypatch.setattr(demo, "demo_studies", list)
    app = opened("flips/page.py", study=study_id)
    assert "disagree most: on 0%" in words(app)
