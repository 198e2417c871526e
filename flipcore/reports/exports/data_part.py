"""The report's data, to check a number with: every estimate, the items' own values, the readouts,
and what each column means."""

import json
import tomllib
from pathlib import Path

import pandas as pd

from flipcore.core.command_line import command
from flipcore.methods.words import TERMS
from flipcore.reports.exports import parts
from flipcore.reports.exports.data_tables import Table, data_table
from flipcore.reports.exports.markup import (
    Markup,
    data_link,
    folded,
    joined,
    packed,
    paragraph,
    section,
    tag,
)
from flipcore.reports.study import cell_place
from flipcore.reports.whole_study import WholeStudy
from flipcore.stats.flips.decomposition import COLUMNS
from flipcore.store.export import safe
from flipcore.text.tables import csv_text

MOST_ROWS = 20_000  # of readouts within the file; a larger study is exported beside it
# Of each table: column -> meaning.
_COLUMNS = tomllib.loads(Path(__file__).with_name("columns.toml").read_text(encoding="utf-8"))
READOUTS, ITEMS, COMPLETIONS = _COLUMNS["readouts"], _COLUMNS["items"], _COLUMNS["completions"]
VALUES = _COLUMNS["values"] | dict.fromkeys(
    COLUMNS, "the unit's own value; the mean over units is the estimate of that name"
)


def data_part(c: WholeStudy) -> Markup:
    """Every number with its method, and the tables that it can be computed again from."""
    numbers = numbers_table(c)
    files = [tag("li", file) for file in _files(c)]
    check = (
        "To check a number: the mean of a column of the items' values is the estimate of that name"
        " in the row of its cell. The readouts hold every answer that a cell was computed from."
    )
    return section(
        "Data",
        "data",
        paragraph(check),
        tag("ul", *files, cls="files"),
        folded(f"All {len(numbers.rows):,} estimates", data_table(numbers)),
        _dictionary(),
    )


def numbers_table(c: WholeStudy) -> Table:
    """One row per estimate."""
    caption = f"Every estimate with its interval, method, n and seed. {c.provenance}."
    return Table("numbers", "All estimates", [row.in_list() for row in c.rows], caption)


def tables(c: WholeStudy) -> list[Table]:
    """Every table of results that has rows, in the order of the report."""
    flips, people, memory = [], [], []
    for m, model in enumerate(c.models):
        if c.report.decompositions[model]:
            flips.append(parts.flips_table(c, m, model))
        people += parts.people_tables(c, m, model)
        if c.report.memory.get(model):
            memory.append(parts.memory_table(c, m, model))
    all_tables = [
        *parts.score_tables(c),
        *parts.ranking_tables(c),
        *flips,
        *people,
        *memory,
        parts.tests_table(c),
        parts.inflation_table(c),
        numbers_table(c),
        parts.decisions_table(c),
    ]
    return [table for table in all_tables if table.rows]


def sentences(c: WholeStudy) -> list[str]:
    """Every claim of the study with its numbers, a sentence each, as `stats` prints them; what is
    withheld says why."""
    texts = [f"{claim.text} {claim.detail}".strip() for claim in c.claims if claim.text]
    return list(dict.fromkeys(texts))


def _files(c: WholeStudy) -> list[Markup]:
    # A NaN would be no JSON, and is a mistake here: what is missing is None.
    stats = json.dumps(c.as_dict(), indent=2, ensure_ascii=False, allow_nan=False, default=str)
    about_stats = "everything that the command “stats --json” prints"
    values, about_values = csv_text(_item_values(c)), "each item's own value in each cell"
    files = [
        _file("stats.json", stats, "application/json", about_stats),
        _file("item-values.csv", values, "text/csv", about_values),
    ]
    readouts, items = c.everything[list(READOUTS)], _items(c)
    if len(readouts) > MOST_ROWS:
        export = command(f"export {c.study_id}")
        note = f"{len(readouts):,} readouts are too many for this file: {export}."
        return [*files, tag("span", note)]
    return [
        *files,
        _gzip("readouts.csv.gz", readouts, f"{len(readouts):,} readouts"),
        _gzip("items.csv.gz", items, f"{len(items):,} items"),
    ]


def _file(name: str, content: str, kind: str, about: str) -> Markup:
    return joined([data_link(name, name, content, f"{kind};charset=utf-8"), f": {about}"])


def _gzip(name: str, frame: pd.DataFrame, about: str) -> Markup:
    content = packed(safe(frame).to_csv(index=False))
    return joined([data_link(name, name, content, "application/gzip"), f": {about}"])


def _items(c: WholeStudy) -> pd.DataFrame:
    options = [json.dumps(list(options), ensure_ascii=False) for options in c.items["options"]]
    return c.items.assign(options=options)[list(ITEMS)]


def _item_values(c: WholeStudy) -> list[dict[str, object]]:
    """One row per item and cell, in the order in which the items, or the families that they share,
    were resampled."""
    rows = []
    for model in c.models:
        ids = list(dict.fromkeys(c.flips_of(model)["item_id"]))
        for cell in c.report.decompositions[model]:
            for unit, values in zip(ids, cell.item_values.tolist(), strict=True):
                place = {"model": model, "cell": cell_place(cell), "unit": unit}
                rows.append(place | dict(zip(COLUMNS, values, strict=True)))
    return rows


def _dictionary() -> Markup:
    columns = {"readouts.csv.gz": READOUTS, "items.csv.gz": ITEMS, "item-values.csv": VALUES}
    rows, terms = [], []
    for file, meanings in columns.items():
        for name, meaning in meanings.items():
            rows.append({"file": file, "column": name, "meaning": meaning})
    title = "Data dictionary"
    dictionary = Table("dictionary", title, rows, "What each column of the files means.")
    for term in TERMS:
        terms += [tag("dt", term.name), tag("dd", f"{term.meaning} {term.paper}".strip())]
    return joined([folded(title, data_table(dictionary)), folded("Glossary", tag("dl", *terms))])
