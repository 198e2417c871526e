"""A table of a report: shown, with its caption, and to be saved as CSV, Markdown or LaTeX from the
file itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pandas as pd

from flipcore.reports.exports.markup import Markup, cells, data_link, joined, tag
from flipcore.stats.base.estimate import MISSING
from flipcore.text.tables import FORMATS, Row, table_text

Rows = pd.DataFrame | Sequence[Mapping[str, object]]
KINDS = {
    "csv": "text/csv;charset=utf-8",
    "md": "text/markdown;charset=utf-8",
    "tex": "text/x-tex;charset=utf-8",
}


@dataclass(frozen=True)
class Table:
    """`rows` have the same columns; `name` is the file's, `title` what people call it, `caption`
    what the rows are and where from."""

    name: str
    title: str
    rows: Sequence[Row]
    caption: str


def data_table(table: Table) -> Markup:
    """The table with its links."""
    name, rows, caption = table.name, table.rows, table.caption
    texts = [[_text(value) for value in row.values()] for row in rows]
    links = (
        data_link(title, f"{name}.{format}", table_text(rows, format, caption), KINDS[format])
        for format, title in FORMATS.items()
    )
    foot = tag("figcaption", caption, " ", tag("span", joined(links, " · "), cls="links"))
    return tag("figure", cells(texts, list(rows[0]) if rows else []), foot, cls="table")


def _text(value: object) -> str:
    is_missing = value is None or value != value  # NaN
    return MISSING if is_missing else f"{value}"


def shown_records(rows: Rows, without: Sequence[str] = ()) -> list[dict[str, object]]:
    """The rows of a table as it is shown, frame or records: every column but those `without`, a
    missing value as None."""
    records: list[dict[Any, Any]] = [
        *map(dict, rows.to_dict("records") if isinstance(rows, pd.DataFrame) else rows)
    ]
    # A record may lack columns that another has.
    columns = [key for key in dict.fromkeys(chain.from_iterable(records)) if key not in without]
    return [{str(key): _cell(row.get(key)) for key in columns} for row in records]


def shown_text(rows: Rows, without: Sequence[str], format: str) -> str:
    """The table as it is shown, in a format of `FORMATS`."""
    return table_text(shown_records(rows, without), format)


def _cell(value: Any) -> object:
    return None if pd.api.types.is_scalar(value) and pd.isna(value) else value
