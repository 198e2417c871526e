"""Merge databases of several machines: ids are hashes of content, so each table is a union.

Rows whose id is not the hash of their content are skipped. Rows of this database stay: a good
completion is never replaced, and a readout is added only with the completion that it was read from.
Each file is merged in one transaction, so a file that cannot be used changes nothing.

Temporary tables `theirs_…` hold the rows of the other file, under the names of the tables here.
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
from flipcore.store.connection import ALL_STUDIES, Store
from flipcore.store.merge_source import read_tables
from flipcore.store.queries.review import IMPORT_NOTE
from flipcore.store.schema import Table, tables
from flipcore.text.counts import count_of

_MEMORY_MB = 1_000  # limit of the database while it merges
_AFTER_COMPLETIONS = ("readouts", "readout_sources")  # tables that are added after the completions
Skipped = Counter[tuple[str, str]]  # (table, reason) -> rows
_STATES = ("planned", "done", "incomplete", "cancelled", "over_budget", "failed")


@dataclass
class Merged:
    """Numbers of rows of a merge."""

    added: Counter[str] = field(default_factory=Counter)  # by table
    duplicates: Counter[str] = field(default_factory=Counter)  # by table: were here already
    replaced: int = 0  # calls that failed here and got an answer
    skipped: Skipped = field(default_factory=Counter)

    def sentences(self) -> list[str]:
        facts = []
        added = [_rows(n, table) for table, n in self.added.items() if n]
        if +self.added:
            facts.append(f"{', '.join(added)} added.")
        if self.replaced:
            facts.append(f"{count_of(self.replaced, 'failed call')} got their answer.")
        if n_duplicates := sum(self.duplicates.values()):
            facts.append(
                f"{count_of(n_duplicates, 'row was', 'rows were')} here already and kept unchanged."
            )
        if self.added["verdicts"]:
            facts.append(IMPORT_NOTE)
        facts += [
            f"{_rows(n, table)} {'was' if n == 1 else 'were'} skipped: {reason}."
            for (table, reason), n in self.skipped.items()
            if n
        ]
        return facts or ["Nothing new in there."]


def _rows(n: int, table: str) -> str:
    """Return the number with the table's name, as in "1 study" or "3 readouts"."""
    is_y = table.endswith("ies")
    singular = f"{table.removesuffix('ies')}y" if is_y else table.removesuffix("s")
    return count_of(n, singular, table)


def merge(paths: Iterable[str | Path], store: Store) -> Merged:
    """Add the rows of the files. BadInput for an unusable one; the files before it are merged."""
    require(Permission.FILES)
    report = Merged()
    for path in paths:
        with read_tables(Path(path)) as files, store.memory_bound(_MEMORY_MB):
            _merge_one(Path(path).name, files, store, report)
    store.touch([ALL_STUDIES])
    return report


def _merge_one(name: str, files: Mapping[str, Path], store: Store, report: Merged) -> None:
    own_report = Merged()
    try:
        union = partial(_union, file=name, files=files, report=own_report)
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
    report.added += own_report.added
    report.duplicates += own_report.duplicates
    report.skipped += own_report.skipped
    report.replaced += own_report.replaced


def _union(connection, file: str, files: Mapping[str, Path], report: Merged) -> None:
    table_by_name = tables()
    arrow_files = {name: pa.memory_map(str(path)) for name, path in files.items()}
    try:
        for name, source in arrow_files.items():
            _stage(connection, table_by_name[name], pa.ipc.open_file(source).read_all(), report)
        check_merge(connection, set(arrow_files))
        _drop_invalid(connection, set(arrow_files), report.skipped, file)
        for name in arrow_files:
            if name not in _AFTER_COMPLETIONS and name != "completions":
                _add(connection, table_by_name[name], report)
        if "completions" in arrow_files:
            report.replaced = _add_completions(connection, table_by_name["completions"], report)
        _add_readouts(connection, set(arrow_files), report)
    finally:
        staged = {*arrow_files, *_AFTER_COMPLETIONS, "completions"}
        for table in (*_TEMPORARY, *(f"theirs_{name}" for name in staged)):
            connection.execute(f"DROP TABLE IF EXISTS temp.{table}")


def _stage(connection, table: Table, rows: pa.Table, report: Merged) -> None:
    """Put the rows that fit our table into `theirs_…`: complete ones, and each key once."""
    columns = [column for column in table.columns if column.name in rows.column_names]
    missing = [
        column.name
        for column in table.columns
        if column not in columns and not column.is_nullable and column.default is None
    ]
    if missing:
        raise BadInput(f"Its table {table.name} lacks the column {missing[0]!r}.")
    casts = ", ".join(
        f'TRY_CAST("{column.name}" AS {column.kind}) AS "{column.name}"' for column in columns
    )
    required = [
        column.name for column in columns if not column.is_nullable or column.name in table.key
    ]
    is_complete = " AND ".join(f'"{name}" IS NOT NULL' for name in required) or "true"
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
    """Keep one row per key. A file that Flipscope wrote has no duplicates. So only the keys are
    compared first, which is much faster than sorting whole rows."""
    if _count(
        connection,
        f"SELECT count(*) FROM (SELECT {key} FROM {name} GROUP BY ALL HAVING count(*) > 1)",
    ):
        once = f"SELECT * FROM {name} QUALIFY row_number() OVER (PARTITION BY {key}) = 1"
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {once}")


def _add(connection, table: Table, report: Merged) -> None:
    n_before = _count(connection, f"SELECT count(*) FROM main.{table.name}")
    names = ", ".join(f'"{name}"' for name in _columns(connection, table.name))
    connection.execute(
        f"INSERT INTO main.{table.name} ({names}) SELECT {names} FROM theirs_{table.name} "
        "ON CONFLICT DO NOTHING"
    )
    n_new = _count(connection, f"SELECT count(*) FROM main.{table.name}") - n_before
    report.added[table.name] += n_new
    report.duplicates[table.name] += (
        _count(connection, f"SELECT count(*) FROM theirs_{table.name}") - n_new
    )


def _add_completions(connection, table: Table, report: Merged) -> int:
    """Add new completions, and answers to calls that failed here; return the latter's number."""
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE replaced_calls AS SELECT t.call_id FROM theirs_completions t "
        "JOIN main.completions m USING (call_id) WHERE t.status = 'ok' AND m.status <> 'ok'"
    )
    columns = _columns(connection, "completions")
    values = ", ".join(f"{name} = t.{name}" for name in table.changing_columns if name in columns)
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


# A readout is added only if the completions that it was read from are those of this database.

_KEY = ", ".join(tables()["readouts"].key)
_FIXED_BY_LOCK = "a lock has fixed those of their items; they stand apart"
_OTHER_COMPLETION = "its completion here is another one; Resume reads the one that is kept"
_TEMPORARY = tuple(
    "replaced_calls unequal_calls stale_readouts unfit_readouts fresh_readouts fixed_items"
    " late_keys".split()
)

# Calls whose completion here differs from the one that the other file's readouts were read from.
_UNEQUAL_CALLS = """
CREATE OR REPLACE TEMP TABLE unequal_calls AS
SELECT DISTINCT s.call_id FROM theirs_readout_sources s
LEFT JOIN theirs_completions t ON t.call_id = s.call_id LEFT JOIN main.completions m
    ON m.call_id = s.call_id
WHERE m.call_id IS NULL OR t.call_id IS NULL OR m.status <> t.status OR m.text <> t.text
   OR m.tokens::VARCHAR IS DISTINCT FROM t.tokens::VARCHAR OR m.top_logprobs::VARCHAR IS DISTINCT
       FROM t.top_logprobs::VARCHAR
"""


def _add_readouts(connection, merged_tables: set[str], report: Merged) -> None:
    """Add readouts and their sources.

    - stale: readouts here of calls that failed and just got an answer; they are removed.
    - unfit: readouts of the other file whose completion differs here; they are skipped.
    - fresh: readouts of the other file that are added.

    A study without a readout for a stale or unfit one becomes incomplete. Resuming it reads the
    stored answers, without a call.
    """
    for table in ("readouts", "readout_sources", "completions"):
        if table not in merged_tables:
            connection.execute(
                f"CREATE OR REPLACE TEMP TABLE theirs_{table} AS SELECT * FROM main.{table} LIMIT 0"
            )
    _drop_dangling(connection, report.skipped)
    _move_late_readouts(connection, report.skipped)
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS replaced_calls (call_id TEXT)")
    connection.execute(_UNEQUAL_CALLS)
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
        "FROM fixed_items)"
    )
    for table in ("readout_sources", "readouts"):
        connection.execute(
            f"DELETE FROM main.{table} r USING stale_readouts s WHERE {_same_key('r', 's')}"
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
        f"WHERE NOT EXISTS (SELECT 1 FROM main.readouts m WHERE {_same_key('m', 't')})",
    )
    for table in ("readouts", "readout_sources"):
        names = ", ".join(_columns(connection, table))
        connection.execute(
            f"INSERT INTO main.{table} ({names}) SELECT {names} FROM theirs_{table} t SEMI "
            f"JOIN fresh_readouts f USING ({_KEY}) ON CONFLICT DO NOTHING"
        )
    # `item_runs` lists complete items, and readouts of these items are missing now.
    connection.execute(
        "DELETE FROM main.item_runs WHERE (study_id, model, item_id) IN (SELECT (study_id, model, "
        f"item_id) FROM (SELECT {_KEY} FROM stale_readouts UNION ALL SELECT {_KEY} "
        "FROM unfit_readouts))"
    )
    report.added["readouts"] += n_fresh
    report.duplicates["readouts"] += n_theirs - n_fresh - n_unfit
    report.skipped["readouts", _OTHER_COMPLETION] += n_unfit
    connection.execute(f"""UPDATE main.studies SET state = 'incomplete',
            message = 'Some answers were merged and not read yet. Resume reads '
        || 'them without a call.' WHERE state = 'done' AND study_id IN (
            SELECT study_id FROM (SELECT {_KEY} FROM stale_readouts UNION SELECT {_KEY}
                FROM unfit_readouts) w
            WHERE NOT EXISTS (SELECT 1 FROM main.readouts m WHERE {_same_key("m", "w")}))""")


def _move_late_readouts(connection, skipped: Skipped) -> None:
    """Move readouts of items that a lock has fixed into `late_readouts`. `fixed_items` lists these
    items, with the extractors whose missing readouts the lock allows."""
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE fixed_items (study_id TEXT, item_id TEXT, extractors TEXT[])"
    )
    if not (fixed := late_readouts.fixed_items(connection)):
        return
    rows = [(study, item, extractors) for (study, item), extractors in fixed.items()]
    connection.executemany("INSERT INTO fixed_items VALUES (?, ?, ?)", rows)
    all_keys = f"SELECT {_KEY} FROM theirs_readouts UNION SELECT {_KEY} FROM theirs_readout_sources"
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE late_keys AS SELECT {_KEY} FROM ({all_keys}) t "
        "JOIN fixed_items f USING (study_id, item_id) "
        "WHERE NOT list_contains(f.extractors, t.extractor) OR EXISTS (SELECT 1 "
        f"FROM main.readouts m WHERE {_same_key('m', 't')})"
    )
    is_late = f"({_KEY}) IN (SELECT ({_KEY}) FROM late_keys)"
    names = ", ".join(_columns(connection, "readouts"))
    connection.execute(
        f"INSERT INTO main.late_readouts ({names}) SELECT {names} FROM theirs_readouts t "
        f"WHERE {is_late} AND NOT EXISTS (SELECT 1 FROM main.readouts m "
        f"WHERE {_same_key('m', 't')} AND m.status = t.status "
        "AND m.answer IS NOT DISTINCT FROM t.answer "
        "AND m.value IS NOT DISTINCT FROM t.value) ON CONFLICT DO NOTHING"
    )
    stored = f"SELECT 1 FROM main.readouts m WHERE {_same_key('m', 'theirs_readouts')}"
    skipped["readouts", _FIXED_BY_LOCK] += _count(
        connection,
        f"SELECT count(*) FROM theirs_readouts WHERE {is_late} AND NOT EXISTS ({stored})",
    )
    for table in ("readouts", "readout_sources"):
        connection.execute(f"DELETE FROM theirs_{table} WHERE {is_late}")


def _same_key(left: str, right: str) -> str:
    """Return SQL for whether two rows, by their aliases, have the same readout's key."""
    return " AND ".join(f"{left}.{name} = {right}.{name}" for name in _KEY.split(", "))


# Checks of a file's rows: an id must be the hash of its content, and a row's study must exist. Rows
# that fail are skipped, and counted with the reason.

_BATCH = 5_000
_NO_STUDY = "their study is neither here nor in that file"
_DANGLING = "they point to no item, variant or completion of their study"
_OTHER_CALL = "their id is not the hash of their call, so they answer another one"
_OTHER_STUDY = "their id is not the hash of their declaration"
_OWN_BUDGET = "the study is here, and its budget is set here"

# Tables with a column for the file that a row came from.
TABLES_WITH_ORIGIN = ("acts", "invitations", "invitation_events")


def _drop_invalid(connection, merged_tables: set[str], skipped: Skipped, file: str) -> None:
    """Remove rows whose id is not the hash of their content, and rows of undeclared studies."""
    if "completions" in merged_tables:
        parent = "parent_id" if "parent_id" in _columns(connection, "completions") else "NULL"
        _drop_unproven(
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
        _drop_unproven(connection, "studies", "study_id", sql, _is_study, skipped, _OTHER_STUDY)
        declared += " UNION SELECT study_id FROM theirs_studies"
    for name in sorted(merged_tables - {"studies"}):
        # Rows with a key of their own (purchases, locks, decisions) may stay without their study.
        if "study_id" in tables()[name].key:
            _drop(connection, name, f"study_id NOT IN ({declared})", skipped, _NO_STUDY)
    if "verdicts" in merged_tables:
        # A file cannot prove that its reviewers got their pairs at random.
        connection.execute("ALTER TABLE theirs_verdicts ADD COLUMN IF NOT EXISTS by_choice BOOLEAN")
        connection.execute("UPDATE theirs_verdicts SET by_choice = true")
    # Acts of the other machine must not look as if they happened here.
    for name in merged_tables & set(TABLES_WITH_ORIGIN):
        has_origin = "origin" in _columns(connection, name)
        connection.execute(f"ALTER TABLE theirs_{name} ADD COLUMN IF NOT EXISTS origin TEXT")
        earlier_origin = "''"
        if has_origin:
            earlier_origin = "CASE WHEN coalesce(origin, '') = '' THEN '' ELSE ' < ' || origin END"
        connection.execute(
            f"UPDATE theirs_{name} SET origin = $file || {earlier_origin}", {"file": file}
        )
    if "acts" in merged_tables:
        # Their links belong to the chain of the other file.
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
    """Remove readouts without their item or variant in the study, or without a source. Absent
    readouts need no source. Call it when all other tables are merged."""
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
    _drop(connection, "readouts", f"({key}) IN (SELECT ({key}) FROM dangling)", skipped, _DANGLING)
    connection.execute(
        f"DELETE FROM theirs_readout_sources WHERE ({key}) NOT IN (SELECT ({key}) "
        "FROM theirs_readouts)"
    )
    connection.execute("DROP TABLE temp.dangling")


def _unproven_calls(parent: str) -> str:
    """Return SQL for calls whose id is not proven by SQL to be their hash; `_is_call` checks these.

    SQL computes `digest` over the text made from the columns, which is fast. It proves no call that
    `_is_call` refuses: requests with repeated, unknown or nested fields are left to `_is_call`. So
    are values that SQL and Python write differently, such as 1e-05.
    """
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
    """Return whether a study's id fits its declaration. True for a declaration that this version
    cannot read, because its id cannot be computed."""
    study_id, toml = row
    try:
        return study_id == Study.from_toml(toml).study_id
    except BadInput:
        return True


def _drop_unproven(
    connection,
    table: str,
    column: str,
    sql: str,
    is_valid: Callable[[tuple], bool],
    skipped: Skipped,
    reason: str,
) -> None:
    """Drop the rows of `sql` for which `is_valid` is False, by the id in the first column."""
    rows, invalid_ids = connection.execute(sql), []
    while batch := rows.fetchmany(_BATCH):
        invalid_ids += [row[0] for row in batch if not is_valid(row)]
    if invalid_ids:
        _drop(
            connection,
            table,
            f"{column} IN (SELECT unnest($ids))",
            skipped,
            reason,
            {"ids": invalid_ids},
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
