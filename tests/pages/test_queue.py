"""Studies that wait are listed in their order, moved, taken out, and told apart from those that run."""

import pytest
import streamlit as st

from flipcore.runs import demo
from flipcore.runs.progress import Progress
from pages.common.opened import open_store_and_registry
from tests.pages.opening import opened
from tests.pages.test_pages import path, words  # noqa: F401
from tests.runs.test_queue import Stage, study, until

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # Streamlit's own: threads without a script context


def said(app):
    return words(app).replace("\\", "")


def test_a_queue_is_seen_moved_and_shortened_and_the_tab_says_what_ended(path, monkeypatch):  # noqa: F811
    monkeypatch.setattr(demo, "fill_store", lambda store: None)
    monkeypatch.setattr(demo, "demo_studies", list)
    titles = []
    told = st.set_page_config
    monkeypatch.setattr(st, "set_page_config", lambda **config: (titles.append(config["page_title"]), told(**config))[1])
    stage = Stage(monkeypatch)
    registry = open_store_and_registry()[1]
    for name in ("one", "two", "three"):
        registry.start(study(name))
    ids = {turn.study.name: turn.study_id for turn in registry.queue()}
    app = opened()
    assert not app.exception and "Queue: 2 waiting" in said(app) and "Waiting: number 1 of 2" in said(app)
    assert "**Waiting**" in said(app) and "**Running**" in said(app) and "Each person has 1 study running" in said(app)
    app.button(key=f"Earlier-{ids['three']}").click().run()
    assert [turn.study.name for turn in registry.queue()] == ["three", "two"] and not app.exception
    app.button(key=f"take-out-{ids['two']}").click().run()
    assert [turn.study.name for turn in registry.queue()] == ["three"] and "Queue: 1 waiting" in said(app)
    assert app.button(key=f"resume-{ids['two']}").label == "Start" and "**Not started**" in said(app)
    assert titles[-1] == "Flipscope"
    stage.end("one")
    until(lambda: stage.log[-1] == "three" and len(registry.endings) == 1)
    app.run()
    assert titles[-1] == "Done: one · Flipscope" and "Queue:" not in said(app)
    app.run()
    assert titles[-1] == "Flipscope"
    app.button(key=f"resume-{ids['two']}").click().run()
    app.number_input(key="runs-at-once").set_value(2).run()
    until(lambda: stage.log[-1] == "two")
    assert not app.exception
    for name in ("two", "three"):
        stage.end(name)
    until(lambda: not registry.running())


def test_no_redrawing_of_the_page_swallows_a_click_on_cancel(path, monkeypatch):  # noqa: F811
    """Another tenth of the calls is done while the page is drawn for the click."""
    monkeypatch.setattr(demo, "fill_store", lambda store: None)
    monkeypatch.setattr(demo, "demo_studies", list)
    stage, registry, one = Stage(monkeypatch), open_store_and_registry()[1], study("one")
    stage.hold("one")
    registry.start(one)
    app = opened()
    registry._progress[one.study_id] = Progress(n_calls=10, n_done=9)
    app.button(key=f"cancel-{one.study_id}").click().run()
    assert registry._cancels[one.study_id].is_set() and "**Stopping**" in said(app) and not app.exception
    stage.end("one")
    until(lambda: not registry.running())
