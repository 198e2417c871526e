"""The Holdout and Survey pages: a verdict on any two sets, never a traceback; the survey page never shows a result."""

import re
import time
from dataclasses import replace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from flipcore.annotation import gates
from flipcore.annotation.surveys.sheets import Survey, new_survey, sheet
from flipcore.core.study import ItemSource
from flipcore.reports.holdout_sets import Sets, sets_of_sources
from flipcore.runs import runner
from flipcore.store.connection import Store
from flipcore.store.judgements import SURVEY_ANSWERS
from flipcore.store.queries import holdout, judgements, studies
from pages.common import session
from pages.holdout import set_selection
from tests.annotation.surveys.test_sheets import RETRO, TARGET
from tests.pages.opening import opened as opened_page
from tests.pages.opening import quiet, words
from tests.store.queries.test_holdout import STUDY

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("allowed_folders", "allowed_callables"),
]  # Streamlit's own: threads without a script context
PARTS = {
    "Map": "nearest neighbors",
    "Look inside": "Does an entry come twice",
    "Tests": "Who may be asked",
    "Survey": "Each annotator gets a sheet of their own",
    "Inflation": "What a published comparison looks like",
    "Versions": "No version has been kept",
    "Guide": "is written after a benchmark was published",
}


@pytest.fixture
def path(tmp_path, monkeypatch):
    quiet(monkeypatch, tmp_path / "flips.duckdb")
    return tmp_path / "flips.duckdb"


def shown(page="holdout/page.py", **query):
    return opened_page(page, **query)


def kept(path, *items_and_survey):
    store = Store.open(path)
    for row, items in items_and_survey:
        holdout.keep_survey(store, row, items)
    store.close()


def test_a_fresh_store_shows_a_verdict_on_the_shipped_example_in_every_part(path, monkeypatch):
    boards = []
    monkeypatch.setattr("pages.components.boards.draw", lambda board, **__: boards.append(board) or (None, None, None))
    app = shown(sets="halves")
    first, second, whole = boards  # what is quick stands there while the rest runs, and claims nothing
    running = [[row["id"] for row in board["rows"] if "Running" in row["sentences"][0][1]] for board in boards]
    assert running == [["semantic", "prediction"], ["prediction"], []]
    assert first["is_waiting"] and second["is_waiting"] and "is_waiting" not in whole
    assert len(whole["headlines"][0]["combined"]) > 1 and "combined" not in second["headlines"][0] | first["headlines"][0]
    for part, said_there in PARTS.items():
        app.session_state["part"] = part
        app.run()
        assert not app.exception and not app.error
        assert "36 benchmark and 36 holdout entries. 36 items of the holdout are in the benchmark, too" in words(app)
        assert [said for said in PARTS.values() if said in words(app)] == [said_there]
    assert not any(board.get("is_waiting") for board in boards[2:])  # each is computed once


def test_a_study_with_both_roles_fills_the_difficulty_test_and_inflation(path, monkeypatch):
    store = Store.open(path)
    runner.run(STUDY, store)
    store.close()
    app = shown(sets=f"study:{STUDY.study_id}", part="Inflation")
    assert not app.exception and "higher on the benchmark" in words(app)
    with monkeypatch.context() as patch:
        patch.setattr(gates, "closed_gates", lambda _store, _study, _axes, names, *_: dict.fromkeys(names, "Nobody labelled."))
        for part in ("Inflation", "Tests"):
            app = shown(sets=f"study:{STUDY.study_id}", part=part)
            assert "higher on the benchmark" not in words(app)
            assert ("Not claimed: Nobody labelled." if part == "Inflation" else "Not run: Nobody labelled.") in words(app)
    app = shown(sets=f"study:{STUDY.study_id}", part="Tests")
    assert "its training cut-off is not stated" in words(app) and "No model has answered both sets" not in words(app)


def test_a_question_behind_the_inflation_opens_its_outputs(path):
    store = Store.open(path)
    runner.run(STUDY, store)
    item_ids = list(studies.readouts(store, STUDY.study_id)["item_id"].unique())
    store.close()
    app = shown(sets=f"study:{STUDY.study_id}", part="Inflation")
    questions = next(frame.value for frame in app.dataframe if "question" in frame.value)
    assert set(questions["set"]) == {"benchmark", "holdout"}
    item_id = next(name for name in item_ids if name.split("@")[0] == questions["item"].iloc[0])
    app = shown(sets=f"study:{STUDY.study_id}", part="Inflation", item=item_id)
    assert not app.exception and "Right answer:" in words(app)
    assert "was not asked under that axis" not in words(app)


def test_the_first_page_asks_whether_a_holdout_is_fair_and_answers_that(path, monkeypatch):
    monkeypatch.setattr(st, "page_link", lambda *_, **__: None)  # it knows pages by the app's navigation alone
    store = Store.open(path)
    runner.run(STUDY, store)
    store.close()

    def card(study_id):
        from pages.studies.questions import _draw_holdout

        _draw_holdout(study_id)

    app = AppTest.from_function(card, args=(STUDY.study_id,), default_timeout=300).run()
    for _ in range(300):  # the tests are at work beside the page, which goes on
        if app.markdown:
            break
        assert not app.exception and "Testing both sets" in app.caption[0].value
        time.sleep(1)
        app.run()
    verdict, *_ = [one.value.replace("\\", "") for one in app.markdown]
    assert not app.exception and verdict.startswith(("Undecided: ", "The sets c", "All 4"))
    assert "If the holdout is fair" in app.caption[0].value


def test_two_sets_of_ones_own_are_asked_for(path):
    app = shown(sets="own")
    assert not app.exception and "Add items as benchmark and as holdout to compare two sets" in words(app)


def test_sets_that_are_gone_fall_back_to_the_example(path):
    app = shown(sets="version:gone")
    assert not app.exception and "140 benchmark and 200 holdout entries" in words(app)


def test_locked_shows_nothing_until_margins_are_stored(path):
    app = shown(sets="halves", mode="Locked")
    assert not app.exception and "No entries were set aside" in words(app) and "Near duplicates" not in words(app)


def aside_control(app):
    return next(group for group in app.button_group if group.label.startswith("Set aside"))


def opened(mode):
    """The two halves, half of each set aside by a hand where it is not yet."""
    app = shown(sets="halves", mode=mode)
    control = aside_control(app)
    return app if control.disabled else control.set_value(0.5).run()


def test_a_link_sets_nothing_aside(path):
    """It would be for good, and anybody writes a link."""
    app = shown(sets="halves", aside="0.5", mode="Locked")
    assert not app.exception and not aside_control(app).disabled and "No entries were set aside" in words(app)


def n_entries(app):
    return [int(n) for n in re.search(r"(\d+) benchmark and (\d+) holdout entries, (those|\d+ more)", words(app)).groups()[:2]]


def test_a_lock_opens_the_entries_that_were_set_aside_and_no_others(path):
    app = opened("Locked")
    assert "Lock your settings to see the results" in words(app) and "nine tenths" not in words(app)
    next(one for one in app.text_input if one.key == "lock-name-holdout").input("Ada").run()
    next(button for button in app.button if button.key == "lock-holdout").click().run()
    assert not app.exception and "Settings stored by Ada" in words(app) and app.number_input(key="seed").disabled
    explored = opened("Explore")  # by a link: a reload shows no more than before
    aside, shown_before = n_entries(app), n_entries(explored)
    assert f"{sum(aside)} more set aside" in words(explored)
    # every entry of 36 and 36 is on one side of the lock
    assert [a + b for a, b in zip(aside, shown_before, strict=True)] == [36, 36] and min(*aside, *shown_before) > 5


def test_what_was_set_aside_once_stays_so_without_the_link_and_on_other_pages(path):
    explored = opened("Explore")
    shown_before = n_entries(explored)
    store = Store.open(path)
    aside = {one for (one,) in store.rows("SELECT item_id FROM study_items WHERE confirmatory")}
    assert holdout.hidden_items(store, sorted(aside)) == aside and len(aside) > 10
    store.close()
    st.cache_resource.clear()
    again = shown(sets="halves")  # nobody says `aside` any more
    assert n_entries(again) == shown_before and aside_control(again).disabled
    other = shown(sets="unlike")
    assert not other.exception


def test_the_survey_page_without_a_survey_says_where_to_build_one(path):
    app = shown("survey/page.py")
    assert not app.exception and "No survey has been built yet" in words(app)
    assert "There is no survey under this link" in words(shown("survey/page.py", survey="gone"))


def test_a_survey_is_answered_to_the_end_and_shows_no_result(path):
    survey = new_survey("Which one?", TARGET, RETRO, n_triples=3, n_checks=1)
    kept(path, (survey.row(Sets.without_study("s", TARGET, RETRO).sets_id), TARGET + RETRO))
    app = shown("survey/page.py", survey=survey.survey_id)
    app.text_input[0].input("Ada")
    app.button[0].click().run()
    next(button for button in app.button if button.key == "begin").click().run()
    for i, question in enumerate(sheet(survey, "Ada").questions):
        assert f"Question {i + 1} of 4" in words(app) and "%" not in words(app)
        next(button for button in app.button if button.key == f"choose-{i}-{question.right}").click().run()
    assert not app.exception and "Thank you" in words(app)
    said = words(app).lower()
    assert not any(word in said for word in ("correct", "right", "score", "p = ", "p\u00a0=", "accuracy"))
    answers = judgements.standing(session.store(), SURVEY_ANSWERS, survey_id=survey.survey_id)
    assert [row["is_correct"] for row in answers] == [True] * 4 and {row["annotator"] for row in answers} == {"Ada"}


def test_who_comes_back_goes_on_where_they_stopped_and_may_change_an_answer(path):
    survey = new_survey("Which one?", TARGET, RETRO, n_triples=3, n_checks=0, n_examples=0)
    kept(path, (survey.row("x"), TARGET + RETRO))

    def begun():
        app = shown("survey/page.py", survey=survey.survey_id)
        app.text_input[0].input("Ada")
        return app.button[0].click().run()

    app = begun()
    next(button for button in app.button if button.key == "choose-0-0").click().run()
    app = begun()
    assert "Question 2 of 3" in words(app)
    next(button for button in app.button if button.key == "back").click().run()
    assert "Question 1 of 3" in words(app)
    next(button for button in app.button if button.key == "choose-0-2").click().run()
    assert "Question 2 of 3" in words(app) and "1 of 3 answered" in " ".join(str(one.proto.text) for one in app.get("progress"))


def test_text_of_an_entry_is_text(path):
    bold = [replace(item, item_id=f"b{i}", question=f"**bold** <b>{i}</b> $x$ :red[no]") for i, item in enumerate(TARGET[:10])]
    survey = new_survey("[link](x)", bold, RETRO, n_triples=3, n_checks=0, n_examples=2)
    kept(path, (survey.row("x"), bold + RETRO))
    app = shown("survey/page.py", survey=survey.survey_id)
    app.text_input[0].input("Ada")
    app.button[0].click().run()
    shown_texts = [block.value for block in app.markdown if "bold" in block.value]
    assert shown_texts and all(r"\*\*bold\*\* \<b\>" in text and r"\$x\$ \:red\[no\]" in text for text in shown_texts)


def test_a_set_given_twice_has_no_retro_entries_and_the_page_says_why(path):
    sources = [ItemSource("flipscope_choice", role=role) for role in ("target", "retro")]
    app = opened_page("holdout/page.py", {"holdout-sources": sources}, sets="own")
    assert not app.exception
    assert "you have 72 benchmark and 0 holdout entries. 72 items of the holdout are in the benchmark, too" in words(app)


def test_the_lacking_set_is_asked_for_first(path):
    app = opened_page("holdout/page.py", {"holdout-sources": [ItemSource("flipscope_choice", role="target")]}, sets="own")
    app.selectbox(key="add-dataset").set_value("flipscope_problems").run()  # one's own file comes first, and asks for the file
    role = next(one for one in app.selectbox if one.label == "As")
    assert role.value == "retro" and role.options == ["holdout"]


def test_what_a_study_set_aside_stands_in_no_other_sets_and_in_no_survey(path):
    store = Store.open(path)
    runner.run(STUDY, store)
    aside = {one for (one,) in store.rows("SELECT item_id FROM study_items WHERE confirmatory")}
    choices = {one for (one,) in store.rows("SELECT item_id FROM study_items WHERE role <> 'benchmark'")}
    store.close()
    app = shown(sets="halves", part="Survey")
    assert f"{len(aside & choices)} entries are left out: a study set them aside" in words(app)
    app.button(key="build-survey").click().run()
    survey = Survey.of_design(holdout.surveys(session.store())[0]["design"])
    assert survey.target_ids and not aside & {*survey.target_ids, *survey.retro_ids}


def test_a_survey_of_entries_that_were_set_aside_since_says_so(path):
    kept(path, (new_survey("later", TARGET, RETRO).row("s"), [*TARGET, *RETRO]))
    store = Store.open(path)
    row = {"study_id": "other", "role": "target", "confirmatory": True}
    rows = [row | {"item_id": item.item_id, "position": i} for i, item in enumerate(TARGET)]
    store.writer.add("study_items", rows).result(30)
    store.close()
    survey_id = new_survey("later", TARGET, RETRO).survey_id
    app = shown("survey/page.py", survey=survey_id)
    app.text_input(key=f"name-{survey_id}").input("Ada")
    app.button[0].click().run()
    assert "cannot be shown: a study set them aside" in words(app) and not app.exception


def test_excluded_entries_leave_every_number_with_the_tests_before_and_after_and_no_lock(path):
    app = shown(sets="halves")
    whole = chosen_ids()
    app.session_state["entries-excluded"] = {whole[0]: whole[1][:2]}
    app.run()
    assert not app.exception and "34 benchmark and 36 holdout entries" in words(app)
    assert "2 entries excluded by hand: 2 benchmark, 0 holdout" in words(app)
    table = next(frame.value for frame in app.dataframe if "verdict, without them" in frame.value.columns)
    semantic = table[table["test"] == "Semantic similarity"].iloc[0]
    assert "[" in semantic["all entries"] and semantic["all entries"] != semantic["without them"]
    app.button(key="put-back").click().run()
    assert "36 benchmark and 36 holdout entries" in words(app) and "excluded by hand" not in words(app)
    for mode in ("Simultaneous", "Locked"):  # no band over margins holds for entries that were chosen after a look
        other = shown(sets="halves", mode=mode)
        other.session_state["entries-excluded"] = {whole[0]: whole[1][:2]}
        other.run()
        assert not other.exception and "excluded by hand" not in words(other)
        assert mode == "Locked" or "36 benchmark and 36 holdout entries" in words(other)


def chosen_ids() -> tuple[str, list[str]]:
    """The id of the sets that the page compares, and the ids of their benchmark entries."""
    sets = sets_of_sources("halves", set_selection._SOURCES["halves"])
    return sets.sets_id, [item.item_id for item in sets.target]
