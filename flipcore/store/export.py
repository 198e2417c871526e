"""Export a study as Parquet or CSV for other tools.

CSV cells that a spreadsheet would run as a formula begin with an apostrophe.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from flipcore.access.acting import Permission, require
from flipcore.core.errors import BadInput
from flipcore.core.whole_files import whole_file
from flipcore.store.connection import Store
from flipcore.store.queries import exchange, studies
from flipcore.store.queries.raters import raters
from flipcore.store.queries.readout_rows import as_texts
from flipcore.store.schema import tables
from flipcore.text.tables import FORMULA


def export(store: Store, study_id: str, folder: str | Path, format: str = "parquet") -> list[Path]:
    """Write <study>-readouts, <study>-items and other nonempty tables; return the paths. Raises
    BadInput for an unknown study or format, and AccessDenied for people who may not publish."""
    require(Permission.PUBLISH)
    if format not in ("parquet", "csv"):
        raise BadInput(f"There is no export format {format!r}; choose parquet or csv.")
    if studies.study(store, study_id) is None:
        raise BadInput(f"There is no study {study_id!r} in {store.path}.")
    folder = Path(folder)
    store.record_act("exported a study", study_id)
    paths = []
    for name, frame in _frames(store, study_id):
        path = folder / f"{study_id}-{name}.{format}"
        with whole_file(path) as draft:
            if format == "parquet":
                frame.to_parquet(draft, index=False)
            else:
                safe(frame).to_csv(draft, index=False)
        paths.append(path)
    return paths


def _frames(store: Store, study_id: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield (name, frame) of the tables to export.

    - readouts with all columns, losses and rewrites included; `in_flips` marks those for flips
    - items, the declaration, and each other table with a column `study_id`
    - the completions that were read, with their prompts
    - who gave each rating, where several people rated one output
    """
    readouts = studies.readouts(store, study_id, everything=True)
    all_columns = studies.rows_of(store, study_id, "readouts")
    key = [name for name in tables()["readouts"].key if name in readouts]
    flip_readouts = as_texts(studies.readouts(store, study_id))
    readouts["in_flips"] = pd.MultiIndex.from_frame(readouts[key]).isin(
        pd.MultiIndex.from_frame(flip_readouts[key])
    )
    missing_columns = [name for name in all_columns if name not in readouts]
    yield (
        "readouts",
        readouts.merge(
            all_columns[key + missing_columns], on=key, how="left", validate="one_to_one"
        ),
    )
    yield "items", studies.study_items(store, study_id)
    yield "study", studies.rows_of(store, study_id, "studies")
    for table in tables().values():
        if "study_id" in table.names and table.name not in ("readouts", "study_items", "studies"):
            frame = studies.rows_of(store, study_id, table.name)
            if len(frame):
                yield table.name, frame
    completions = exchange.completions(store, study_id)
    if len(completions):
        yield "completions", completions
    declared_study = studies.study(store, study_id)
    if declared_study and declared_study.has_raters:
        yield "raters", raters(store, study_id, declared_study.rater_columns)


def neutral(cell: Any) -> Any:
    """Return a text with an apostrophe if a spreadsheet would run it; anything else as it is."""
    return "'" + cell if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def as_meant(cell: str) -> str:
    """Return the text that `neutral` was given."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA) else cell


def safe(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a copy with `neutral` applied to all text cells."""
    texts = ("object", "str", "category")
    return frame.apply(
        lambda column: column.astype(object).map(neutral) if str(column.dtype) in texts else column
    )
