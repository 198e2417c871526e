"""The files inside a report with which a reader can check its numbers."""

import json
import tomllib
from pathlib import Path

import pandas as pd

from flipcore.core.command_line import command
from flipcore.reports.choices import leaders_report
from flipcore.reports.exports.data_tables import File, Table
from flipcore.reports.exports.rendering import packed
from flipcore.reports.read_by_people import cell_name
from flipcore.reports.whole_study import WholeStudy
from flipcore.stats.flips.decomposition import COLUMNS
from flipcore.store.export import safe
from flipcore.text.tables import csv_text

READOUTS_FILE, ITEMS_FILE, VALUES_FILE = "readouts.csv.gz", "items.csv.gz", "item-values.csv"
MAX_ROWS = 20_000  # most readouts in a report; a larger study has to be exported separately
# Table -> column -> meaning.
_COLUMNS = tomllib.loads(Path(__file__).with_name("columns.toml").read_text(encoding="utf-8"))
READOUTS, ITEMS, COMPLETIONS = _COLUMNS["readouts"], _COLUMNS["items"], _COLUMNS["completions"]
VALUES = _COLUMNS["values"] | dict.fromkeys(
    COLUMNS, "the unit's own value; the mean over units is the estimate of that name"
)


def sentences(results: WholeStudy) -> list[str]:
    """Return every claim of a study as the command `stats` prints it; a withheld one says why."""
    choices = leaders_report(results)
    claims = [*results.claims, *(choices.claims if choices else ())]
    texts = [f"{claim.text} {claim.detail}".strip() for claim in claims if claim.text]
    return list(dict.fromkeys(texts))


def data_files(results: WholeStudy) -> tuple[list[File], str]:
    """Return the files of a report and a sentence. The sentence says that the readouts are too many
    to be in the report; "" if they are in it."""
    # `allow_nan=False`, because missing numbers are None here and NaN is not JSON.
    stats = json.dumps(
        results.as_dict(), indent=2, ensure_ascii=False, allow_nan=False, default=str
    )
    about_stats = "everything that the command “stats --json” prints"
    values, about_values = csv_text(_item_values(results)), "each item's own value in each cell"
    files = [
        File("stats.json", "stats.json", stats, "application/json;charset=utf-8", about_stats),
        File(VALUES_FILE, VALUES_FILE, values, "text/csv;charset=utf-8", about_values),
    ]
    readouts, items = results.all_readouts[list(READOUTS)], _items(results)
    if len(readouts) > MAX_ROWS:
        export = command(f"export {results.study_id}")
        return files, f"{len(readouts):,} readouts are too many for this file: {export}."
    files.append(_gzip(READOUTS_FILE, readouts, f"{len(readouts):,} readouts"))
    files.append(_gzip(ITEMS_FILE, items, f"{len(items):,} items"))
    return files, ""


def _gzip(name: str, frame: pd.DataFrame, about: str) -> File:
    content = packed(safe(frame).to_csv(index=False))
    return File(name, name, content, "application/gzip", about)


def _items(results: WholeStudy) -> pd.DataFrame:
    options_texts = []
    for options in results.items["options"]:
        options_texts.append(json.dumps(list(options), ensure_ascii=False))
    return results.items.assign(options=options_texts)[list(ITEMS)]


def _item_values(results: WholeStudy) -> list[dict[str, object]]:
    """Return one row per item and cell of flips, in the order in which the bootstrap takes the
    items."""
    rows = []
    for model in results.models:
        ids = list(dict.fromkeys(results.flip_readouts_of(model)["item_id"]))
        for cell in results.flips[model].cells:
            for unit, values in zip(ids, cell.item_values.tolist(), strict=True):
                row = {"model": model, "cell": cell_name(cell), "unit": unit}
                rows.append(row | dict(zip(COLUMNS, values, strict=True)))
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
