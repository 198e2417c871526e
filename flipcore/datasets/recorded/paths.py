"""Columns inside of columns: `doc.options`, `resps[0][0]`, `messages[-1].content`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from flipcore.datasets.reading.rows import Row

_STEP = re.compile(r"\[(-?\d+)\]|\.?([^.\[\]]+)")


def value_at(values: Any, path: str) -> Any:
    """What stands at a path; None where nothing does. A column that is called like the path itself wins."""
    if isinstance(values, Mapping) and path in values:
        return values[path]
    at = values
    for index, name in _STEP.findall(path):
        if index and isinstance(at, (list, tuple)) and -len(at) <= int(index) < len(at):
            at = at[int(index)]
        elif name and isinstance(at, Mapping) and name in at:
            at = at[name]
        else:
            return None
    return at


def with_paths(row: Row, names: Iterable[str]) -> Row:
    """The row with a column for every path among the names of columns."""
    if row.problem:
        return row
    paths = {name for name in names if name and ("." in name or "[" in name) and name not in row.values}
    inner = {path: value for path in paths if (value := value_at(row.values, path)) is not None}
    return replace(row, values={**row.values, **inner}) if inner else row
