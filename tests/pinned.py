"""Results that stay as they are: `python -m tests.pinned` says what changed, `--write` keeps it.

A file of cases is JSON, one case per line: the function to call, what it is called with, and what
it gave when the case was written. Each argument is spelled out, so that a case can be read and
checked by hand. A test of a rule says why a result is right; these cases only say that it is what it
was, at the edges of every rule. Before `--write`, read what changed.
"""

import argparse
import dataclasses
import enum
import importlib
import json
import math
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parent
DIGITS = 12
PER_TEST = 5  # cases; each test takes a moment
KEPT: dict[str, bytes] = {}  # databases that several cases read, by how they were filled


def find(name: str) -> Any:
    """Return what "module:name" or "module:Class.name" stands for."""
    module, _, path = name.partition(":")
    value: Any = importlib.import_module(module)
    for part in path.split("."):
        value = getattr(value, part)
    return value


def build(spec: Any) -> Any:
    """Return the value of an argument: {"$": "module:name", …} is that function's result.

    {"$name": "module:name"} is the thing of that name, and a list is a tuple.
    """
    if isinstance(spec, list):
        return tuple(build(part) for part in spec)
    if not isinstance(spec, dict):
        return spec
    if "$name" in spec:
        return find(spec["$name"])
    built = {key: build(value) for key, value in spec.items() if key not in ("$", "*")}
    return find(spec["$"])(*build(spec.get("*", [])), **built) if "$" in spec else built


def plain(value: Any) -> Any:
    """Return a result as JSON has it, every field of it; a field with its default is left out."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") + 0.0
    if value is None or isinstance(value, str | int):
        return value
    if dataclasses.is_dataclass(value):
        return _fields(value)
    if isinstance(value, pd.DataFrame):
        return {str(name): plain(value[name]) for name in value.columns}
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(part) for key, part in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=str)
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return [plain(part) for part in value]
    return str(value)


def _fields(value: Any) -> Any:
    if type(value).__name__ == "Assertion":
        return value.name
    fields = {}
    for field in dataclasses.fields(value):
        content = getattr(value, field.name)
        is_default = content is field.default or (isinstance(content, str | int | float) and content == field.default)
        if field.name != "_" and not is_default:
            fields[field.name] = plain(content)
    return fields


def read_all(value: Any) -> dict[str, Any]:
    """Return every public property of an object."""
    names = [name for name in dir(type(value)) if isinstance(getattr(type(value), name), property)]
    return {name: getattr(value, name) for name in names if not name.startswith("_")}


def result_of(case: Mapping[str, Any]) -> Any:
    """Call the function of a case, and return its result or its error as JSON has them."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return plain(build({"$": case["call"], **case["with"]}))
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}


def differences(before: Any, after: Any, place: str = "result") -> Iterator[str]:
    """Yield "field: old → new" for each part that differs."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            pair = before.get(key, "(default)"), after.get(key, "(default)")
            yield from differences(*pair, f"{place}.{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, pair in enumerate(zip(before, after, strict=True)):
            yield from differences(*pair, f"{place}[{number}]")
    elif not _is_same(before, after):
        yield f"{place}: {before!r} → {after!r}"


def _is_same(before: Any, after: Any) -> bool:
    if isinstance(before, float) and isinstance(after, float):
        # Another version of numpy may round the last digits otherwise.
        is_close = math.isclose(before, after, rel_tol=1e-9, abs_tol=1e-12)
        return is_close or (math.isnan(before) and math.isnan(after))
    return type(before) is type(after) and before == after


def read_cases(path: Path) -> list[dict[str, Any]]:
    """Return the cases of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@dataclasses.dataclass(frozen=True)
class CasePart:
    """Some lines of a file of cases, as many as a quick test takes."""

    path: Path
    first: int

    def __str__(self) -> str:
        return f"{self.path.stem}-{self.first}"


def parts_of(folder: Path) -> list[CasePart]:
    """Return the parts of all files of a folder."""
    parts = []
    for path in sorted(folder.glob("*.jsonl")):
        n_lines = len(path.read_text(encoding="utf-8").splitlines())
        parts += [CasePart(path, first) for first in range(1, n_lines + 1, PER_TEST)]
    return parts


def changes_in(part: CasePart) -> list[str]:
    """Return what differs in the lines of a part."""
    return changes_of(part.path, part.first, part.first + PER_TEST)


def changes_of(path: Path, first: int = 1, end: int = sys.maxsize) -> list[str]:
    """Return what differs from the results that the file holds, with the number of its line."""
    changes = []
    for number, case in enumerate(read_cases(path), start=1):
        if not first <= number < end:
            continue
        # as the file would hold it
        after = json.loads(json.dumps(result_of(case)))
        for line in differences(case["gives"], after):
            changes.append(f"{path.name}:{number} {case['call']} {line}")
    return changes


def write(path: Path, cases: Iterable[Mapping[str, Any]]) -> None:
    """Write the cases to their file with the results that they have now."""
    lines = []
    for case in cases:
        stored = {"call": case["call"], "with": case["with"], "gives": result_of(case)}
        lines.append(json.dumps(stored, ensure_ascii=False) + "\n")
    path.write_text("".join(lines), encoding="utf-8")


def files() -> list[Path]:
    """Return all files of cases."""
    return sorted(ROOT.glob("*/pinned/*.jsonl"))


def main(arguments: list[str] | None = None) -> int:
    """Say what changed, and write it if that is wanted."""
    parser = argparse.ArgumentParser(prog="python -m tests.pinned", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--write", action="store_true", help="keep the results as they are now")
    options = parser.parse_args(arguments)
    n_changes = 0
    for path in files():
        changes = changes_of(path)
        print("".join(f"{line}\n" for line in changes), end="")
        n_changes += len(changes)
        if options.write:
            write(path, read_cases(path))
    print(f"{n_changes} differences")
    return 1 if n_changes and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
