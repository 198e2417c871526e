"""Every page in the empty, the broken and the full store: one title, a sentence, never a traceback."""

import pytest
from streamlit.testing.v1 import AppTest

from flipcore.core.records import Completion
from flipcore.core.study import ModelUse
from flipcore.models.simulated import Simulated
from flipcore.runs import demo, runner
from flipcore.store.connection import Store
from flipcore.store.rows import study_row
from tests.pages.opening import PAGE_MARKS, opened, quiet
from tests.pages.test_memorization import memory_store, memory_study
from tests.runs.test_runner import tiny_study
from tests.store.queries.test_holdout import STUDY as HOLDOUT
from tests.stores import copy_of

pytestmark = PAGE_MARKS
OF_A_STUDY = ["flips/page.py", "memorization/page.py", "audit/page.py"]
PAGES = ["studies/page.py", "new_study/page.py", *OF_A_STUDY, "holdout/page.py", "paraphrase_review/page.py", "survey/page.py"]
NO_ANSWERS = tiny_study(name="no answers")
ALL_FAILED = tiny_study(name="all failed", models=(ModelUse("simulated-noisy"),))
HALF = tiny_study(name="half of the readouts", seed=2)
MEMORY = memory_study()
UNREADABLE = "unreadable"
BROKEN = {"unreadable": UNREADABLE, "no answers": NO_ANSWERS.study_id, "all failed": ALL_FAILED.study_id, "half": HALF.study_id}


def built(folder, fill):
    path = folder / "flips.duckdb"
    store = Store.open(path)
    fill(store)
    store.close()
    return path


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    async def failing(self, call):
        return Completion(call.call_id, "failed", error="The server is gone.")

    def fill(store):
        row = study_row(NO_ANSWERS, "done", n_calls=10)
        store.writer.add("studies", [row | {"study_id": UNREADABLE, "name": "<b>unreadable</b>", "toml": "axes = ["}]).result(
            10
        )
        store.writer.add("studies", [row]).result(10)
        runner.run(HALF, store)
        store.writer.transact(
            lambda connection: connection.execute("DELETE FROM readouts WHERE extractor = 'regex' OR item_id > 'flipscope_p'")
        ).result(10)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Simulated, "complete", failing)
            assert runner.run(ALL_FAILED, store).state == "incomplete"

    return built(tmp_path_factory.mktemp("broken"), fill)


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """The three questions of the demo, small: flips and a holdout of simulated models, memory of the pocket model."""

    def fill(store):
        demo.fill_store(store)
        for study in (tiny_study(), HOLDOUT):
            assert runner.run(study, store).state == "done"

    folder = tmp_path_factory.mktemp("full")
    copy_of(memory_store(tmp_path_factory), folder)
    return built(folder, fill)


@pytest.fixture
def show(tmp_path, monkeypatch):
    quiet(monkeypatch)
    monkeypatch.setattr(demo, "demo_studies", list)

    def shown(page: str, store_file=None, **query: str) -> AppTest:
        path = tmp_path / "flips.duckdb"
        if store_file:
            copy_of(store_file, tmp_path)
        monkeypatch.setenv("FLIPSCOPE_DB", str(path))
        return opened(page, **query)

    return shown


def sentences(app: AppTest) -> list[str]:
    kinds = ("markdown", "info", "error", "warning", "caption", "subheader")
    return [str(block.value) for kind in kinds for block in getattr(app, kind)]


def holds(app: AppTest) -> list[str]:
    """The page's sentences, after what every page must hold: no fault, one title, no traceback."""
    assert not app.exception
    assert len(app.title) == 1 and not any(text.startswith("# ") for text in sentences(app))
    assert not any("Traceback" in text or "<b>" in text.replace("\\<", "") for text in sentences(app))
    return sentences(app)


@pytest.mark.parametrize("page", PAGES)
def test_the_empty_store_says_what_to_do_next(show, page):
    app = show(page)
    assert any(text.rstrip("*").endswith((".", "?")) for text in holds(app))
    if page != "holdout/page.py":  # shows shipped sets, so it is never empty
        assert [*app.get("page_link"), *(button for button in app.button if not button.disabled)]


def test_the_button_of_an_empty_review_leads_to_where_pairs_come_in(show):
    app = show("paraphrase_review/page.py")
    app.button(key="to-exchange").click().run()
    assert not app.exception and app.session_state["part"] == "Propose and exchange"


@pytest.mark.cell("page")
@pytest.mark.parametrize("study", BROKEN)
@pytest.mark.parametrize("page", OF_A_STUDY)
def test_a_broken_study_is_a_sentence(show, broken, page, study):
    assert holds(show(page, broken, study=BROKEN[study]))


@pytest.mark.parametrize("page", [page for page in PAGES if page not in OF_A_STUDY])
def test_broken_studies_beside_it_stop_no_page(show, broken, page):
    assert holds(show(page, broken))


@pytest.mark.parametrize("page", PAGES)
def test_the_full_store_fills_the_page(show, full, page):
    study = MEMORY if page.startswith("memorization") else tiny_study()
    holds(show(page, full, study=study.study_id))
