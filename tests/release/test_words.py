"""One word for one thing: strings that a reader sees use the standard terms, and explanations stay short."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.browser.serving import ROOT

pytestmark = pytest.mark.release

# what a reader stumbled over, and the plainer way
PLAINER = {
    r"model in the box": "pocket model",
    r"rewordings?": "paraphrase",
    r"reworded": "paraphrased",
    r"faithful (readout|extractor)": "reference extractor",
    r"field (readout|extractor)": "compared extractor",
    r"enters? no claim": "is excluded from all conclusions",
    r"asked again \d|asking again": "noise floor",
    r"(reference|compared|each|this|one|first-token) readout(?! of| from)": "extractor: the method; a readout is what it read",
    r"the readout's|the model's or": "artifact, genuine",
    r"readings": "readouts",
    r"(seed|source) papers?": "the source, by its method's name",
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
    r"below to come out lower": "smaller effects than the plans below assume",
    r"nothing is left for you here": "All done.",
    r"left to whoever took them": "belong to the first reviewer",
    r"and what he said": "their answers",
    r"none is worth printing": "at least 10 items are needed",
    r"goes on from here": "Resume continues from here",
    r"gets from any number to": "takes you from any number to",
    r"as a ratio to a named": "relative to a baseline in the same run",
    r"that is not yet sameness": "undecided",
    r"settings chosen beforehand": "settings fixed before looking",
    r"cut-off taken to the controls": "same cut-off on the controls",
    r"is dragged on the texts": "you are tuning it on the data it is evaluated on",
    r"here are $": "you have 3 and 2",
    r"asked once:": "with one sample",
    r"asked again,": "noise floor; same prompt, sample 2",
    r"last verdict back": "All done. Press Z to undo.",
}
OLD = re.compile(rf"\b(?:{'|'.join(PLAINER)})(?!\w)", re.IGNORECASE)
# a reviewer is "they", and what a rewrite method does is said as such; names of parameters stand in backticks or ask nobody
SHOWN_ONLY = re.compile(r"\b(?:he|his|him|operators?)\b")
IN_DOCSTRINGS = re.compile(
    r"\b(?:model in the box|rewordings?|reference readout|compared readout|seed papers?)\b", re.IGNORECASE
)
# names of columns, keys and widgets, which no reader is shown, and columns in other people's files, looked for as they stand there
EXCEPT = {
    "flipcore/annotation/paraphrases/pair_files.py": {"rewording", "reworded"},
    "flipcore/axes/stored_wordings.py": {"reworded-"},
    "flipcore/stats/memory/frames.py": {"reworded"},
    "pages/memorization/loss.py": {"reworded"},  # a column of losses
    "pages/memorization/items.py": {"reworded"},
    "pages/memorization/gap.py": {"operator"},
}
SOURCES = sorted([*(ROOT / "pages").rglob("*.py"), *(ROOT / "flipcore").rglob("*.py")])
MAX_WORDS = 80


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def texts(path: Path, docstrings: bool = False) -> list[tuple[int, str]]:
    """(line, string) of what a module may show: every string but docstrings, or with `docstrings` those alone."""
    tree = tree_of(path)
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    told = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, owners) and node.body and isinstance(node.body[0], ast.Expr)
    }
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (id(node) in told) == docstrings
    ]


def hits(pattern: re.Pattern, docstrings: bool = False) -> list[str]:
    return [
        f"{place}:{line} {match.group()}"
        for path in SOURCES
        for place in [path.relative_to(ROOT).as_posix()]
        for line, text in texts(path, docstrings)
        for match in pattern.finditer(re.sub(r"`[^`]*`", "", text))
        if text not in EXCEPT.get(place, ())
    ]


def test_no_string_uses_a_word_that_was_given_up():
    assert hits(OLD) == []


def test_no_docstring_does():
    assert hits(IN_DOCSTRINGS, docstrings=True) == []


def test_a_reviewer_is_they_and_a_rewrite_method_no_operator():
    # what is looked for in the sentences of items and answers
    looked_for = ("flipcore/axes/names/", "flipcore/axes/numeric/structure.py", "flipcore/extractors/written/stated_words.py")
    assert [one for one in hits(SHOWN_ONLY) if not one.startswith(looked_for)] == []


@pytest.mark.parametrize("path", sorted((ROOT / "pages" / "components").glob("*.js")), ids=lambda path: path.name)
def test_no_script_says_one_either(path):
    assert OLD.findall(path.read_text(encoding="utf-8")) == []


DOCS = sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))
SHOWN = (  # texts that stand beside the code which reads them
    *("flipcore/methods/methods.toml", "flipcore/methods/terms.toml", "flipcore/models/servers.toml", "pages/holdout/guide.md"),
    *("flipcore/text/prompt_presets.toml", "flipcore/reports/exports/columns.toml", "flipcore/reports/exports/card.txt"),
    "flipcore/annotation/paraphrases/card.txt",
)


@pytest.mark.parametrize(
    "name", ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "data/README.md", "data/pocket/CARD.md", *DOCS, *SHOWN]
)
def test_no_document_uses_a_word_that_was_given_up(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    names = re.compile(r"`[^`]*`")  # commands, columns and files keep their names
    assert [
        f"{name}:{i} {match.group()}" for i, line in enumerate(lines, 1) for match in OLD.finditer(names.sub("", line))
    ] == []


def explanations() -> list[tuple[str, str, int]]:
    """(place, text, words of its example at most) of every `how_to_read`."""
    return [
        (f"{path.relative_to(ROOT)}:{node.lineno}", node.args[0].value, 18 * any(one.arg == "example" for one in node.keywords))
        for path in SOURCES
        for text in [path.read_text(encoding="utf-8")]
        if "how_to_read(" in text
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "how_to_read"
        and isinstance(node.args[0], ast.Constant)
    ]


def test_how_to_read_this_is_short_and_nowhere_written_by_hand():
    # with the line of the page's own numbers under it, of at most 18 words (tests/reports/test_worked_examples.py)
    long = [(place, len(text.split())) for place, text, n in explanations() if len(text.split()) + n > MAX_WORDS]
    assert len(explanations()) >= 12 and long == []
    by_hand = [
        path.name for path in (ROOT / "pages").rglob("*.py") if 'expander("How to read' in path.read_text(encoding="utf-8")
    ]
    assert by_hand == ["showing.py"]  # the one function of all pages
