"""Style of the packages that are finished: names that say something, loops that are read once."""

import ast
import fnmatch
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
# A package is finished where it extends the settings of finished packages, and stays so.
FINISHED = sorted(path.parent for name in ("flipcore", "pages") for path in (ROOT / name).rglob("ruff.toml"))
EMPTY_NAMES = frozenset(
    "one own every other others there here at of beside apart several mine whose whole again alone "
    "known given found made told what why who whom each rest both thing things stuff".split()
)
RELATIVE = re.compile(r"\s*(What|Whether|How|Which|Where|Who|Whose|Why|That|Of)\b")
# Fields whose names stand in stored files, or in tables and exports.
STORED = {
    ("flipcore/models/probe_record.py", "at"),
    ("flipcore/stats/flips/decomposition.py", "both"),
    ("flipcore/stats/flips/disagreement.py", "both"),
}
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def faults(text: str, place: str = "") -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        name = ""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.arg):
            name = node.arg
        if name in EMPTY_NAMES and (place, name) not in STORED:
            yield f"line {node.lineno}: {name!r} says nothing; take the noun of the thing"
        if isinstance(node, COMPREHENSIONS) and len(node.generators) > 1:
            yield f"line {node.lineno}: a comprehension with several loops; write a loop"
        if isinstance(node, DOCUMENTED) and RELATIVE.match(ast.get_docstring(node) or ""):
            owner = getattr(node, "name", "the module")
            yield f"{owner}: the docstring begins with a relative clause; begin with a verb or noun"


@pytest.mark.release
@pytest.mark.parametrize("package", FINISHED, ids=lambda path: path.name)
def test_finished_packages_keep_to_the_style(package):
    package_faults = {}
    settings = tomllib.loads((package / "ruff.toml").read_text(encoding="utf-8"))
    # Files whose text is part of a stored revision, or that are still to be finished.
    kept = settings.get("extend-exclude", [])
    for path in sorted(package.rglob("*.py")):
        if any(fnmatch.fnmatch(path.name, pattern) for pattern in kept):
            continue
        place = path.relative_to(ROOT).as_posix()
        if path_faults := list(faults(path.read_text(encoding="utf-8"), place)):
            package_faults[place] = path_faults
    assert package_faults == {}


@pytest.mark.parametrize(
    ("text", "n_faults"),
    [
        ("for one in rows: pass", 1),
        ("def f(own): return own", 1),
        ("x = [b for a in c for b in a]", 1),
        ('def f():\n    """Whether it is so."""', 1),
        ('"""The rows."""\nrows = [row for row in table if row]', 0),
    ],
)
def test_a_fault_of_style_is_seen(text, n_faults):
    assert len(list(faults(text))) == n_faults
