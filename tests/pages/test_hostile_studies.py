"""Studies that no page may trip over: hostile declarations, rows that cannot be read, a study that runs while it is deleted."""

from dataclasses import replace

import duckdb
import pytest
from streamlit.testing.v1 import AppTest

from flipcore.core import folders
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs import runner
from flipcore.store import migrations
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from flipcore.store.rows import study_row
from pages import navigation
from tests.pages.opening import PAGE_MARKS, opened, quiet, words
from tests.runs.test_runner import tiny_study

pytestmark = PAGE_MARKS

STUDY = Study(
    "hostile", (ItemSource("flipscope_choice", n=2),), (Part("identity"),), (Part("regex"),), (ModelUse("simulated-clean"),)
)
OUTSIDE = ItemSource("file", path="/etc/passwd", columns={"question": "q", "target": "a", "key": "id"})
TEXT = STUDY.to_toml()
# name -> (declaration, what its sentence says)
HOSTILE = {
    "a function of a module that nobody allowed": (
        replace(STUDY, models=(ModelUse("os:system"),)).to_toml(),
        "FLIPSCOPE_CALLABLES",
    ),
    "a judge that nobody allowed": (
        replace(STUDY, judge="builtins:eval", extractors=(Part("judge"),)).to_toml(),
        "FLIPSCOPE_CALLABLES",
    ),
    "a path outside of the folders": (replace(STUDY, items=(OUTSIDE,)).to_toml(), "outside of the folders"),
    "1e9 samples": (replace(STUDY, models=(ModelUse("simulated-clean", n_samples=10**9),)).to_toml(), "at most 1,000"),
    "temperature inf": (replace(STUDY, models=(ModelUse("simulated-clean", temperature=float("inf")),)).to_toml(), "finite"),
    "nested too deep": (
        TEXT.replace('name = "identity"', f'name = "identity", params = {{ a = {"[" * 40}{"]" * 40} }}'),
        "deep",
    ),
    "nested beyond all bounds": (f"x = {'[' * 5_000}{']' * 5_000}\n{TEXT}", "nested"),
    "an axis that is none": (replace(STUDY, axes=(Part("nonsense"),)).to_toml(), "nonsense"),
    "a parameter that is none": (replace(STUDY, axes=(Part("option_order", {"kind": "nonsense"}),)).to_toml(), "nonsense"),
    "a layout that is none": (replace(STUDY, layout="nonsense").to_toml(), "nonsense"),
    "no TOML": (TEXT[: len(TEXT) // 2] + "[[", "TOML"),
    "a newer key": (f"surprise = 1\n{TEXT}", "unknown key"),
}
READABLE = [
    name for name in HOSTILE if name.startswith(("a function", "a judge", "a path", "an axis", "a parameter", "a layout"))
]


@pytest.fixture
def store(tmp_path, monkeypatch):
    """The defaults of a machine where no admin said anything; what a page starts is written down."""
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    monkeypatch.delenv("FLIPSCOPE_FOLDERS", raising=False)
    monkeypatch.delenv("FLIPSCOPE_CALLABLES", raising=False)
    monkeypatch.setattr(folders, "_admitted", set())
    quiet(monkeypatch)
    opened = Store.open(tmp_path / "flips.duckdb")
    opened.writer.add("studies", [study_row(STUDY, "done")]).result(10)
    monkeypatch.setattr("flipcore.store.connection.Store.open", classmethod(lambda *_: opened))
    yield opened
    opened.close()


def opened_page(page: str, **link: str) -> AppTest:
    app = opened(page, **link)
    assert not app.exception, (page, app.exception[0].value if app.exception else "")
    return app


def test_new_study_answers_every_hostile_declaration_with_a_sentence_and_starts_none(store, monkeypatch):
    started = []
    monkeypatch.setattr("flipcore.runs.background.Registry.start", lambda self, study: started.append(study))
    app = opened_page("new_study/page.py")
    app.toggle(key="edit-toml").set_value(True).run()
    for name, (text, sentence) in HOSTILE.items():
        app.text_area(key="toml").set_value(text).run()
        assert not app.exception, (name, app.exception)
        said = " ".join(block.value for block in app.error).replace("\\", "")
        assert sentence in said and "Traceback" not in said, (name, said)
        assert "start" not in [button.key for button in app.button], name
    app.text_area(key="toml").set_value(TEXT).run()
    assert not app.error and "start" in [button.key for button in app.button] and started == []


@pytest.mark.cell
@pytest.mark.parametrize("name", [name for name in HOSTILE if "beyond" not in name])
def test_a_stored_hostile_study_is_a_sentence_on_studies_and_when_it_is_duplicated(store, name):
    text, sentence = HOSTILE[name]
    store.writer.add("studies", [study_row(STUDY, "done") | {"study_id": "bad", "name": "the bad one", "toml": text}]).result(
        10
    )
    app = opened_page("studies/page.py")
    assert "the bad one" in words(app) and "hostile" in words(app)
    problem = studies.studies(store).set_index("study_id")["problem"]["bad"]
    if problem:  # what can be read is a card like any other, and is refused where it is asked
        assert "cannot be read here" in " ".join(block.value for block in app.warning).replace("\\", "")
    app = opened_page("new_study/page.py", from_study="bad")
    said = " ".join(block.value for block in app.error).replace("\\", "")
    assert sentence in said
    if "cannot be duplicated" not in said:  # else the page offers the study that it offers without a link
        assert "start" not in [button.key for button in app.button]


BROKEN = {"newer": f"surprise = 1\n{TEXT}", "torn": TEXT[:40] + "[[", "empty": "", "nul": "\x00"}
PAGES = tuple(one.folder for one in navigation.PAGES if one.link)


@pytest.fixture
def with_broken_rows(store):
    runner.run(tiny_study(), store)
    good = study_row(STUDY, "done")
    store.writer.add("studies", [good | {"study_id": key, "name": key, "toml": text} for key, text in BROKEN.items()])
    store.writer.add("studies", [good | {"study_id": "ran", "name": "ran", "toml": "?", "state": "running"}]).result(10)
    return store


def test_studies_shows_rows_that_cannot_be_read_as_such_and_all_others(with_broken_rows):
    app = opened_page("studies/page.py")
    said = [block.value.replace("\\", "") for block in app.warning]
    assert sum("cannot be read here" in one for one in said) == len(BROKEN) + 1
    assert tiny_study().name in words(app)
    app.button(key="delete-torn").click().run()
    assert not app.exception and "torn" not in set(studies.studies(with_broken_rows)["study_id"])


@pytest.mark.cell("page")
@pytest.mark.parametrize("link", [{}, {"study": "torn"}, {"study": "newer", "sets": "study:newer", "from_study": "newer"}])
@pytest.mark.parametrize("page", PAGES)
def test_a_row_that_cannot_be_read_hurts_no_other_page(with_broken_rows, page, link):
    assert len(words(opened_page(f"{page}/page.py", **link))) > 100


def test_a_study_that_runs_is_not_deleted_by_its_page(store):
    store.writer.add("studies", [study_row(STUDY, "running")]).result(10)  # by another session, after this page was drawn
    app = opened_page("studies/page.py")
    store.writer.add("studies", [study_row(STUDY, "running")]).result(10)
    app.button(key=f"delete-{STUDY.study_id}").click().run()
    assert not app.exception
    assert "Cancel it first" in " ".join(block.value for block in app.error)
    assert STUDY.study_id in set(studies.studies(store)["study_id"])


def test_a_file_with_hostile_studies_is_merged_with_sentences_and_runs_nothing(store, tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr("flipcore.runs.background.Registry.start", lambda self, study: started.append(study))
    app = opened_page("studies/page.py")
    other = Store(duckdb.connect(str(tmp_path / "other.duckdb")), tmp_path / "other.duckdb")
    migrations._create(other.cursor())
    for name, (text, _) in HOSTILE.items():
        other.writer.add("studies", [study_row(STUDY, "running") | {"study_id": name, "name": name, "toml": text}]).result(10)
    other.close()
    content = (tmp_path / "other.duckdb").read_bytes()
    app.file_uploader(key="merge-files").set_value([("other.duckdb", content, "application/octet-stream")]).run()
    app.button(key="merge-now").click().run()
    assert not app.exception and not app.error
    said = words(app)
    assert f"{len(READABLE)} studies were skipped: their id is not the hash of their declaration" in said
    frame = studies.studies(store)
    n_unreadable = len(HOSTILE) - len(READABLE)
    assert len(frame) == 1 + n_unreadable and (frame["problem"] != "").sum() == n_unreadable
    assert started == [] and "running" not in set(frame["state"])


def test_a_study_at_every_bound_can_be_duplicated(store):
    use = ModelUse("simulated-clean", temperature=5.0, n_samples=1_000, max_tokens=1_000_000, seed=2**31 - 1)
    most = replace(
        STUDY, models=(use,), confirmatory_share=0.95, budget_usd=1_000_000.0, axes=(Part("option_order", {"n": 1_000}),)
    )
    store.writer.add("studies", [study_row(most, "done")]).result(10)
    app = opened_page("new_study/page.py", from_study=most.study_id)
    text = next(block.value for block in app.code if "simulated-clean" in block.value)
    assert replace(Study.from_toml(text), name=most.name) == most
