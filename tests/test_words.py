"""One word for one thing: strings that a reader sees use the standard terms, and explanations stay short."""

import ast
import re
from pathlib import Path

import pytest

from tests.browser.serving import ROOT

# what a reader stumbled over, and the plainer way
PLAINER = {
    r"model in the box": "pocket model",
    r"rewordings?": "paraphrase",
    r"faithful (readout|extractor)": "reference extractor",
    r"field (readout|extractor)": "compared extractor",
    r"enters? no claim": "is excluded from all conclusions",
    r"asked again \d": "noise floor",
    r"nothing is shown here until": "Lock your settings to see the results.",
    r"no model that anybody ranks": "a toy model",
    r"read as a direction": "as a one-sided test",
    r"let more false positives through": "accept a higher false-positive rate",
    r"have no known dose": "have unknown exposure",
    r"falls on its side": "assignment depends only on the entry's own text",
    r"favourite of many": "majority vote",
    r"no key, no network": "needs no key or network",
    r"nothing can be used of what": "no usable answers",
    r"model from before the target": "a model trained before the benchmark was published",
    r"a bar, clicked": "click a bar",
    r"one sheet a name": "one sheet per annotator",
    r"training on four fifths": "running 5-fold cross-validation",
    r"by what does a classifier": "what does the classifier rely on",
    r"times each variant is asked": "samples per variant",
    r"below to come out lower": "lower figures below",
    r"nothing is left for you here": "All done.",
    r"left to whoever took them": "belong to the first reviewer",
    r"and what he said": "their answers",
    r"none is worth printing": "at least 10 items are needed",
    r"goes on from here": "Resume continues from here",
    r"gets from any number to": "takes you from any number to",
    r"as a ratio to a named": "relative to a baseline in the same run",
    r"that is not yet sameness": "undecided",
}
OLD = re.compile(rf"\b(?:{'|'.join(PLAINER)})\b", re.IGNORECASE)
# names of columns in other people's files, looked for as they stand there
EXCEPT = {"flipcore/annotation/paraphrases/pair_files.py": {"rewording"}}
SOURCES = sorted([*(ROOT / "pages").rglob("*.py"), *(ROOT / "flipcore").rglob("*.py")])
MOST_WORDS = 80


def texts(path: Path):
    """(line, string) of what a module may show: every string but docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    hidden = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, owners) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in hidden:
            yield node.lineno, node.value


def test_no_string_uses_a_word_that_was_given_up():
    hits = [
        f"{place}:{line} {match.group()}"
        for path in SOURCES
        for place in [path.relative_to(ROOT).as_posix()]
        for line, text in texts(path)
        for match in OLD.finditer(text)
        if text not in EXCEPT.get(place, ())
    ]
    assert hits == []


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"])
def test_no_document_uses_a_word_that_was_given_up(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    names = re.compile(r"`[^`]*`")  # commands, columns and files keep their names
    hits = [f"{name}:{i} {match.group()}" for i, line in enumerate(lines, 1) for match in OLD.finditer(names.sub("", line))]
    assert hits == []


def explanations() -> list[tuple[str, str]]:
    """(place, text) of every `how_to_read`."""
    return [
        (f"{path.relative_to(ROOT)}:{node.lineno}", node.args[0].value)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "how_to_read"
        and isinstance(node.args[0], ast.Constant)
    ]


def test_how_to_read_this_is_short_and_nowhere_written_by_hand():
    long = [(place, len(text.split())) for place, text in explanations() if len(text.split()) > MOST_WORDS]
    assert len(explanations()) >= 12 and long == []
    by_hand = [
        path.name for path in (ROOT / "pages").rglob("*.py") if 'expander("How to read' in path.read_text(encoding="utf-8")
    ]
    assert by_hand == []
