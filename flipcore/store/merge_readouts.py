"""Readouts of a merged file: each comes in only with the completions that it was read from, and goes with them."""

from collections import Counter
from collections.abc import Mapping

from flipcore.store import late_readouts, merge_checks
from flipcore.store.schema import Table, tables

_KEY = ", ".join(tables()["readouts"].key)
_LOCKED = "a lock has fixed those of their items; they stand apart"
_OTHER = "its completion here is another one; Resume reads the one that is kept"
_TEMPORARY = (
    "replaced_calls",
    "unequal_calls",
    "stale_readouts",
    "unfit_readouts",
    "fresh_readouts",
    "theirs_first",
    "fixed_places",
)

# Calls whose completion here is not the one that the other file read.
_UNEQUAL = """
CREATE OR REPLACE TEMP TABLE unequal_calls AS
SELECT DISTINCT s.call_id FROM theirs_readout_sources s
LEFT JOIN theirs_completions t ON t.call_id = s.call_id LEFT JOIN main.completions m ON m.call_id = s.call_id
WHERE m.call_id IS NULL OR t.call_id IS NULL OR m.status <> t.status OR m.text <> t.text
   OR m.tokens::VARCHAR IS DISTINCT FROM t.tokens::VARCHAR OR m.top_logprobs::VARCHAR IS DISTINCT FROM t.top_logprobs::VARCHAR
"""


def add(
    connection,
    table_by_name: Mapping[str, Table],
    there: set[str],
    added: Counter[str],
    duplicates: Counter[str],
    skipped: Counter[tuple[str, str]],
) -> None:
    """Readouts and their sources. Readouts here of calls that have just got their answer are replaced, or dropped: they said
    that nothing came. A study that lost or lacks readouts so is no longer done: resuming it reads them, without a call."""
    for table in ("readouts", "readout_sources", "completions"):
        if table not in there:
            connection.execute(f"CREATE OR REPLACE TEMP TABLE theirs_{table} AS SELECT * FROM main.{table} LIMIT 0")
    merge_checks.drop_dangling(connection, skipped)
    _put_late_ones_apart(connection, skipped)
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS replaced_calls (call_id TEXT)")
    connection.execute(_UNEQUAL)
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE stale_readouts AS SELECT DISTINCT {_KEY} FROM main.readout_sources "
        "WHERE call_id IN (SELECT call_id FROM replaced_calls)"
    )
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE unfit_readouts AS SELECT DISTINCT {_KEY} FROM theirs_readout_sources "
        "WHERE call_id IN (SELECT call_id FROM unequal_calls)"
    )
    connection.execute("DELETE FROM stale_readouts WHERE (study_id, item_id) IN (SELECT (study_id, item_id) FROM fixed_places)")
    for table in ("readout_sources", "readouts"):
        connection.execute(f"DELETE FROM main.{table} r USING stale_readouts s WHERE {_same('r', 's')}")
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE fresh_readouts AS SELECT {_KEY} FROM theirs_readouts "
        f"EXCEPT SELECT {_KEY} FROM unfit_readouts EXCEPT SELECT {_KEY} FROM main.readouts"
    )
    n_theirs, n_fresh = _count(connection, "theirs_readouts"), _count(connection, "fresh_readouts")
    n_unfit = connection.execute(
        f"SELECT count(*) FROM theirs_readouts t JOIN unfit_readouts u USING ({_KEY}) "
        f"WHERE NOT EXISTS (SELECT 1 FROM main.readouts m WHERE {_same('m', 't')})"
    ).fetchall()[0][0]
    for table in ("readouts", "readout_sources"):
        names = ", ".join(row[0] for row in connection.execute(f"DESCRIBE theirs_{table}").fetchall())
        connection.execute(
            f"INSERT INTO main.{table} ({names}) SELECT {names} FROM theirs_{table} t SEMI JOIN fresh_readouts f "
            f"USING ({_KEY}) ON CONFLICT DO NOTHING"
        )
    connection.execute(
        f"DELETE FROM main.item_runs WHERE (study_id, model, item_id) IN "
        f"(SELECT (study_id, model, item_id) FROM (SELECT {_KEY} FROM stale_readouts UNION ALL SELECT {_KEY} FROM unfit_readouts))"
    )  # what they say was read is not here
    added["readouts"] += n_fresh
    duplicates["readouts"] += n_theirs - n_fresh - n_unfit
    skipped["readouts", _OTHER] += n_unfit
    _reopen(connection)


def _put_late_ones_apart(connection, skipped: Counter[tuple[str, str]]) -> None:
    """Readouts of items whose state a lock has fixed come in beside it; `fixed_places` are those items."""
    connection.execute("CREATE OR REPLACE TEMP TABLE fixed_places (study_id TEXT, item_id TEXT)")
    if not (places := sorted(late_readouts.fixed(connection))):
        return
    connection.executemany("INSERT INTO fixed_places VALUES (?, ?)", places)
    late = "(study_id, item_id) IN (SELECT (study_id, item_id) FROM fixed_places)"
    names = ", ".join(row[0] for row in connection.execute("DESCRIBE theirs_readouts").fetchall())
    connection.execute(
        f"INSERT INTO main.late_readouts ({names}) SELECT {names} FROM theirs_readouts t WHERE {late} "
        f"AND NOT EXISTS (SELECT 1 FROM main.readouts m WHERE {_same('m', 't')} AND m.status = t.status "
        "AND m.answer IS NOT DISTINCT FROM t.answer AND m.value IS NOT DISTINCT FROM t.value) ON CONFLICT DO NOTHING"
    )
    same = f"SELECT 1 FROM main.readouts m WHERE {_same('m', 'theirs_readouts')}"
    n_late = connection.execute(f"SELECT count(*) FROM theirs_readouts WHERE {late} AND NOT EXISTS ({same})").fetchall()[0][0]
    skipped["readouts", _LOCKED] += n_late
    for table in ("readouts", "readout_sources"):
        connection.execute(f"DELETE FROM theirs_{table} WHERE {late}")


def _reopen(connection) -> None:
    """Studies that lack readouts of stored completions say so."""
    connection.execute(
        f"""UPDATE main.studies SET state = 'incomplete', message = 'Some answers were merged and not read yet. Resume reads '
        || 'them without a call.' WHERE state = 'done' AND study_id IN (
            SELECT study_id FROM (SELECT {_KEY} FROM stale_readouts UNION SELECT {_KEY} FROM unfit_readouts) w
            WHERE NOT EXISTS (SELECT 1 FROM main.readouts m WHERE {_same("m", "w")}))"""
    )


def forget(connection) -> None:
    """Drops what a merge left in memory."""
    for table in (*_TEMPORARY, "theirs_readouts", "theirs_readout_sources", "theirs_completions"):
        connection.execute(f"DROP TABLE IF EXISTS temp.{table}")


def _same(left: str, right: str) -> str:
    return " AND ".join(f"{left}.{name} = {right}.{name}" for name in _KEY.split(", "))


def _count(connection, table: str) -> int:
    return connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0]
