"""Late readouts: readouts of items that a lock has fixed go to a table of their own.

So the results under a lock stay as they were. Every transaction that adds readouts comes
through here: a resumed run, failed calls that are asked again, a re-reading, a judge, a merge.

If fewer readouts of the items are stored than when the lock was made, readouts are added as usual.
This happens after a study was deleted, or in a file that got the lock first. Whether they are the
same readouts is checked on reading (`queries.locks.sight`). Under a lock made before any answer,
the first readout of each of its extractors counts, and later ones are late.
"""

from collections.abc import Sequence

from duckdb import DuckDBPyConnection

from flipcore.store.schema import tables

_KEY = tables()["readouts"].key
# (study, item, extractors whose first readouts count, as the lock was made before any answer), for
# locks whose readouts are all stored.
_FIXED_ITEMS = """
WITH opened AS (
    SELECT l.study_id, l.lock_id, json_extract(l.settings, '$.state.readouts[0]')::BIGINT AS n,
           coalesce((l.settings->>'$.state.extractors[*]')::VARCHAR[], []) AS extractors,
           unnest((l.settings->>'$.state.items[*][0]')::VARCHAR[]) AS item_id
    FROM main.locks l WHERE ($studies IS NULL OR l.study_id IN (SELECT unnest($studies)))
      AND json_extract(l.settings, '$.state.readouts') IS NOT NULL)
SELECT study_id, item_id, CASE WHEN n = 0 THEN extractors ELSE [] END FROM opened JOIN (
    SELECT lock_id FROM opened o LEFT JOIN main.readouts r USING (study_id, item_id)
        GROUP BY lock_id, n HAVING count(r.model) >= n
) USING (lock_id)
"""


def fixed_items(
    connection: DuckDBPyConnection, studies: Sequence[str] | None = None
) -> dict[tuple[str, str], list[str]]:
    """Return (study, item) -> extractors whose missing readouts may still be added, for items whose
    readouts a lock has fixed. The list is empty for a lock over existing readouts. `studies` limits
    the result, None takes all."""
    if not connection.execute("SELECT 1 FROM main.locks LIMIT 1").fetchall():
        return {}
    rows = connection.execute(
        _FIXED_ITEMS, {"studies": list(studies) if studies else None}
    ).fetchall()
    return {(study, item): extractors for study, item, extractors in sorted(rows)}


def separate_late(
    connection: DuckDBPyConnection, by_table: dict[str, list[dict]]
) -> dict[str, list[dict]]:
    """Return the rows of a transaction by table, with late readouts moved to `late_readouts`. The
    sources of late readouts are dropped."""
    rows = by_table.get("readouts", ())
    if not rows:
        return by_table
    fixed = fixed_items(connection, sorted({row["study_id"] for row in rows}))
    if not fixed:
        return by_table
    stored_keys = _stored_keys(
        connection, [item for item, extractors in fixed.items() if extractors]
    )

    def is_late(row: dict) -> bool:
        extractors = fixed.get((row["study_id"], row["item_id"]))
        return extractors is not None and (
            row["extractor"] not in extractors or tuple(map(row.get, _KEY)) in stored_keys
        )

    late_rows = [row for row in rows if is_late(row)]
    kept_rows = {
        table: [row for row in by_table.get(table, ()) if not is_late(row)]
        for table in ("readouts", "readout_sources")
    }
    return {
        table: rows
        for table, rows in {**by_table, **kept_rows, "late_readouts": late_rows}.items()
        if rows
    }


def _stored_keys(connection: DuckDBPyConnection, items: Sequence[tuple[str, str]]) -> set[tuple]:
    """Return the keys of the stored readouts of these (study, item)."""
    if not items:
        return set()
    sql = f"""SELECT {", ".join(_KEY)} FROM main.readouts
              WHERE (study_id, item_id) IN (SELECT (i.study, i.item)
                  FROM (SELECT unnest($items) AS i))"""
    params = {"items": [{"study": study, "item": item} for study, item in items]}
    return set(connection.execute(sql, params).fetchall())
