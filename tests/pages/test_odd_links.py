"""Links with parameters that no page wrote end in a page, never in a traceback."""

import re

import pytest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from pages.navigation import PAGES
from tests.conftest import ROOT
from tests.pages.opening import clear_caches, few_permutations, opened, quiet
from tests.stores import store_with

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Streamlit's own: threads without a script context
]
ONE_STORE = True
STUDY = Study(
    "linked to",
    (
        ItemSource("flipscope_choice", role="target", n=6, categories=("logic",)),
        ItemSource("flipscope_choice", role="retro", n=6, categories=("science",)),
    ),
    (Part("option_order", {"n": 2}),),
    (Part("regex"), Part("first_token")),
    (ModelUse("simulated-noisy"), ModelUse("simulated-clean")),
)
SAID = re.compile(
    r'query_params(?:\.get\(|\.pop\(|\[)\s*"([\w-]+)"|key="([\w-]+)",\s*bind="query-params"|binding\("([\w-]+)"\)'
)
HELD = {"study"}  # a link without its study is looked at elsewhere
ODD = {
    "5,000 digits": "9" * 5_000,
    "a power": "²",
    "no number": "nan",
    "a path": "../../etc/passwd",
    "zero": "\0|\0",
    "markup": "<script>alert(1)</script>|$x$|:red[",
    "below": "-1",
    "three parts": "a|b|c:d,e",
}


def parameters():
    """Return the names that any page reads from its link."""
    names = set()
    for path in (ROOT / "pages").rglob("*.py"):
        for pair in SAID.findall(path.read_text(encoding="utf-8")):
            names |= {*filter(None, pair)}
    return sorted(names - HELD)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    path = store_with(tmp_path_factory.mktemp("odd"), STUDY)
    quiet(patch, path)
    few_permutations(patch)
    clear_caches()
    yield path
    patch.undo()
    clear_caches()


def test_the_names_are_found():
    assert {"item", "axis", "finding", "seed", "way"} <= {*parameters()}


@pytest.mark.parametrize("page", [entry.folder for entry in PAGES])
def test_a_page_takes_whatever_a_link_says(path, page):
    for what, value in ODD.items():
        link = dict.fromkeys(parameters(), value) | {"study": STUDY.study_id}
        app = opened(f"{page}/page.py", **link)
        assert not app.exception, (what, app.exception[0].value)
