"""New study, used: steps that fold, a filter by the items' own data, and how many items a claim needs."""

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from flipcore.runs import demo
from tests.browser.serving import ROOT
from tests.pages.test_pages import words

pytestmark = pytest.mark.filterwarnings("ignore")  # Streamlit's own: threads without a script context


@pytest.fixture
def app(tmp_path, monkeypatch):
    st.cache_resource.clear()
    st.cache_data.clear()
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    monkeypatch.setattr("flipcore.runs.background.Registry.watch_inbox", lambda self: None)
    monkeypatch.setattr("flipcore.runs.background.Registry.start", lambda self, study: None)
    monkeypatch.setattr(demo, "fill_store", lambda store: None)
    yield AppTest.from_file(str(ROOT / "app.py"), default_timeout=180).run().switch_page("pages/new_study/page.py").run()
    st.cache_resource.clear()


def test_a_step_that_is_done_folds_and_opens_the_next(app):
    assert app.session_state["step-1"] is True and app.session_state["step-2"] is False
    app.button(key="done-1").click().run()
    assert not app.exception
    assert app.session_state["step-1"] is False and app.session_state["step-2"] is True
    assert app.session_state["summary-1"] == "20 of Pocket: choices, 12 of Pocket: word problems"


def test_items_are_filtered_by_their_own_data(app):
    app.selectbox(key="add-dataset").set_value("pocket_problems").run()
    app.multiselect(key="add-where-pocket_problems-dose").set_value([256]).run()
    app.number_input(key="add-n-pocket_problems").set_value(0).run()
    app.button(key="add-items").click().run()
    assert not app.exception
    assert app.session_state["draft-sources"][-1].where == {"dose": [256]}
    assert "all of Pocket: word problems" in app.session_state["summary-1"]


def test_the_calculator_gives_the_table_of_statistics_md(app):
    """Control drop 0, gap .10: 71 items a set at 80 % power, 95 at 90 %; at full coverage as many to start from."""
    app.number_input(key="power-gap").set_value(10.0)
    app.number_input(key="power-drop").set_value(0.0)
    app.number_input(key="power-coverage").set_value(100.0).run()
    assert "71 rewritten items a set, so 71 items" in words(app)
    app.button_group(key="power-power").set_value(0.9).run()
    assert "95 rewritten items a set" in words(app)
    app.button_group(key="power-what").set_value("two accuracies differ").run()
    app.number_input(key="power-first").set_value(40.0)
    app.number_input(key="power-second").set_value(30.0).run()
    assert not app.exception and "items a set" in words(app)


def test_an_axis_and_an_extractor_of_memory_can_be_chosen(app):
    app.toggle(key="extractor-question_loss").set_value(True).run()
    app.toggle(key="axis-paraphrase").set_value(True).run()
    assert not app.exception and "Question loss" in app.session_state["summary-2"]
