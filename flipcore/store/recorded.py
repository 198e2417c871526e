"""What only imports ask of the store: how far one came, and bases repeated under every axis."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future

from flipcore.access.levels import Permission
from flipcore.store.connection import Store
from flipcore.store.schema import tables

BATCH, BATCH_CHARS = 6_000, 20_000_000  # rows, and characters of prompts and texts, after which a batch is stored
MEMORY_MB = 1_000  # of the database meanwhile, however large the file is


def import_mark(store: Store, study_id: str) -> int:
    """How many rows of an import are stored for certain; 0 for one that never began, or whose study was deleted since."""
    sql = "SELECT value FROM store_info WHERE key = $key AND EXISTS (SELECT 1 FROM studies WHERE study_id = $study_id)"
    rows = store.rows(sql, key=f"import {study_id}", study_id=study_id)
    return int(rows[0][0]) if rows else 0


def store_marked(store: Store, study_id: str, tables: Mapping[str, list[dict]], n_seen: int, waiting: Future | None) -> Future:
    """Hands a batch of an import to the writer, safe with its mark of `n_seen` rows or not at all, once the batch before it,
    `waiting`, is stored, so that few wait in memory."""
    if waiting:
        waiting.result()
    mark = {"key": f"import {study_id}", "value": str(n_seen)}
    return store.writer.add_together([*tables.items(), ("store_info", [mark])])


def import_state(store: Store, study_id: str) -> tuple[str, str]:
    """(state, message) of an import that was begun."""
    return store.rows("SELECT state, message FROM studies WHERE study_id = $study_id", study_id=study_id)[0]


_OTHERS = """
SELECT DISTINCT c.model FROM study_calls s JOIN completions c USING (call_id)
WHERE s.study_id = $study_id AND c.model IN (SELECT unnest($models)) AND c.revision <> $revision ORDER BY c.model
"""


def other_revisions(store: Store, study_id: str, models: list[str], revision: str) -> list[str]:
    """Those of the models whose answers in this study came from elsewhere than from this revision."""
    return [model for (model,) in store.rows(_OTHERS, study_id=study_id, models=models, revision=revision)]


_AXES = "SELECT DISTINCT axis FROM study_variants WHERE study_id = $study_id AND axis <> $own"
_BASES = """
SELECT DISTINCT b.item_id, b.variant_id FROM study_variants b
JOIN study_variants v ON v.study_id = b.study_id AND v.item_id = b.item_id AND v.axis = $axis AND v.key <> 'base'
WHERE b.study_id = $study_id AND b.axis = $own AND b.key = 'base'
"""
_COPIES = ("study_variants", "readouts", "readout_sources")


def repeat_bases(store: Store, study_id: str, own: str) -> None:
    """Under every other axis of an import, the log's own prompt is the base of the items that were changed there."""
    store.writer.flush()
    axes = [axis for (axis,) in store.rows(_AXES, study_id=study_id, own=own)]

    def repeat(connection) -> None:
        for axis in axes:
            params = {"study_id": study_id, "axis": axis, "own": own}
            for table in _COPIES:
                names = tables()[table].names
                values = ", ".join("$axis" if name == "axis" else f"t.{name}" for name in names)
                connection.execute(
                    f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM {table} t JOIN ({_BASES}) b "
                    "USING (item_id, variant_id) WHERE t.study_id = $study_id AND t.axis = $own ON CONFLICT DO NOTHING",
                    params,
                )

    store.writer.transact(repeat, Permission.BRING, changes={study_id}).result()
    store.touch([study_id])
