"""The walk-through notebook runs as it stands, and prints what it holds."""

import ast
import json

import pytest

from tests import walkthrough

pytestmark = pytest.mark.usefixtures("allowed_folders")
CELLS = json.loads(walkthrough.NOTEBOOK.read_text(encoding="utf-8"))["cells"]


def test_the_walkthrough_uses_the_public_functions_alone():
    """`import flipcore` is what a reader of docs/notebook.md knows."""
    imported = set()
    for cell in walkthrough.code_cells({"cells": CELLS}):
        for node in ast.walk(ast.parse("".join(cell["source"]))):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(node.module)
    assert imported == {"flipcore", "json", "numpy", "pandas"}
    assert 18 <= len(CELLS) <= 24


@pytest.mark.slow
def test_the_walkthrough_prints_what_it_holds():
    """Where it does not: `python -m tests.walkthrough` writes it again."""
    printed = walkthrough.printed_by_cells({"cells": CELLS})
    stored = [walkthrough.stored_output(cell) for cell in walkthrough.code_cells({"cells": CELLS})]
    assert printed == stored
    assert sum(map(bool, printed)) >= 6
