"""Pages of docs that are written by a command are those of today's code, and comments name documents that exist."""

import re
import sys

import pytest

from tests import doc_pages
from tests.conftest import ROOT
from tests.package_map import package_map, with_map

pytestmark = pytest.mark.release
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_is_one_screen():
    assert len([line for line in README.splitlines() if line.strip()]) <= 50


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="argparse writes its help in another form there")
def test_pages_made_from_code_are_those_of_todays_code():
    """Where they are not: `python -m tests.doc_pages` writes them again."""
    pages = doc_pages.pages()
    assert [
        line for line in pages["reference.md"].splitlines() if line.startswith("- `") and line.rstrip().endswith("`:")
    ] == []
    assert [name for name, text in pages.items() if (ROOT / "docs" / name).read_text(encoding="utf-8") != text] == []


def test_the_map_of_contributing_is_that_of_the_imports():
    """Where it is not: `python -m tests.package_map` writes it again."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert package_map().count("\n") > 20 and text == with_map(text)


def test_no_comment_or_docstring_points_to_a_document_that_is_not_here():
    """Methods and their papers stand in `flipcore.methods`; what a sentence means must not need a file that others lack."""
    known = {path.name for path in ROOT.rglob("*.md") if ".venv" not in path.parts} | {"t.md", "check.md"}  # that tests write
    texts = {
        path: path.read_text(encoding="utf-8")
        for folder in ("flipcore", "pages", "tests")
        for path in (ROOT / folder).rglob("*.py")
    }
    pointers = [
        f"{path.relative_to(ROOT)}: {name}"
        for path, text in texts.items()
        for name in re.findall(r"\b([\w-]+\.md)\b(?! of )", text)
        if name not in known
    ]
    assert pointers == []
    assert [str(path) for path, text in texts.items() if re.search(r"\(statistics, (section|F\d)", text)] == []
