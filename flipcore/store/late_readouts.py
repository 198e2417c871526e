"""Late readouts, which came after a lock: readouts of the items that it opened are kept apart, so
that what it shows stays as it was.

Whatever brings readouts asks here in its transaction: a run that is resumed, failed calls asked
again, another reading, a judge, a merge. As long as fewer readouts of these items are here than the
lock was stored over (after a study was deleted, or in a file that got the lock first), they are let
in; whether they are the same ones is asked where they are read (`queries.locks.sight`). Under a
lock that was stored before any answer, what its extractors read first counts; what comes a second
time is kept apart.
"""

from collections.abc import Sequence

from duckdb import DuckDBPyConnection

from flipcore.store.schema import tables

_KEY = tables()["readouts"].key
# (study, item, extractors whose first readouts count because the lock was stored before any) of
# locks whose readouts are all here
_FULL = """
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


def fixed(
    connection: DuckDBPyConnection, studies: Sequence[str] | None = None
) -> dict[tuple[str, str], list[str]]:
    """(study, item) of which a lock has fixed the readouts -> the extractors of which it lets in
    what is not here yet, none where it was stored over readouts; of these studies, or of all."""
    if not connection.execute("SELECT 1 FROM main.locks LIMIT 1").fetchall():
        return {}
    rows = connection.execute(_FULL, {"studies": list(studies) if studies else None}).fetchall()
    return {(study, item): extractors for study, item, extractors in sorted(rows)}


def separate_late(
    connection: DuckDBPyConnection, by_table: dict[str, list[dict]]
) -> dict[str, list[dict]]:
    """The rows of a transaction by table, with readouts of what a lock has fixed among
    `late_readouts` and without what they were read from."""
    rows = by_table.get("readouts", ())
    places = fixed(connection, sorted({row["study_id"] for row in rows})) if rows else {}
    if not places:
        return by_table
    stored_keys = _here(connection, [place for place, extractors in places.items() if extractors])

    def is_late(row: dict) -> bool:
        extractors = places.get((row["study_id"], row["item_id"]))
        return extractors is not None and (
            row["extractor"] not in extractors or tuple(map(row.get, _KEY)) in stored_keys
        )

    later = [row for row in rows if is_late(row)]
    kept_rows = {
        table: [row for row in by_table.get(table, ()) if not is_late(row)]
        for table in ("readouts", "readout_sources")
    }
    return {
        table: rows
        for table, rows in {**by_table, **kept_rows, "late_readouts": later}.items()
        if rows
    }


def _here(connection: DuckDBPyConnection, places: Sequence[tuple[str, str]]) -> set[tuple]:
    """The keys of the readouts that are stored of these (study, item)."""
    if not places:
        return set()
    sql = f"""SELECT {", ".join(_KEY)} FROM main.readouts
              WHERE (study_id, item_id) IN (SELECT (p.study, p.item)
                  FROM (SELECT unnest($places) AS p))"""
    return set(
        connection.execute(
            sql, {"places": [{"study": study, "item": item} for study, item in places]}
        ).fetchall()
    )
