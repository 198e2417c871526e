"""A table of a report, which can be saved as CSV, Markdown or LaTeX."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pandas as pd

from flipcore.stats.base.estimate import MISSING
from flipcore.text.tables import FORMATS, Row, table_text

Rows = pd.DataFrame | Sequence[Mapping[str, object]]
KINDS = {
    "csv": "text/csv;charset=utf-8",
    "md": "text/markdown;charset=utf-8",
    "tex": "text/x-tex;charset=utf-8",
}
# The beginning of a cell that is aligned as a number.
_NUMBER = re.compile(r"(< |> )?[+−-]?(\.?\d|$|–$|deterministic|reference)")


@dataclass(frozen=True)
class File:
    """A file inside a report; `label` is the text of its link, `about` describes it."""

    label: str
    name: str
    content: str | bytes
    kind: str = "text/plain;charset=utf-8"
    about: str = ""


@dataclass(frozen=True)
class Table:
    """A table. `name` is the name of its files without the ending. `caption` describes the rows and
    their source. All rows have the same columns."""

    name: str
    title: str
    rows: Sequence[Row]
    caption: str

    @property
    def columns(self) -> list[str]:
        return list(self.rows[0]) if self.rows else []

    @property
    def texts(self) -> list[list[str]]:
        """The cells as text."""
        return [[_text(value) for value in row.values()] for row in self.rows]

    @property
    def numeric(self) -> list[bool]:
        """Per column, True where every cell begins with a number. Such a column is aligned to the
        right."""
        is_numeric = []
        for column in zip(*self.texts, strict=True):
            is_numeric.append(all(_NUMBER.match(cell.strip()) for cell in column))
        return is_numeric

    @property
    def files(self) -> list[File]:
        """The table in each format."""
        files = []
        for format, title in FORMATS.items():
            content = table_text(self.rows, format, self.caption)
            files.append(File(title, f"{self.name}.{format}", content, KINDS[format]))
        return files


def _text(value: object) -> str:
    is_missing = value is None or value != value  # NaN
    return MISSING if is_missing else f"{value}"


def shown_records(rows: Rows, without: Sequence[str] = ()) -> list[dict[str, object]]:
    """Return the rows of a shown table without the columns `without`. Missing values are None."""
    source = rows.to_dict("records") if isinstance(rows, pd.DataFrame) else rows
    records: list[dict[Any, Any]] = [dict(row) for row in source]
    # A record may lack columns that another record has.
    columns = [key for key in dict.fromkeys(chain.from_iterable(records)) if key not in without]
    return [{str(key): _cell(row.get(key)) for key in columns} for row in records]


def shown_text(rows: Rows, without: Sequence[str], format: str) -> str:
    """Return a shown table as text in a format of `FORMATS`."""
    return table_text(shown_records(rows, without), format)


def _cell(value: Any) -> object:
    return None if pd.api.types.is_scalar(value) and pd.isna(value) else value
