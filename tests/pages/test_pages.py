"""Every page on an empty, a finished and an unusable store: content or a sentence, never a traceback."""

import re
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_run_context import in_cached_function
from streamlit.testing.v1 import AppTest

from flipcore.core.study import Part
from flipcore.reports.flips import claimed_headline
from flipcore.runs import demo, runner
from flipcore.runs.progress import Progress
from flipcore.store.connection import Store
from tests.pages.opening import new_app, opened, quiet, words
from tests.runs.test_runner import tiny_study
from tests.stores import copy_of, store_with

PAGES = ["studies/page.py", "new_study/page.py", "flips/page.py", "memorization/page.py"]
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("allowed_folders"),
]  # Streamlit's own: threads without a script context


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return store_with(tmp_path_factory.mktemp("finished"), tiny_study())


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    monkeypatch.setattr("flipcore.runs.background.Registry.watch_inbox", lambda self: None)
    return tmp_path / "flips.duckdb"


def shown(page: str) -> AppTest:
    return opened(page)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_a_finished_study_fills_every_page(path, finished, monkeypatch, page):
    copy_of(finished, path.parent)
    monkeypatch.setattr(demo, "fill_store", lambda store: None)
    app = shown(page)
    assert not app.exception and "?" in words(app)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_a_database_that_cannot_be_opened_is_a_sentence(path, page):
    path.write_text("no database " * 2000)
    app = shown(page)
    assert not app.exception and "not a valid DuckDB database" in words(app) and "FLIPSCOPE_DB" in words(app)


@pytest.mark.slow
def test_open_leads_to_the_page_that_the_studys_sentence_is_about(path, monkeypatch):
    """All four demo studies opened Score; the sentence of the last one is about its score."""
    quiet(monkeypatch)
    store = Store.open(path)
    demo.declare(store, demo.demo_studies())
    store.close()
    opens = [link.proto for link in opened().get("page_link") if link.proto.label == "Open"]
    names = ("ranking", "holdout", "memorization", "score")
    for study, name in zip(demo.demo_studies(), names, strict=True):
        pages = [link.page for link in opens if study.study_id in link.query_string]
        assert pages == [name], (study.name, pages)


@pytest.mark.slow
def test_an_empty_store_offers_to_declare_a_study(path, monkeypatch):
    monkeypatch.setattr("flipcore.runs.demo.demo_studies", list)  # whose studies stand in the store before they are asked
    app = shown("flips/page.py")
    assert not app.exception and "Nothing has been measured yet" in words(app)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["Explore", "Simultaneous"])
def test_a_study_that_only_sends_the_same_prompts_again_says_so(path, monkeypatch, mode):
    store = Store.open(path)
    runner.run(replace(tiny_study(), axes=(Part("identity"),)), store)
    store.close()
    monkeypatch.setattr(demo, "fill_store", lambda store: None)
    app = opened("flips/page.py", show="Parts", mode=mode)
    assert not app.exception and "only sends the same prompts again" in words(app)


@pytest.mark.slow
def test_studies_of_one_name_can_be_told_apart(path, monkeypatch):
    store = Store.open(path)
    for seed in (1, 2):
        runner.run(replace(tiny_study(), seed=seed), store)
    store.close()
    monkeypatch.setattr(demo, "fill_store", lambda store: None)
    offered = next(box for box in shown("flips/page.py").selectbox if box.key.startswith("study-")).options
    assert len(set(offered)) == 2 and all(" · " in label for label in offered)


@pytest.mark.slow
def test_a_link_to_a_study_that_is_gone_shows_another(path, finished, monkeypatch):
    copy_of(finished, path.parent)
    app = opened("flips/page.py", study="gone")
    assert not app.exception and "flip" in words(app)


def test_the_three_questions_stand_there_while_the_demo_runs(monkeypatch):
    names = ("holdout", "memory", "flips")
    registry = SimpleNamespace(progress=lambda _: None)
    monkeypatch.setattr("pages.studies.questions.demo_studies", lambda: [SimpleNamespace(study_id=name) for name in names])
    monkeypatch.setattr("pages.studies.questions.session.registry", lambda: registry)
    monkeypatch.setattr("pages.studies.questions._draw_flips", lambda study_id: st.markdown(f"The answer of {study_id}."))

    def script():
        from pages.studies.questions import draw_answers, draw_cards

        for rows in (
            [{"study_id": "holdout", "state": "cancelled"}, {"study_id": "memory", "state": "running"}],
            [
                {"study_id": name, "state": state}
                for name, state in (("holdout", "cancelled"), ("memory", "running"), ("flips", "done"))
            ],
        ):
            draw_answers(draw_cards(rows), rows, {"memory"})

    app = AppTest.from_function(script).run()
    assert not app.exception and [str(one.value) for one in app.subheader].count("Is it memory?") == 1
    assert "The answer of flips." in words(app) and "The answer comes here." in words(app) and "Press Resume" in words(app)


@pytest.mark.slow
def test_a_study_that_ends_while_its_page_is_drawn_is_not_called_running(path, finished, monkeypatch):
    from pages.common import session

    copy_of(finished, path.parent)
    read, reads = session.all_studies, []

    def all_studies():
        frame = read()
        reads.append(frame["study_id"].iloc[0])
        return frame.assign(state="running") if len(reads) == 1 else frame  # read a moment before it ended

    def running():
        return {} if reads else {read()["study_id"].iloc[0]: Progress()}

    monkeypatch.setattr(session, "all_studies", all_studies)
    monkeypatch.setattr("flipcore.runs.background.Registry.running", lambda self: running())
    app = opened()
    assert not app.exception and "**Done**" in words(app) and "**Running**" not in words(app)


@pytest.mark.slow
def test_what_takes_long_is_said_meanwhile(path, finished, monkeypatch):
    copy_of(finished, path.parent)
    said, caption = [], st.delta_generator.DeltaGenerator.caption
    monkeypatch.setattr("pages.common.session.FIRST_LINE_S", 0.0)
    monkeypatch.setattr("pages.common.session.NEXT_LINE_S", 0.001)
    monkeypatch.setattr(
        st.delta_generator.DeltaGenerator,
        "caption",
        lambda self, text, **more: said.append(text) or caption(self, text, **more),
    )
    app = opened("flips/page.py")
    lines = [text for text in said if "hourglass" in text]
    assert not app.exception and any(
        re.search(r"Counting the flips in [0-9,]+ readouts … 0 of about [0-9]+ s$", one) for one in lines
    )
    assert not any("hourglass" in one.value for one in app.caption)


ALL_PAGES = [*PAGES, "score/page.py", "ranking/page.py", "audit/page.py", "report/page.py"]
QUICK_PAGES = ("flips/page.py",)  # it remembers most


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=() if page in QUICK_PAGES else pytest.mark.slow) for page in ALL_PAGES]
)
def test_nothing_is_drawn_where_streamlit_remembers(path, finished, monkeypatch, page):
    """It would be drawn again, by whatever thread asks next, each time that it is remembered."""
    copy_of(finished, path.parent)
    drawn, enqueue = [], st.delta_generator.DeltaGenerator._enqueue

    def noticing(self, kind, *args, **kwargs):
        if in_cached_function.get():
            drawn.append(kind)
        return enqueue(self, kind, *args, **kwargs)

    monkeypatch.setattr(st.delta_generator.DeltaGenerator, "_enqueue", noticing)
    app = opened(page)
    assert not app.exception and drawn == []


@pytest.mark.slow
def test_work_goes_on_when_its_page_is_left_and_the_next_look_finds_it(path, finished, monkeypatch):
    copy_of(finished, path.parent)
    begun, release, n = threading.Event(), threading.Event(), []

    def slow(*args, **kwargs):
        n.append(threading.current_thread().name)
        begun.set()
        assert release.wait(30)
        return claimed_headline(*args, **kwargs)

    monkeypatch.setattr("pages.common.headline.claimed_headline", slow)
    app = new_app("flips/page.py")
    with pytest.raises(RuntimeError, match="timed out"):
        app.run(timeout=2)
    assert begun.is_set()
    release.set()
    again = opened("flips/page.py")
    assert not again.exception and n == ["flipscope-work"] and "hourglass" not in str([one.value for one in again.caption])
