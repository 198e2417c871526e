"""What came after a lock: readouts of the items that it opened are kept apart, so that what it shows stays as it was.

Whatever brings readouts asks here in its transaction: a run that is resumed, failed calls asked again, another reading, a judge, a
merge. As long as fewer readouts of these items are here than the lock was stored over (after a study was deleted, or in a file that
got the lock first), they are let in; whether they are the same ones is asked where they are read (`queries.locks.sight`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# (study, item) of locks whose readouts are all here
_FULL = """
WITH opened AS (
    SELECT l.study_id, l.lock_id, json_extract(l.settings, '$.state.readouts[0]')::BIGINT AS n,
           unnest((l.settings->>'$.state.items[*][0]')::VARCHAR[]) AS item_id
    FROM main.locks l WHERE ($studies IS NULL OR l.study_id IN (SELECT unnest($studies)))
      AND json_extract(l.settings, '$.state.readouts') IS NOT NULL)
SELECT study_id, item_id FROM opened JOIN (
    SELECT lock_id FROM opened o LEFT JOIN main.readouts r USING (study_id, item_id) GROUP BY lock_id, n HAVING count(r.model) >= n
) USING (lock_id)
"""


def fixed(connection: DuckDBPyConnection, studies: Sequence[str] | None = None) -> set[tuple[str, str]]:
    """(study, item) of which a lock has fixed the readouts; of these studies, or of all."""
    if not connection.execute("SELECT 1 FROM main.locks LIMIT 1").fetchall():
        return set()
    return set(connection.execute(_FULL, {"studies": list(studies) if studies else None}).fetchall())


def apart(connection: DuckDBPyConnection, by_table: dict[str, list[dict]]) -> dict[str, list[dict]]:
    """The rows of a transaction by table, with readouts of what a lock has fixed among `late_readouts` and without what they were
    read from."""
    rows = by_table.get("readouts", ())
    places = fixed(connection, sorted({row["study_id"] for row in rows})) if rows else set()
    if not places:
        return by_table
    is_late = lambda row: (row["study_id"], row["item_id"]) in places  # noqa: E731
    later = [row for row in rows if is_late(row)]
    rest = {table: [row for row in by_table.get(table, ()) if not is_late(row)] for table in ("readouts", "readout_sources")}
    return {table: rows for table, rows in {**by_table, **rest, "late_readouts": later}.items() if rows}
