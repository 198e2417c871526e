"""The papers: every one that a method or a word cites is there, and comes out whole as text and as BibTeX. Whatever method an estimate
names, the report has words for it."""

import ast
import re

import pytest

from flipcore.methods.words import (
    FLIPS,
    HOLDOUT,
    HOLM,
    INTERVALS,
    MEMORY,
    PAPERS,
    RANKING,
    TERMS,
    Method,
    bibtex,
    cited,
    detector_method,
    interval_method,
)
from flipcore.stats.base.intervals import KINDS
from tests.conftest import ROOT

METHODS = (*FLIPS, *HOLDOUT, *MEMORY, *INTERVALS, *RANKING, HOLM)


def test_every_method_cites_papers_that_are_there_and_says_so_before_its_last_stop():
    for method in METHODS:
        assert isinstance(method, Method) and method.says.endswith("."), method.name
        assert set(method.papers) <= PAPERS.keys(), method.name
        assert method.text.endswith(f"{cited(method.papers)}.")


def test_every_paper_is_cited_by_a_method_or_a_word_and_can_be_looked_up():
    used = {key for one in (*METHODS, *TERMS) for key in one.papers}
    waiting = {"waudbysmith2024estimating"}  # of the chart of rates as results arrived, which no report has yet
    assert used == PAPERS.keys() - waiting
    for paper in PAPERS.values():
        assert paper.arxiv or paper.doi or paper.venue, paper.key
        assert re.fullmatch(r"[a-z]+\d{4}[a-z]+", paper.key) and str(paper.year) in paper.key
        assert not paper.arxiv or re.fullmatch(r"\d{4}\.\d{4,5}", paper.arxiv)
        assert not paper.doi or paper.doi.startswith("10.")


def test_a_paper_as_a_line_a_short_reference_and_an_entry():
    paper = PAPERS["wang2024my"]
    assert paper.short == "Wang et al. 2024" and paper.address == "arXiv:2402.14499"
    assert "First-Token Probabilities" in paper.line and paper.line.endswith("arXiv:2402.14499.")
    assert PAPERS["bonett2012adjusted"].short == "Bonett and Price 2012"
    entry = paper.bibtex
    assert entry.startswith("@article{wang2024my,\n") and "and others" in entry and entry.count("{") == entry.count("}")


def test_bibtex_holds_each_paper_once_in_the_order_of_the_keys():
    text = bibtex(["wilson1927probable", "holm1979simple", "wilson1927probable"])
    assert re.findall(r"@\w+\{(\w+),", text) == ["holm1979simple", "wilson1927probable"]
    assert "–" not in text.replace("--", "")


def test_an_interval_that_a_package_brings_is_named_as_it_is():
    assert interval_method("my_own").text == "The limits are those of the method my own."


def test_detectors_have_their_methods_by_name():
    names = {
        "drop_numeric_resample": "drop gap",
        "pearl_completion_ncd": "PEARL",
        "min_k_plus": "Min-k %++",
        "min_k": "Min-k %",
    }
    assert all(detector_method(of).name == name for of, name in names.items()) and HOLDOUT[0].name == "inflation"
    assert detector_method("from_a_package") is None


def named_methods():
    """The first text among the arguments of an `Estimate`, in all of the core: its method."""
    for path in sorted((ROOT / "flipcore").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "Estimate" not in text and "_interval" not in text:  # parsing every file takes two seconds
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Estimate", "_interval"):
                words = [k.value for k in node.keywords if k.arg == "method"] + node.args
                texts = [one.value for one in words if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                yield from texts[:1]


@pytest.mark.slow
def test_every_method_has_words_of_its_own():
    names = {*named_methods(), *KINDS} - {"default"}
    assert {"mover", "welch", "delta", "wilson", "clopper_pearson", "newcombe"} <= names
    wordless = []
    for name in sorted(names):
        is_listed = any(name in method.used_by for method in INTERVALS)
        if not is_listed or len(interval_method(name).text.split()) < 6:
            wordless.append(name)
    assert wordless == []
