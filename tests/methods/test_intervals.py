"""Whatever method an estimate names, the report has words for it."""

import ast

import pytest

from flipcore.methods.intervals import BY_METHOD, method_of
from flipcore.stats.base.intervals import KINDS
from tests.browser.serving import ROOT


def named_methods():
    """The first text among the arguments of an `Estimate`, in all of the core: its method."""
    for path in sorted((ROOT / "flipcore").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Estimate", "_interval"):
                words = [k.value for k in node.keywords if k.arg == "method"] + node.args
                texts = [one.value for one in words if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                yield from texts[:1]


@pytest.mark.parametrize("name", sorted({*named_methods(), *KINDS} - {"default"}))
def test_a_method_has_words_of_its_own(name):
    assert name in BY_METHOD and len(method_of(name).text.split()) >= 6


def test_the_methods_are_looked_for_where_they_are():
    assert {"mover", "welch", "delta", "wilson", "clopper_pearson", "newcombe"} <= set(named_methods())
