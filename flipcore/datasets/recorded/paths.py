"""Columns inside of columns: `doc.options`, `resps[0][0]`, `messages[-1].content`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flipcore.datasets.reading.rows import Row
    from flipcore.datasets.recorded.outputs import Recording

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


def with_paths(row: Row, recording: Recording) -> Row:
    """The row with a column for every path that the recording names."""
    if row.problem:
        return row
    named = [
        getattr(recording, field.name) for field in fields(recording) if field.name not in ("fields", "text_after", "dataset")
    ]
    named += [name for field in recording.fields for name in (field.column, field.top_token, field.top_score)]
    paths = {name for name in named if name and ("." in name or "[" in name) and name not in row.values}
    inner = {path: value for path in paths if (value := value_at(row.values, path)) is not None}
    return replace(row, values={**row.values, **inner}) if inner else row
