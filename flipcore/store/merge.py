"""Merging files that several machines wrote: ids are hashes of content, so it is a union of every
table.

What a row says of itself is checked. What is here stays: a good completion is never replaced, and a
readout comes in only with the completion that it was read from. Everything is one transaction of
the one writer; a file that cannot be used changes nothing.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.ipc

from flipcore.access.acting import Permission, require
from flipcore.core.errors import BadInput, NotStored
from flipcore.core.records import Request, digest
from flipcore.core.study import Study
from flipcore.store import late_readouts
from flipcore.store.archives import check_merge
from flipcore.store.connection import Store
from flipcore.store.merge_source import read_tables
from flipcore.store.queries.review import FROM_ELSEWHERE
from flipcore.store.schema import Table, tables
from flipcore.text.counts import count_of

_MEMORY_MB = 1_000  # of the database while it merges
_READ_LAST = ("readouts", "readout_sources")  # they follow the completions
Skipped = Counter[tuple[str, str]]
_STATES = ("planned", "done", "incomplete", "cancelled", "over_budget", "failed")


@dataclass
class Merged:
    """Rows by table: `added` are new here, `duplicates` were here already. `replaced` failed calls
    got their answer. `skipped` counts by (table, reason)."""

    added: Counter[str] = field(default_factory=Counter)
    duplicates: Counter[str] = field(default_factory=Counter)
    replaced: int = 0
    skipped: Skipped = field(default_factory=Counter)

    def sentences(self) -> list[str]:
        if +self.added:
            facts = [", ".join(_rows(n, table) for table, n in self.added.items() if n) + " added."]
        else:
            facts = []
        if self.replaced:
            facts.append(f"{count_of(self.replaced, 'failed call')} got their answer.")
        if n_duplicates := sum(self.duplicates.values()):
            facts.append(
                f"{count_of(n_duplicates, 'row was', 'rows were')} here already and kept unchanged."
            )
        if self.added["verdicts"]:
            facts.append(FROM_ELSEWHERE)
        facts += [
            f"{_rows(n, table)} {'was' if n == 1 else 'were'} skipped: {reason}."
            for (table, reason), n in self.skipped.items()
            if n
        ]
        return facts or ["Nothing new in there."]


def _rows(n: int, table: str) -> str:
    """ "1 study", "3 readouts"."""
    return count_of(
        n,
        f"{table.removesuffix('ies')}y" if table.endswith("ies") else table.removesuffix("s"),
        table,
    )


def merge(paths: Iterable[str | Path], store: Store) -> Merged:
    """Add what the files hold. BadInput names an unusable file; those before it are merged."""
    require(Permission.FILES)
    report = Merged()
    for path in paths:
        with read_tables(Path(path)) as files, store.memory_bound(_MEMORY_MB):
            _merge_one(Path(path).name, files, store, report)
    store.touch([""])
    return report


def _merge_one(name: str, files: Mapping[str, Path], store: Store, report: Merged) -> None:
    part = Merged()
    try:
        union = partial(_union, file=name, files=files, report=part)
        store.writer.transact(union, Permission.FILES, act="merged a file", on=name).result()
    except BadInput as error:
        raise BadInput(
            f"{name} could not be merged. {error} Nothing of it was taken over."
        ) from error
    except (NotStored, duckdb.Error, pa.ArrowException) as error:
        reason = str(error.__cause__ or error).strip().splitlines()[0][:200]
        raise BadInput(
            f"{name} could not be merged ({reason}). Nothing of it was taken over."
        ) from error
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
        _drop_untrue(connection, set(maps), report.skipped, file)
        for name in maps:
            if name not in _READ_LAST and name != "completions":
                _add(connection, table_by_name[name], report)
        if "completions" in maps:
            report.replaced = _add_completions(connection, table_by_name["completions"], report)
        _add_readouts(connection, set(maps), report)
    finally:
        for table in (
            *_TEMPORARY,
            *(f"theirs_{name}" for name in {*maps, *_READ_LAST, "completions"}),
        ):
            connection.execute(f"DROP TABLE IF EXISTS temp.{table}")


def _take_in(connection, table: Table, rows: pa.Table, report: Merged) -> None:
    """Make a temporary table of the rows that fit ours: complete, and every key once."""
    columns = [column for column in table.columns if column.name in rows.column_names]
    lacking = [
        column.name
        for column in table.columns
        if column not in columns and not column.is_nullable and column.default is None
    ]
    if lacking:
        raise BadInput(f"Its table {table.name} lacks the column {lacking[0]!r}.")
    casts = ", ".join(
        f'TRY_CAST("{column.name}" AS {column.kind}) AS "{column.name}"' for column in columns
    )
    needed = [
        column.name for column in columns if not column.is_nullable or column.name in table.key
    ]
    is_complete = " AND ".join(f'"{name}" IS NOT NULL' for name in needed) or "true"
    connection.register("incoming", rows)
    try:
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE theirs_{table.name} AS SELECT * FROM (SELECT {casts} "
            f"FROM incoming) WHERE {is_complete}"
        )
    finally:
        connection.unregister("incoming")
    if table.key:
        _drop_repeated(connection, f"theirs_{table.name}", ", ".join(table.key))
    n_kept = _count(connection, f"SELECT count(*) FROM theirs_{table.name}")
    report.skipped[
        table.name, "a value is missing, of another type, or the same key stands twice"
    ] += rows.num_rows - n_kept
    if table.name == "studies":
        states = ", ".join(f"'{state}'" for state in _STATES)
        connection.execute(
            "UPDATE theirs_studies SET state = 'cancelled', message = 'It had not ended when it "
            f"was merged. Resume makes only the missing calls.' WHERE state NOT IN ({states})"
        )


def _drop_repeated(connection, name: str, key: str) -> None:
    """Leave one row of each key. A file that Flipscope wrote has no other, so whole rows are not
    sorted to see it."""
    if _count(
        connection,
        f"SELECT count(*) FROM (SELECT {key} FROM {name} GROUP BY ALL HAVING count(*) > 1)",
    ):
        once = f"SELECT * FROM {name} QUALIFY row_number() OVER (PARTITION BY {key}) = 1"
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {once}")


def _add(connection, table: Table, report: Merged) -> None:
    before = _count(connection, f"SELECT count(*) FROM main.{table.name}")
    names = ", ".join(f'"{name}"' for name in _columns(connection, table.name))
    connection.execute(
        f"INSERT INTO main.{table.name} ({names}) SELECT {names} FROM theirs_{table.name} "
        "ON CONFLICT DO NOTHING"
    )
    n_new = _count(connection, f"SELECT count(*) FROM main.{table.name}") - before
    report.added[table.name] += n_new
    report.duplicates[table.name] += (
        _count(connection, f"SELECT count(*) FROM theirs_{table.name}") - n_new
    )


def _add_completions(connection, table: Table, report: Merged) -> int:
    """New completions, and answers to calls that failed here; how many of the latter."""
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE replaced_calls AS SELECT t.call_id FROM theirs_completions t "
        "JOIN main.completions m USING (call_id) WHERE t.status = 'ok' AND m.status <> 'ok'"
    )
    columns = _columns(connection, "completions")
    values = ", ".join(f"{name} = t.{name}" for name in table.changing if name in columns)
    connection.execute(
        f"UPDATE main.completions SET {values} FROM theirs_completions t "
        "WHERE completions.call_id = t.call_id AND t.call_id IN (SELECT call_id "
        "FROM replaced_calls)"
    )
    n_replaced = _count(connection, "SELECT count(*) FROM replaced_calls")
    _add(connection, table, report)
    report.duplicates["completions"] -= n_replaced
    return n_replaced


def _count(connection, sql: str) -> int:
    return connection.execute(sql).fetchall()[0][0]


def _columns(connection, table: str) -> list[str]:
    return [row[0] for row in connection.execute(f"DESCRIBE theirs_{table}").fetchall()]


# Readouts of a merged file: each comes in only with the completions that it was read from, and goes
# with them.

_KEY = ", ".join(tables()["readouts"].key)
_LOCKED = "a lock has fixed those of their items; they stand apart"
_OTHER = "its completion here is another one; Resume reads the one that is kept"
_TEMPORARY = tuple(
    "replaced_calls unequal_calls stale_readouts unfit_readouts fresh_readouts theirs_first"
    " fixed_places late_keys".split()
)

# Calls whose completion here is not the one that the other file read.
_UNEQUAL = """
CREATE OR REPLACE TEMP TABLE unequal_calls AS
SELECT DISTINCT s.call_id FROM theirs_readout_sources s
LEFT JOIN theirs_completions t ON t.call_id = s.call_id LEFT JOIN main.completions m
    ON m.call_id = s.call_id
WHERE m.call_id IS NULL OR t.call_id IS NULL OR m.status <> t.status OR m.text <> t.text
   OR m.tokens::VARCHAR IS DISTINCT FROM t.tokens::VARCHAR OR m.top_logprobs::VARCHAR IS DISTINCT
       FROM t.top_logprobs::VARCHAR
"""


def _add_readouts(connection, merged_tables: set[str], report: Merged) -> None:
    """Readouts and their sources. Readouts here of calls that have just got their answer are
    replaced, or dropped: they said that nothing came. A study that lost or lacks readouts so is no
    longer done: resuming it reads them, without a call.
    """
    for table in ("readouts", "readout_sources", "completions"):
        if table not in merged_tables:
            connection.execute(
                f"CREATE OR REPLACE TEMP TABLE theirs_{table} AS SELECT * FROM main.{table} LIMIT 0"
            )
    _drop_dangling(connection, report.skipped)
    _put_late_ones_apart(connection, report.skipped)
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS replaced_calls (call_id TEXT)")
    connection.execute(_UNEQUAL)
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE stale_readouts AS SELECT DISTINCT {_KEY} "
        "FROM main.readout_sources WHERE call_id IN (SELECT call_id FROM replaced_calls)"
    )
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE unfit_readouts AS SELECT DISTINCT {_KEY} "
        "FROM theirs_readout_sources WHERE call_id IN (SELECT call_id FROM unequal_calls)"
    )
    connection.execute(
        "DELETE FROM stale_readouts WHERE (study_id, item_id) IN (SELECT (study_id, item_id) "
        "FROM fixed_places)"
    )
    for table in ("readout_sources", "readouts"):
        connection.execute(
            f"DELETE FROM main.{table} r USING stale_readouts s WHERE {_same('r', 's')}"
        )
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE fresh_readouts AS SELECT {_KEY} FROM theirs_readouts EXCEPT "
        f"SELECT {_KEY} FROM unfit_readouts EXCEPT SELECT {_KEY} FROM main.readouts"
    )
    n_theirs = _count(connection, "SELECT count(*) FROM theirs_readouts")
    n_fresh = _count(connection, "SELECT count(*) FROM fresh_readouts")
    n_unfit = _count(
        connection,
        f"SELECT count(*) FROM theirs_readouts t JOIN unfit_readouts u USING ({_KEY}) "
        f"WHERE NOT EXISTS (SELECT 1 FROM main.readouts m WHERE {_same('m', 't')})",
    )
    for table in ("readouts", "readout_sources"):
        names = ", ".join(_columns(connection, table))
        connection.execute(
            f"INSERT INTO main.{table} ({names}) SELECT {names} FROM theirs_{table} t SEMI "
            f"JOIN fresh_readouts f USING ({_KEY}) ON CONFLICT DO NOTHING"
        )
    connection.execute(
        "DELETE FROM main.item_runs WHERE (study_id, model, item_id) IN (SELECT (study_id, model, "
        f"item_id) FROM (SELECT {_KEY} FROM stale_readouts UNION ALL SELECT {_KEY} "
        "FROM unfit_readouts))"
    )  # what they say was read is not here
    report.added["readouts"] += n_fresh
    report.duplicates["readouts"] += n_theirs - n_fresh - n_unfit
    report.skipped["readouts", _OTHER] += n_unfit
    # Studies that lack readouts of stored completions say so.
    connection.execute(f"""UPDATE main.studies SET state = 'incomplete',
            message = 'Some answers were merged and not read yet. Resume reads '
        || 'them without a call.' WHERE state = 'done' AND study_id IN (
            SELECT study_id FROM (SELECT {_KEY} FROM stale_readouts UNION SELECT {_KEY}
                FROM unfit_readouts) w
            WHERE NOT EXISTS (SELECT 1 FROM main.readouts m WHERE {_same("m", "w")}))""")


def _put_late_ones_apart(connection, skipped: Skipped) -> None:
    """Readouts of items whose state a lock has fixed come in beside it; `fixed_places` are those
    items, each with the extractors of which the lock lets in what is not here yet."""
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE fixed_places (study_id TEXT, item_id TEXT, extractors TEXT[])"
    )
    if not (places := late_readouts.fixed(connection)):
        return
    rows = [(study, item, extractors) for (study, item), extractors in places.items()]
    connection.executemany("INSERT INTO fixed_places VALUES (?, ?, ?)", rows)
    all_keys = f"SELECT {_KEY} FROM theirs_readouts UNION SELECT {_KEY} FROM theirs_readout_sources"
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE late_keys AS SELECT {_KEY} FROM ({all_keys}) t "
        "JOIN fixed_places f USING (study_id, item_id) "
        "WHERE NOT list_contains(f.extractors, t.extractor) OR EXISTS (SELECT 1 "
        f"FROM main.readouts m WHERE {_same('m', 't')})"
    )
    late = f"({_KEY}) IN (SELECT ({_KEY}) FROM late_keys)"
    names = ", ".join(_columns(connection, "readouts"))
    connection.execute(
        f"INSERT INTO main.late_readouts ({names}) SELECT {names} FROM theirs_readouts t "
        f"WHERE {late} AND NOT EXISTS (SELECT 1 FROM main.readouts m WHERE {_same('m', 't')} "
        "AND m.status = t.status AND m.answer IS NOT DISTINCT FROM t.answer "
        "AND m.value IS NOT DISTINCT FROM t.value) ON CONFLICT DO NOTHING"
    )
    same = f"SELECT 1 FROM main.readouts m WHERE {_same('m', 'theirs_readouts')}"
    skipped["readouts", _LOCKED] += _count(
        connection, f"SELECT count(*) FROM theirs_readouts WHERE {late} AND NOT EXISTS ({same})"
    )
    for table in ("readouts", "readout_sources"):
        connection.execute(f"DELETE FROM theirs_{table} WHERE {late}")


def _same(left: str, right: str) -> str:
    return " AND ".join(f"{left}.{name} = {right}.{name}" for name in _KEY.split(", "))


# What a file from elsewhere says of itself is checked before it comes in: an id is the hash of what
# it names, a row has its study. What does not hold is skipped and counted with its reason; the rest
# comes in.

_BATCH = 5_000
_ELSEWHERE = "their study is neither here nor in that file"
_NOWHERE = "they point to no item, variant or completion of their study"
_OTHER_CALL = "their id is not the hash of their call, so they answer another one"
_OTHER_STUDY = "their id is not the hash of their declaration"
_OWN_BUDGET = "the study is here, and its budget is set here"

# Tables whose rows say from which file they came.
OF_A_PLACE = ("acts", "invitations", "invitation_events")


def _drop_untrue(connection, merged_tables: set[str], skipped: Skipped, file: str) -> None:
    """Remove what is not what its id says, and rows of studies that nobody declared."""
    if "completions" in merged_tables:
        parent = "parent_id" if "parent_id" in _columns(connection, "completions") else "NULL"
        _drop_failing(
            connection,
            "completions",
            "call_id",
            _unproven_calls(parent),
            _is_call,
            skipped,
            _OTHER_CALL,
        )
    declared = "SELECT study_id FROM main.studies"
    if "studies" in merged_tables:
        sql = "SELECT study_id, toml FROM theirs_studies"
        _drop_failing(connection, "studies", "study_id", sql, _is_study, skipped, _OTHER_STUDY)
        declared += " UNION SELECT study_id FROM theirs_studies"
    for name in sorted(merged_tables - {"studies"}):
        # What has a key of its own outlives its study: purchases, locks, decisions.
        if "study_id" in tables()[name].key:
            _drop(connection, name, f"study_id NOT IN ({declared})", skipped, _ELSEWHERE)
    if "verdicts" in merged_tables:  # how its pairs were drawn is not for a file to say
        connection.execute("ALTER TABLE theirs_verdicts ADD COLUMN IF NOT EXISTS by_choice BOOLEAN")
        connection.execute("UPDATE theirs_verdicts SET by_choice = true")
    # Who did what there is not told as if it was done here.
    for name in merged_tables & set(OF_A_PLACE):
        had = "origin" in _columns(connection, name)
        connection.execute(f"ALTER TABLE theirs_{name} ADD COLUMN IF NOT EXISTS origin TEXT")
        before = (
            "CASE WHEN coalesce(origin, '') = '' THEN '' ELSE ' < ' || origin END" if had else "''"
        )
        connection.execute(f"UPDATE theirs_{name} SET origin = $file || {before}", {"file": file})
    if "acts" in merged_tables:  # and stands in no chain of this file
        for column in ("number", "link"):
            connection.execute(f"ALTER TABLE theirs_acts DROP COLUMN IF EXISTS {column}")
    if "budgets" in merged_tables:
        _drop(
            connection,
            "budgets",
            "study_id IN (SELECT study_id FROM main.studies)",
            skipped,
            _OWN_BUDGET,
        )


def _drop_dangling(connection, skipped: Skipped) -> None:
    """Remove readouts whose item or variant is not in their study, or that name no completion that
    they were read from; called when everything else is in. An absent readout was read from
    nothing."""
    key = "study_id, model, item_id, axis, variant_id, sample, extractor"
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE dangling AS SELECT {key} FROM theirs_readouts r
        WHERE NOT EXISTS (SELECT 1 FROM main.study_items i JOIN main.items q USING (item_id)
                          WHERE i.study_id = r.study_id AND i.item_id = r.item_id)
           OR NOT EXISTS (SELECT 1 FROM main.study_variants v JOIN main.variants w
               USING (variant_id)
                          WHERE (v.study_id, v.item_id, v.axis, v.variant_id) = (r.study_id,
                              r.item_id, r.axis, r.variant_id))
           OR r.status <> 'absent' AND NOT EXISTS (SELECT 1 FROM theirs_readout_sources s
                          WHERE (s.study_id, s.model, s.item_id, s.axis, s.variant_id, s.sample,
                              s.extractor)
                              = (r.study_id, r.model, r.item_id, r.axis, r.variant_id, r.sample,
                                  r.extractor))"""
    )
    _drop(connection, "readouts", f"({key}) IN (SELECT ({key}) FROM dangling)", skipped, _NOWHERE)
    connection.execute(
        f"DELETE FROM theirs_readout_sources WHERE ({key}) NOT IN (SELECT ({key}) "
        "FROM theirs_readouts)"
    )
    connection.execute("DROP TABLE temp.dangling")


def _unproven_calls(parent: str) -> str:
    """The query of calls of which SQL cannot say that their id is their hash: `digest` over the
    same text, put together from the columns. None that `_is_call` refuses is proven, because a
    request with a field twice, an unknown one or an object in it is left to that; so is what the
    two write in other characters, such as 1e-05."""
    names = sorted(request_field.name for request_field in fields(Request))
    values = {name: f"(field[{i}]::VARCHAR)" for i, name in enumerate(names, 1)}
    request = ", ".join(f"""'"{name}":' || {value}""" for name, value in values.items())
    n_given = " + ".join(f"({value} IS NOT NULL)::INT" for value in values.values())
    holds_object = " OR ".join(
        f"coalesce({value}[1] IN ('[', '{{') AND contains({value}, '{{'), false)"
        for value in values.values()
    )
    return f"""
        WITH calls AS (
            SELECT call_id, model, revision, request, sample, {parent}::VARCHAR AS parent,
                   json_extract(request, {[f"$.{name}" for name in names]}) AS field,
                       len(json_keys(request)) AS n_keys
            FROM theirs_completions)
        SELECT call_id, model, revision, request::VARCHAR, sample, parent FROM calls
        WHERE n_keys = 0 OR n_keys <> {n_given}
           OR {holds_object}
           OR call_id <> substr(sha256('[' || to_json(model) || ',' || to_json(revision) ||
               ',{{' || concat_ws(',', {request}) || '}},'
                || sample || ',' || coalesce(to_json(parent)::VARCHAR, 'null') || ']'), 1, 20)"""


def _is_call(row: tuple) -> bool:
    call_id, model, revision, text, sample, parent_id = row
    try:
        request = json.loads(text)
        return isinstance(request, dict) and call_id == digest(
            model, revision, request, sample, parent_id
        )
    except (ValueError, RecursionError):
        return False


def _is_study(row: tuple) -> bool:
    """A declaration that this version cannot read is shown as such; nobody can tell its id."""
    study_id, toml = row
    try:
        return study_id == Study.from_toml(toml).study_id
    except BadInput:
        return True


def _drop_failing(
    connection,
    table: str,
    column: str,
    sql: str,
    holds: Callable[[tuple], bool],
    skipped: Skipped,
    reason: str,
) -> None:
    """Drop those of the rows of `sql` that do not hold, by their id in its first column."""
    rows, failing = connection.execute(sql), []
    while batch := rows.fetchmany(_BATCH):
        failing += [row[0] for row in batch if not holds(row)]
    if failing:
        _drop(
            connection,
            table,
            f"{column} IN (SELECT unnest($ids))",
            skipped,
            reason,
            {"ids": failing},
        )


def _drop(
    connection,
    table: str,
    where: str,
    skipped: Skipped,
    reason: str,
    params: dict[str, Any] | None = None,
) -> None:
    [(n_dropped,)] = connection.execute(
        f"DELETE FROM theirs_{table} WHERE {where}", params
    ).fetchall()
    skipped[table, reason] += n_dropped
