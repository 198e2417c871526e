"""A link opens the view that it was taken from, at its thresholds, for somebody who has never been here."""

import re

import pytest

from pages.navigation import find_page
from tests.claims.walks import sent
from tests.pages.opening import PAGE_MARKS, clear_caches, few_permutations, opened, quiet
from tests.reports.exports.test_document import STUDY as MEMORY
from tests.reports.exports.test_document import TWO
from tests.stores import store_with

pytestmark = PAGE_MARKS
BOARD = {"level": 0.8, "policy": "drop", "rule": "nonoverlap"}
# page -> (the link that it is opened by, under which id it keeps what a hand moves, what was moved)
LEFT_AT = {
    "decomposition": ({"study": TWO.study_id, "show": "Parts", "mode": "simultaneous"}, TWO.study_id, BOARD),
    "score": ({"study": TWO.study_id}, TWO.study_id, {"level": 0.7, "axes": "option_order"}),
    "ranking": ({"study": TWO.study_id}, TWO.study_id, {"level": 0.7}),
    "memorization": ({"study": MEMORY.study_id, "tab": "gap"}, MEMORY.study_id, {"margin": 0.11}),
    "holdout": ({"sets": f"study:{TWO.study_id}", "part": "Guide"}, TWO.study_id, {"prediction": 0.83, "difficulty": 0.2}),
}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return store_with(tmp_path_factory.mktemp("views"), MEMORY, TWO)


@pytest.fixture(autouse=True)
def here(path, monkeypatch):
    quiet(monkeypatch, path)
    few_permutations(monkeypatch)
    yield
    clear_caches()


def file_of(page):
    """The page that keeps its settings under this name."""
    place, _ = find_page(page)
    return place.path


def link_of(app):
    assert not app.exception
    return {name: values[0] if isinstance(values, list) else values for name, values in app.query_params.items()}


def view(app):
    """What the page sends, but for the ids that Streamlit draws for each file to be saved."""
    assert not app.exception
    return re.sub(r'file_id: "\w+"', "", sent(app))


@pytest.mark.parametrize("page", LEFT_AT)
def test_the_link_of_a_view_opens_it_as_it_was_for_somebody_else(page):
    link, record_id, moved = LEFT_AT[page]
    kept, file = f"view-{page}-{record_id}", file_of(page)
    bound = {
        name: value for name, value in link.items() if name in ("tab", "mode", "part", "show")
    }  # the browser binds these, AppTest not
    untouched = opened(file, bound, **link)
    mine = opened(file, bound | {kept: moved}, **link)
    assert "at" not in link_of(untouched) and view(mine) != view(untouched)
    theirs = opened(file, bound, **link_of(mine))
    assert view(theirs) == view(mine)
    assert theirs.session_state[kept] == moved


def test_settings_of_a_link_are_not_those_of_a_study_that_is_chosen_afterwards():
    app = opened("flips/page.py", show="Parts", study=TWO.study_id, at="level:0.8")
    assert app.session_state[f"view-decomposition-{TWO.study_id}"] == {"level": 0.8}
    app.selectbox(key=f"study-{TWO.study_id}").set_value(MEMORY.study_id).run()
    assert not app.exception and "at" not in link_of(app)
    assert f"view-decomposition-{MEMORY.study_id}" not in app.session_state


def test_a_link_that_somebody_wrote_by_hand_does_no_harm():
    app = opened("flips/page.py", show="Parts", study=TWO.study_id, at="level:7,policy:<b>x</b>,reference:../etc,rule:,kind:1")
    assert not app.exception and "<b>x</b>" not in sent(app)


@pytest.mark.parametrize(
    "page, settings",
    [
        ("decomposition", "level:99,policy:nonsense,rule:tolerance"),
        ("decomposition", "level:-3"),
        ("ranking", "level:1e300"),
        ("score", "level:0"),
        ("memorization", "margin:-1e9,alpha:99,fpr:7,rule:paired"),
        ("holdout", "permutations:-1,seed:1e18,classifier:nonsense,embedding:nonsense"),
    ],
)
def test_settings_that_nothing_can_have_are_left_out_of_a_view(page, settings):
    """Of a link, and of what a browser sends."""
    link, record_id, _ = LEFT_AT[page]
    bound = {name: value for name, value in link.items() if name in ("tab", "mode", "part", "show")}
    app = opened(file_of(page), bound, **link, at=settings)
    assert not app.exception
    forged = dict(part.split(":") for part in settings.split(","))
    moved = {key: float(value) if key in ("level", "margin", "alpha", "fpr") else value for key, value in forged.items()}
    if page != "holdout":
        assert "at" not in link_of(app)
        assert "at" not in link_of(opened(file_of(page), bound | {f"view-{page}-{record_id}": moved}, **link))
