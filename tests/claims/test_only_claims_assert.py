"""With every claim replaced by a sentinel, nothing on a page or in `stats` asserts anything any more.

A page that still asserts by itself stands in `NOT_YET` with what it says; delete the line with the mend. New study, Paraphrase
review and Holdout are not walked yet: add them to `PAGES`. Questions assert nothing. The words are those of verdicts;
explanations under "How to read this", captions of controls and data are not looked at.
"""

import re

import pytest
from streamlit.testing.v1 import AppTest

from flipcore.__main__ import main
from flipcore.claims.claim import Claim
from flipcore.runs import demo, runner
from flipcore.store.connection import Store
from tests.browser.serving import ROOT
from tests.runs.test_runner import tiny_study

SENTINEL = "SENTINEL"
ASSERTING = re.compile(
    r"more artifact than|more genuine than|artifact is|is artifact|of which .* genuine|is genuine|\bmemory\b|memori[sz]ed|memori[sz]ation"
    r"|equivalent|indistinguishable|told apart|at least \d|passes the gate|the judge passes|flagged|significant|different:|inflat"
    r"|loses more|found four times in five|the change matters|predicts flips|no sign of|sees? (from|memory)|contaminat",
    re.IGNORECASE,
)
PAGES = {
    "studies": "studies/page.py",
    "flip_surface": "flip_surface/page.py",
    "decomposition": "decomposition/page.py",
    "memorization": "memorization/page.py",
}
NOT_YET: dict[str, str] = {"memorization": "an empty Memorization page says in its own words what memory would need"}
pytestmark = pytest.mark.filterwarnings("ignore")  # Streamlit's own: threads without a script context


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    monkeypatch.setattr("flipcore.runs.background.Registry.watch_inbox", lambda self: None)
    monkeypatch.setattr(demo, "fill_store", lambda store: None)
    opened = Store.open(tmp_path / "flips.duckdb")
    study = tiny_study()
    runner.run(study, opened)
    opened.close()
    return study.study_id


@pytest.fixture
def silent(monkeypatch):
    """Every claim that asserts something says SENTINEL; descriptions say what they say."""
    monkeypatch.setattr(Claim, "text", property(lambda self: SENTINEL if self.assertion else self.sentence))


def verdicts_shown(app: AppTest) -> list[str]:
    """Headings, paragraphs and messages; the explanations in expanders and what qualifies in small type are left out."""
    explained = {
        id(block) for expander in app.expander for kind in ("markdown", "caption") for block in getattr(expander, kind)
    }
    blocks = [block for kind in ("markdown", "subheader", "success", "info", "warning") for block in getattr(app, kind)]
    return [str(block.value) for block in blocks if id(block) not in explained and not _in_expander(app, block)]


def _in_expander(app: AppTest, block) -> bool:
    return any(str(block.value) == str(inner.value) for expander in app.expander for inner in expander.markdown)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_asserts_nothing_but_claims(page, store, silent, request):
    if page in NOT_YET:
        request.applymarker(pytest.mark.xfail(reason=NOT_YET[page], strict=True))
    app = AppTest.from_file(str(ROOT / "pages" / "main.py"), default_timeout=180).run()
    app = app if page == "studies" else app.switch_page(PAGES[page]).run()
    assert not app.exception
    assert [text for text in verdicts_shown(app) if ASSERTING.search(text) and not text.rstrip("*").endswith("?")] == []


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_stats_asserts_nothing_but_claims(form, store, silent, capsys):
    assert main(["stats", store, *form]) == 0
    said = capsys.readouterr().out
    assert SENTINEL in said
    sentences = [line for line in said.splitlines() if not re.match(r'\s*"(detail|note|rule|method)"', line)]
    assert [line for line in sentences if ASSERTING.search(re.sub(r'^\s*"\w+":', "", line))] == []


def test_the_words_that_assert_are_those_of_the_verdicts():
    for said in ("more artifact than genuine, p = .01", "0.10 flip, of which 0.09 is genuine", "2 of 4 detectors see memory"):
        assert ASSERTING.search(said)
    assert not ASSERTING.search("0.20 of pairs flip under it alone")
