"""No behaviour goes untested without the public data beside the repository: each test on them names a smaller one on data inside."""

import ast
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.release
TESTS = ROOT / "tests"


def stand_ins(path: Path) -> dict[str, str | None]:
    """Test -> the smaller one that its mark names ("" without a mark) where it needs the public data, by a fixture, its own or the file's,
    by a mark, or by their path; None where it needs none."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assigned = [ast.unparse(node) for node in tree.body if isinstance(node, ast.Assign)]
    skips = {one.partition(" = ")[0] for one in assigned if "SHARED_DATA" in one and "skipif" in one}
    whole = any("shared_data" in one for one in assigned)
    fixtures, found = {"shared_data"}, {}
    for node in functions:
        marks = [ast.unparse(one) for one in node.decorator_list]
        needs = bool(fixtures & {a.arg for a in node.args.args}) or bool(skips & set(marks))
        if any("fixture" in one for one in marks):
            fixtures |= {node.name} if needs else set()
        elif node.name.startswith("test_"):
            small = next((one.args[0].value for one in node.decorator_list if "stand_in" in ast.unparse(one)), "")
            found[node.name] = small if needs or whole else None
    return found


def test_every_test_on_public_data_names_a_smaller_one_that_needs_none():
    by_file = {path.relative_to(TESTS).as_posix(): stand_ins(path) for path in sorted(TESTS.rglob("test_*.py"))}
    needing = [(file, name, small) for file, tests in by_file.items() for name, small in tests.items() if small is not None]
    places = {(file, name): (small if "::" in small else f"{file}::{small}").split("::") for file, name, small in needing}
    assert len(places) > 50 and [one for one, (file, small) in places.items() if by_file[file].get(small, "") is not None] == []
