"""A link to a study that is not here says so, on every page that reads a study from its link."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from flipcore.core.study import Part
from pages.navigation import PAGES
from tests.browser.serving import ROOT
from tests.pages.opening import opened, quiet
from tests.runs.test_runner import tiny_study
from tests.stores import store_with

NOT_HERE = re.compile(r"The (study|benchmark and holdout) of this link (is|are) not here; this is .")
STUDY = tiny_study(axes=(Part("identity"), Part("paraphrase", {"unreviewed": True})))
WAYS = {one.folder: one.link_to("nonsense") for one in PAGES if one.link}
WAYS["holdout"]["part"] = "Guide"  # the part that computes nothing
READS_A_STUDY = re.compile(
    r'page_header\((?!.*choose=False)|query_params\.get\("(from_)?study|choose_sets\(|choose_linked_study\('
)
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("allowed_folders"),
]  # Streamlit's own: threads without a script context


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return store_with(tmp_path_factory.mktemp("links"), STUDY, shipped=True)


@pytest.fixture
def show(path, monkeypatch):
    quiet(monkeypatch, path)
    return lambda page, link: shown(f"{page}/page.py", link)


def shown(page: str, link: dict[str, str]) -> AppTest:
    app = opened(page, **link)
    assert not app.exception
    return app


def said(app: AppTest) -> list[str]:
    return [str(one.value) for kind in ("warning", "error") for one in getattr(app, kind) if NOT_HERE.match(str(one.value))]


@pytest.mark.slow
@pytest.mark.parametrize("page", [pytest.param(one, marks=[pytest.mark.slow] if one != "flips" else []) for one in WAYS])
def test_a_link_to_a_study_that_is_not_here_says_so(show, page):
    app = show(page, WAYS[page])
    sentences = said(app)
    assert len(sentences) == 1
    assert len(said(app.run())) == 1  # also when the page is drawn again


@pytest.mark.slow
@pytest.mark.parametrize("page", ["studies", "paraphrase_review", "holdout"])
def test_a_page_of_all_studies_says_it_too_of_a_link_to_one(show, page):
    app = show(page, {"study": "nonsense"} | ({"part": "Guide"} if page == "holdout" else {}))
    assert len(said(app)) == 1 and len(said(app.run())) == 1
    if page != "holdout":  # whose sets have keys of their own
        assert said(show(page, {"study": STUDY.study_id})) == []


@pytest.mark.slow
@pytest.mark.parametrize("page", ["flips", "holdout"])
def test_a_link_to_a_study_that_is_here_says_nothing(show, page):
    name = {"flips": {"study": STUDY.study_id}, "holdout": {"sets": "pocket", "part": "Guide"}}[page]
    assert said(show(page, name)) == []


def test_every_page_that_reads_a_study_from_its_link_is_walked():
    readers = {
        path.parent.name
        for path in (ROOT / "pages").glob("*/*.py")
        if path.parent.name != "common" and READS_A_STUDY.search(path.read_text(encoding="utf-8"))
    }
    assert readers == set(WAYS)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["Outputs", "Keys"])
def test_review_opens_at_the_study_of_the_link(part, tmp_path, monkeypatch):
    """It opened at the newest, and somebody reviewed the keys of another study than the link named."""
    both = [tiny_study(), tiny_study(name="another")]
    quiet(monkeypatch, store_with(tmp_path, *both))
    for study in both:
        app = shown("paraphrase_review/page.py", {"part": part, "study": study.study_id})
        assert app.selectbox(key=f"{part.lower()}-study").value == study.study_id


def test_a_part_of_another_page_is_no_part_of_this_one(monkeypatch):
    """From Holdout, the link of Review named the part Map."""
    app = AppTest.from_string(
        "import streamlit as st\n"
        "from pages.common import screen\n"
        "screen.segments('Part', ['Review', 'Keys'], 'part', place=st)\n"
    )
    app.session_state["part"] = "Map"
    app.run()
    assert app.session_state["part"] == "Review" and "part" not in app.query_params
