"""Run `docs/walkthrough.ipynb`, cell by cell in one namespace.

``python -m tests.walkthrough`` writes what its cells print into the notebook.
"""

import contextlib
import io
import json
from pathlib import Path

NOTEBOOK = Path(__file__).resolve().parent.parent / "docs" / "walkthrough.ipynb"


def code_cells(notebook: dict) -> list[dict]:
    """Return the cells that hold code."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def printed_by_cells(notebook: dict) -> list[str]:
    """Run the code in the notebook's folder and return what each cell prints."""
    namespace: dict = {}
    printed = []
    with contextlib.chdir(NOTEBOOK.parent):
        for number, cell in enumerate(code_cells(notebook), 1):
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile("".join(cell["source"]), f"cell {number}", "exec"), namespace)
            printed.append(output.getvalue())
    return printed


def stored_output(cell: dict) -> str:
    """Return what the notebook holds as printed by a cell."""
    return "".join("".join(output["text"]) for output in cell["outputs"])


def write() -> None:
    """Store what the cells print now."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    for cell, text in zip(code_cells(notebook), printed_by_cells(notebook), strict=True):
        stream = {"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)}
        cell["outputs"] = [stream] if text else []
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    NOTEBOOK.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
