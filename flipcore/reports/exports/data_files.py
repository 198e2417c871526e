"""The files that a report holds, to check a number with: the items' own values, the readouts, and
what each column means."""

import json
import tomllib
from pathlib import Path

import pandas as pd

from flipcore.core.command_line import command
from flipcore.reports.choices import leaders_report
from flipcore.reports.exports.data_tables import File, Table
from flipcore.reports.exports.rendering import packed
from flipcore.reports.read_by_people import cell_place
from flipcore.reports.whole_study import WholeStudy
from flipcore.stats.flips.decomposition import COLUMNS
from flipcore.store.export import safe
from flipcore.text.tables import csv_text

READOUTS_FILE, ITEMS_FILE, VALUES_FILE = "readouts.csv.gz", "items.csv.gz", "item-values.csv"
MOST_ROWS = 20_000  # of readouts within the file; a larger study is exported beside it
# Of each table: column -> meaning.
_COLUMNS = tomllib.loads(Path(__file__).with_name("columns.toml").read_text(encoding="utf-8"))
READOUTS, ITEMS, COMPLETIONS = _COLUMNS["readouts"], _COLUMNS["items"], _COLUMNS["completions"]
VALUES = _COLUMNS["values"] | dict.fromkeys(
    COLUMNS, "the unit's own value; the mean over units is the estimate of that name"
)


def sentences(results: WholeStudy) -> list[str]:
    """Every claim of the study with its numbers, a sentence each, as `stats` prints them; what is
    withheld says why."""
    choices = leaders_report(results)
    claims = [*results.claims, *(choices.claims if choices else ())]
    texts = [f"{claim.text} {claim.detail}".strip() for claim in claims if claim.text]
    return list(dict.fromkeys(texts))


def data_files(results: WholeStudy) -> tuple[list[File], str]:
    """Return the files that a report holds, and what is said where the readouts are too many."""
    # A NaN would be no JSON, and is a mistake here: what is missing is None.
    stats = json.dumps(
        results.as_dict(), indent=2, ensure_ascii=False, allow_nan=False, default=str
    )
    about_stats = "everything that the command “stats --json” prints"
    values, about_values = csv_text(_item_values(results)), "each item's own value in each cell"
    files = [
        File("stats.json", "stats.json", stats, "application/json;charset=utf-8", about_stats),
        File(VALUES_FILE, VALUES_FILE, values, "text/csv;charset=utf-8", about_values),
    ]
    readouts, items = results.everything[list(READOUTS)], _items(results)
    if len(readouts) > MOST_ROWS:
        export = command(f"export {results.study_id}")
        return files, f"{len(readouts):,} readouts are too many for this file: {export}."
    files.append(_gzip(READOUTS_FILE, readouts, f"{len(readouts):,} readouts"))
    files.append(_gzip(ITEMS_FILE, items, f"{len(items):,} items"))
    return files, ""


def _gzip(name: str, frame: pd.DataFrame, about: str) -> File:
    content = packed(safe(frame).to_csv(index=False))
    return File(name, name, content, "application/gzip", about)


def _items(results: WholeStudy) -> pd.DataFrame:
    options = [
        json.dumps(list(options), ensure_ascii=False) for options in results.items["options"]
    ]
    return results.items.assign(options=options)[list(ITEMS)]


def _item_values(results: WholeStudy) -> list[dict[str, object]]:
    """One row per item and cell, in the order in which the items, or the families that they share,
    were resampled."""
    rows = []
    for model in results.models:
        ids = list(dict.fromkeys(results.flips_of(model)["item_id"]))
        for cell in results.flips[model].cells:
            for unit, values in zip(ids, cell.item_values.tolist(), strict=True):
                place = {"model": model, "cell": cell_place(cell), "unit": unit}
                rows.append(place | dict(zip(COLUMNS, values, strict=True)))
    return rows


def dictionary() -> Table:
    """Return the meaning of each column of the files."""
    columns = {READOUTS_FILE: READOUTS, ITEMS_FILE: ITEMS, VALUES_FILE: VALUES}
    rows = []
    for file, meanings in columns.items():
        for name, meaning in meanings.items():
            rows.append({"file": file, "column": name, "meaning": meaning})
    title = "Data dictionary"
    return Table("dictionary", title, rows, "What each column of the files means.")
