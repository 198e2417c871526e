"""Merging files that several machines wrote: ids are hashes of content, so it is a union of every table.

What a row says of itself is checked. What is here stays: a good completion is never replaced, and a readout comes in only with
the completion that it was read from. Everything is one transaction of the one writer; a file that cannot be used changes nothing.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc

from flipcore.access.acting import require
from flipcore.access.levels import Permission
from flipcore.core.errors import BadInput, NotStored
from flipcore.store import late_readouts, merge_checks
from flipcore.store.archives import check_merge
from flipcore.store.connection import Store
from flipcore.store.merge_source import read_tables
from flipcore.store.queries.review import FROM_ELSEWHERE
from flipcore.store.schema import Table, tables
from flipcore.text.counts import count_of

_MEMORY_MB = 1_000  # of the database while it merges
_READ_LAST = ("readouts", "readout_sources")  # they follow the completions
_STATES = ("planned", "done", "incomplete", "cancelled", "over_budget", "failed")


@dataclass
class Merged:
    """Rows by table: `added` are new here, `duplicates` were here already. `replaced` failed calls got their answer. `skipped`
    counts by (table, reason)."""

    added: Counter[str] = field(default_factory=Counter)
    duplicates: Counter[str] = field(default_factory=Counter)
    replaced: int = 0
    skipped: Counter[tuple[str, str]] = field(default_factory=Counter)

    def sentences(self) -> list[str]:
        """What was done, for people: one sentence a fact."""
        facts = [", ".join(f"{n:,} {table}" for table, n in self.added.items() if n) + " added."] if +self.added else []
        if self.replaced:
            facts.append(f"{self.replaced:,} failed calls got their answer.")
        if n_duplicates := sum(self.duplicates.values()):
            facts.append(f"{count_of(n_duplicates, 'row was', 'rows were')} here already and kept unchanged.")
        if self.added["verdicts"]:
            facts.append(FROM_ELSEWHERE)
        facts += [f"{n:,} {table} were skipped: {why}." for (table, why), n in self.skipped.items() if n]
        return facts or ["Nothing new in there."]


def merge(paths: Iterable[str | Path], store: Store) -> Merged:
    """Adds what the files hold to `store`. BadInput names a file that cannot be used; files before it are merged."""
    require(Permission.FILES)
    report = Merged()
    for path in paths:
        with read_tables(Path(path)) as files, store.memory_bound(_MEMORY_MB):
            _merge_one(Path(path).name, files, store, report)
    store.touch([""])
    return report


def _merge_one(name: str, files: Mapping[str, Path], store: Store, report: Merged) -> None:
    import duckdb

    part = Merged()
    try:
        union = lambda connection: _union(connection, name, files, part)  # noqa: E731
        store.writer.transact(union, Permission.FILES, "merged a file", name).result()
    except BadInput as error:
        raise BadInput(f"{name} could not be merged. {error} Nothing of it was taken over.") from error
    except (NotStored, duckdb.Error, pa.ArrowException) as error:
        why = str(error.__cause__ or error).strip().splitlines()[0][:200]
        raise BadInput(f"{name} could not be merged ({why}). Nothing of it was taken over.") from error
    report.added += part.added
    report.duplicates += part.duplicates
    report.skipped += part.skipped
    report.replaced += part.replaced


def _union(connection, file: str, files: Mapping[str, Path], report: Merged) -> None:
    table_by_name = tables()
    maps = {name: pa.memory_map(str(path)) for name, path in files.items()}
    try:
        for name, source in maps.items():
            _take_in(connection, table_by_name[name], pa.ipc.open_file(source).read_all(), report)
        check_merge(connection, set(maps))
        merge_checks.drop_untrue(connection, table_by_name, set(maps), report.skipped, file)
        for name in maps:
            if name not in _READ_LAST and name != "completions":
                _add(connection, table_by_name[name], report)
        if "completions" in maps:
            report.replaced = _add_completions(connection, table_by_name["completions"], report)
        add(connection, table_by_name, set(maps), report.added, report.duplicates, report.skipped)
    finally:
        for name in maps:
            connection.execute(f"DROP TABLE IF EXISTS temp.theirs_{name}")
        forget(connection)


def _take_in(connection, table: Table, rows: pa.Table, report: Merged) -> None:
    """A temporary table of those rows that fit ours: every needed value is there, every key once."""
    columns = [column for column in table.columns if column.name in rows.column_names]
    lacking = [one.name for one in table.columns if one not in columns and not one.is_nullable and one.default is None]
    if lacking:
        raise BadInput(f"Its table {table.name} lacks the column {lacking[0]!r}.")
    casts = ", ".join(f'TRY_CAST("{one.name}" AS {one.kind}) AS "{one.name}"' for one in columns)
    needed = [one.name for one in columns if not one.is_nullable or one.name in table.key]
    whole = " AND ".join(f'"{name}" IS NOT NULL' for name in needed) or "true"
    connection.register("incoming", rows)
    try:
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE theirs_{table.name} AS SELECT * FROM (SELECT {casts} FROM incoming) WHERE {whole}"
        )
    finally:
        connection.unregister("incoming")
    if table.key:
        _drop_repeated(connection, f"theirs_{table.name}", ", ".join(table.key))
    n_kept = _count(connection, f"SELECT count(*) FROM theirs_{table.name}")
    report.skipped[table.name, "a value is missing, of another type, or the same key stands twice"] += rows.num_rows - n_kept
    if table.name == "studies":
        states = ", ".join(f"'{state}'" for state in _STATES)
        connection.execute(
            "UPDATE theirs_studies SET state = 'cancelled', message = 'It had not ended when it was merged. Resume makes only "
            f"the missing calls.' WHERE state NOT IN ({states})"
        )


def _drop_repeated(connection, name: str, key: str) -> None:
    """Leaves one row of each key. A file that Flipscope wrote has no other, so whole rows are not sorted to see it."""
    if _count(connection, f"SELECT count(*) FROM (SELECT {key} FROM {name} GROUP BY ALL HAVING count(*) > 1)"):
        once = f"SELECT * FROM {name} QUALIFY row_number() OVER (PARTITION BY {key}) = 1"
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {once}")


def _add(connection, table: Table, report: Merged) -> None:
    """Rows whose key is not here."""
    before = _count(connection, f"SELECT count(*) FROM main.{table.name}")
    names = ", ".join(f'"{row[0]}"' for row in connection.execute(f"DESCRIBE theirs_{table.name}").fetchall())
    connection.execute(
        f"INSERT INTO main.{table.name} ({names}) SELECT {names} FROM theirs_{table.name} ON CONFLICT DO NOTHING"
    )
    n_new = _count(connection, f"SELECT count(*) FROM main.{table.name}") - before
    report.added[table.name] += n_new
    report.duplicates[table.name] += _count(connection, f"SELECT count(*) FROM theirs_{table.name}") - n_new


def _add_completions(connection, table: Table, report: Merged) -> int:
    """New completions, and answers to calls that failed here; how many of the latter."""
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE replaced_calls AS SELECT t.call_id FROM theirs_completions t "
        "JOIN main.completions m USING (call_id) WHERE t.status = 'ok' AND m.status <> 'ok'"
    )
    there = {row[0] for row in connection.execute("DESCRIBE theirs_completions").fetchall()}
    values = ", ".join(f"{name} = t.{name}" for name in table.changing if name in there)
    connection.execute(
        f"UPDATE main.completions SET {values} FROM theirs_completions t WHERE completions.call_id = t.call_id "
        "AND t.call_id IN (SELECT call_id FROM replaced_calls)"
    )
    n_replaced = _count(connection, "SELECT count(*) FROM replaced_calls")
    _add(connection, table, report)
    report.duplicates["completions"] -= n_replaced
    return n_replaced


def _count(connection, sql: str) -> int:
    return connection.execute(sql).fetchall()[0][0]


# Readouts of a merged file: each comes in only with the completions that it was read from, and goes with them.

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
    n_theirs, n_fresh = _n_rows(connection, "theirs_readouts"), _n_rows(connection, "fresh_readouts")
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


def _n_rows(connection, table: str) -> int:
    return connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0]
