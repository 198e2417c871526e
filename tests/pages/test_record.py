"""The decisions on the page Report: what was decided, from what, the view it was made in, and what was left open."""

import pytest
from streamlit.testing.v1 import AppTest

from flipcore.core.study import Study
from flipcore.store.connection import Store
from flipcore.store.queries import decisions
from flipcore.store.queries.decisions import keep_decision, keep_question, record
from tests.browser.test_main_job import SIMULATED
from tests.conftest import ROOT
from tests.stores import store_with

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]
STUDY = Study.from_toml(SIMULATED)
HOSTILE = "<script>alert(1)</script> **bold** decided"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = store_with(tmp_path_factory.mktemp("record"), STUDY)
    store = Store.open(path)
    settings = {"level": 0.8, "reference": "regex", "policy": "own_class", "kind": "default", "rule": "paired"}
    keep_decision(
        store,
        STUDY.study_id,
        "decomposition",
        "explore",
        HOSTILE,
        settings,
        "Ada",
        query=f"study={STUDY.study_id}",
        resolution="to ask *more* <b>items</b>",
    )
    keep_question(store, STUDY.study_id, "decomposition", "Why is the floor so low?", "Ada")
    store.close()
    return path


@pytest.fixture
def app(path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_DB", str(path))
    return AppTest.from_file(str(ROOT / "pages" / "main.py"), default_timeout=120).run()


def said(app):
    return " ".join(one.value for kind in (app.markdown, app.caption, app.info) for one in kind)


def test_a_decision_is_shown_as_text_with_its_state_and_a_question_is_answered(app):
    app.session_state["part"] = "Decisions"
    app.switch_page("report/page.py").run()
    assert not app.exception
    assert r"\<script\>" in said(app) and "<script>" not in said(app) and "level 0" in said(app)
    assert "1 decision, still current" in said(app)
    assert r"**We decide\: to ask \*more\* \<b\>items\</b\>**" in said(app) and "EXPLORATORY" in said(app)
    assert "Why is the floor so low?" in said(app).replace("\\", "")
    (keep,) = [one for one in app.button if one.label == "Keep the answer"]
    (answer,) = [one for one in app.text_input if one.label == "Answer"]
    (name,) = [one for one in app.text_input if one.label == "Your name"]
    answer.set_value("One sample is asked.")
    name.set_value("Bea")
    keep.click().run()
    assert not app.exception and "Why is the floor so low?" not in said(app).replace("\\", "")


def test_words_that_nobody_wrote_leave_nothing(app):
    app.session_state["part"] = "Decisions"
    app.switch_page("report/page.py").run()
    app.text_input(key="words").set_value("nobody wrote this").run()
    assert not app.exception and "No decision fits this filter" in said(app)


def test_without_a_decision_the_page_says_how_to_write_one(app, monkeypatch):
    every = decisions.record
    monkeypatch.setattr(decisions, "record", lambda *given, **also: every(*given, **also).iloc[:0])
    app.session_state["part"] = "Decisions"
    app.switch_page("report/page.py").run()
    assert not app.exception and "No decision has been written down yet" in said(app)
    assert "Write to record" in said(app) and not app.selectbox


def test_the_view_of_a_decision_opens_at_its_settings(app, path):
    store = Store.open(path)
    decision_id = record(store)["decision_id"].iloc[0]
    store.close()
    app.query_params["study"] = STUDY.study_id
    app.query_params["decision"] = decision_id
    app.session_state["show"] = "Parts"
    app.switch_page("flips/page.py").run()
    assert not app.exception
    view = app.session_state[f"view-decomposition-{STUDY.study_id}"]
    assert view["level"] == 0.8 and "decision" not in app.query_params
