"""Read archived studies, whose completions and readouts are Parquet files beside the database.

Every cursor sees a view of each table with the rows of the database and the archives. So access
control, set-aside items and statistics work as usual. Nothing is written to an archived study; it
must be restored first (`flipcore.store.archiving`).
"""

import json
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection

from flipcore.core.command_line import command
from flipcore.core.errors import BadInput
from flipcore.store.schema import tables

TABLES = ("readouts", "readout_sources", "completions")
KEY = "archive "  # the record of an archive in store_info has this key, followed by the study's id
# Tables that a run of a study writes to; none of them is written to for an archived study.
_TABLES_OF_STUDY = {*TABLES, "item_runs", "study_calls"}


@dataclass(frozen=True)
class Archive:
    """The files with a study's rows. Archives of earlier releases lack fingerprints and stamps."""

    study_id: str
    folder: str
    files: dict[str, list[str]]  # by table
    n_rows: dict[str, int]  # by table
    fingerprints: dict[str, str] = field(default_factory=dict)  # by table
    # file -> [length in bytes, time of change in ns] when its rows were last checked
    stamps: dict[str, list[int]] = field(default_factory=dict)

    @property
    def paths(self) -> list[str]:
        """The files of all tables; some may be URLs."""
        return list(chain.from_iterable(self.files.values()))

    @property
    def has_files(self) -> bool:
        """True if all files exist; URLs are not checked."""
        return all("://" in path or Path(path).is_file() for path in self.paths)

    def current_stamps(self) -> dict[str, list[int]]:
        """Return the present stamps of the files that are no URLs."""
        stamps = {}
        for path in self.paths:
            if "://" not in path:
                status = os.stat(path)
                stamps[path] = [status.st_size, status.st_mtime_ns]
        return stamps

    def sentence(self) -> str:
        counts = ", ".join(f"{n:,} {table.replace('_', ' ')}" for table, n in self.n_rows.items())
        return f"{counts} of {self.study_id} are in {self.folder}."


def archives(connection: DuckDBPyConnection) -> dict[str, Archive]:
    """Return study id -> archive, for all archived studies of a database."""
    rows = connection.execute(
        "SELECT value FROM store_info WHERE starts_with(key, $key)", {"key": KEY}
    ).fetchall()
    by_study = {}
    for (value,) in rows:
        archive = Archive(**json.loads(value))
        by_study[archive.study_id] = archive
    return by_study


def attach(connection: DuckDBPyConnection, archived: Iterable[Archive]) -> None:
    """Create temporary views, so that this connection sees archived rows in each table."""
    archived = list(archived)
    if not archived:
        return
    database = connection.execute("SELECT current_database()").fetchall()[0][0]
    for table in TABLES:
        files = list(chain.from_iterable(archive.files[table] for archive in archived))
        if files:
            names, rows = _column_list(table), rows_of(connection, table, files)
            connection.execute(
                f'CREATE TEMP VIEW {table} AS SELECT {names} FROM "{database}".main.{table} '
                f"UNION ALL {rows}"
            )


def open_folders(connection: DuckDBPyConnection, folders: Iterable[str]) -> None:
    """Let DuckDB open URLs through `fsspec`. Raises BadInput without the needed package."""
    for scheme in {folder.partition("://")[0] for folder in folders if "://" in folder}:
        try:
            import fsspec

            system = fsspec.filesystem(scheme)
        except (ImportError, ValueError) as error:
            raise BadInput(
                f"{scheme}:// cannot be opened here ({error}). Install fsspec with what it needs"
                " for it."
            ) from error
        if not connection.filesystem_is_registered(scheme):
            connection.register_filesystem(system)


def check_not_archived(
    archived: dict[str, Archive], parts: Sequence[tuple[str, list[dict]]]
) -> None:
    """Raise BadInput for rows of an archived study, which would exist twice once it is restored."""
    if not archived:
        return
    for table, rows in parts:
        if table in _TABLES_OF_STUDY:
            for row in rows:
                refuse_archived(archived, row.get("study_id", ""))


def refuse_archived(archived: dict[str, Archive], study_id: str) -> None:
    """Raise BadInput for an archived study, saying how to restore it."""
    if study_id in archived:
        raise BadInput(
            f"The study {study_id} is archived, so nothing is written to it. Restore it first:"
            f" {command('restore')} {study_id}"
        )


def check_merge(connection: DuckDBPyConnection, merged_tables: set[str]) -> None:
    """Raise BadInput if a file to merge holds rows of a study that is archived here."""
    for study_id, archive in archives(connection).items():
        overlaps = []
        if "readouts" in merged_tables:
            sql = "SELECT 1 FROM theirs_readouts WHERE study_id = $study_id LIMIT 1"
            overlaps += connection.execute(sql, {"study_id": study_id}).fetchall()
        if "completions" in merged_tables and archive.files["completions"]:
            archived_calls = parquet_sql(archive.files["completions"])
            sql = f"SELECT 1 FROM theirs_completions SEMI JOIN {archived_calls} USING (call_id)"
            overlaps += connection.execute(f"{sql} LIMIT 1").fetchall()
        if overlaps:
            refuse_archived({study_id: archive}, study_id)


def fingerprint(
    connection: DuckDBPyConnection,
    table: str,
    rows: str,
    params: dict[str, Any] | None = None,
    names: Collection[str] | None = None,
) -> tuple[int, str]:
    """Return (number of rows, fingerprint of their values) for `rows` (SQL) of a table. The
    fingerprint does not depend on the order of rows. `names` are the columns that count, None for
    all."""
    values = []
    for column in tables()[table].columns:
        if names is None or column.name in names:
            is_time = column.kind == "TIMESTAMP WITH TIME ZONE"
            value = f"epoch_us({column.name})" if is_time else f'"{column.name}"'
            # Replace NULL, because concat_ws would skip it.
            values.append(f"coalesce(({value})::TEXT, chr(30))")
    joined_values = ", ".join(values)
    sql = (
        f"SELECT count(*), coalesce(bit_xor(md5_number_lower(concat_ws(chr(31), {joined_values}))),"
        f" 0)::TEXT FROM ({rows})"
    )
    return connection.execute(sql, params).fetchall()[0]


def record(connection: DuckDBPyConnection, archive: Archive) -> None:
    """Store the record of an archive in the database."""
    value = json.dumps(asdict(archive), ensure_ascii=False)
    connection.execute(
        "INSERT OR REPLACE INTO store_info VALUES ($key, $value)",
        {"key": KEY + archive.study_id, "value": value},
    )


def problem_at_opening(connection: DuckDBPyConnection, archive: Archive) -> str:
    """Return `problem` of an archive, but read only files that changed since their last check. URLs
    are not checked."""
    if archive.has_files and archive.current_stamps() != archive.stamps:
        if sentence := problem(connection, archive):
            return sentence
        record(connection, replace(archive, stamps=archive.current_stamps()))
    return "" if archive.has_files else _missing_sentence(archive)


def _missing_sentence(archive: Archive) -> str:
    return f"Files of the archive are not there: {archive.sentence()}"


def problem(connection: DuckDBPyConnection, archive: Archive) -> str:
    """Return a sentence on what is wrong with an archive's files; "" if they are unchanged."""
    if not archive.has_files:
        return _missing_sentence(archive)
    open_folders(connection, [archive.folder])
    try:
        return _difference(connection, archive)
    except duckdb.Error as error:
        return (
            f"Files of the archive cannot be read: {archive.sentence()}"
            f" {str(error).splitlines()[0][:200]}."
        )


def _difference(connection: DuckDBPyConnection, archive: Archive) -> str:
    """Say how the rows in the files differ from those that were archived; "" if they do not."""
    for table, files in archive.files.items():
        n_rows, found_fingerprint = 0, ""
        if files:
            # An earlier release took the fingerprint over the columns that existed then.
            names = set.intersection(*map(set, _files_by_columns(connection, files)))
            rows = rows_of(connection, table, files)
            n_rows, found_fingerprint = fingerprint(connection, table, rows, names=names)
        if n_rows != archive.n_rows[table]:
            n_archived = archive.n_rows[table]
            return f"The archive holds {n_rows:,} {table}, and {n_archived:,} were put there."
        # Archives of earlier releases have no fingerprint to compare with.
        stored_fingerprint = archive.fingerprints.get(table, found_fingerprint)
        if files and found_fingerprint != stored_fingerprint:
            return (
                f"The archive holds as many {table} as were put there, but some of them were"
                " changed since."
            )
    return ""


def insert_rows(connection: DuckDBPyConnection, archive: Archive, into: str = "main") -> None:
    """Insert an archive's rows into the tables of a database, and delete its record there."""
    for table, files in archive.files.items():
        if files:
            names, rows = _column_list(table), rows_of(connection, table, files)
            connection.execute(
                f"INSERT INTO {into}.{table} ({names}) {rows} ON CONFLICT DO NOTHING"
            )
    connection.execute(
        f"DELETE FROM {into}.store_info WHERE key = $key", {"key": KEY + archive.study_id}
    )


def _column_list(table: str) -> str:
    return ", ".join(f'"{name}"' for name in tables()[table].names)


def rows_of(connection: DuckDBPyConnection, table: str, files: Sequence[str]) -> str:
    """Return SQL for the rows of Parquet files, with the columns of a table in schema.sql. Archives
    of earlier releases lack newer columns. These get their defaults, as in a database of that
    release that is opened today."""
    parts = []
    for names, files_with_names in _files_by_columns(connection, files).items():
        columns = []
        for column in tables()[table].columns:
            value = f'"{column.name}"' if column.name in names else column.default or "NULL"
            columns.append(f'CAST({value} AS {column.kind}) AS "{column.name}"')
        parts.append(f"SELECT {', '.join(columns)} FROM {parquet_sql(files_with_names)}")
    return " UNION ALL ".join(parts)


def _files_by_columns(
    connection: DuckDBPyConnection, files: Sequence[str]
) -> dict[tuple[str, ...], list[str]]:
    """Group files by the names of their columns."""
    by_columns: dict[tuple[str, ...], list[str]] = {}
    for file in files:
        by_columns.setdefault(_columns_in_file(connection, file), []).append(file)
    return by_columns


# (path, time of change, size) -> names of the columns. A cache, as every new cursor needs them.
_columns_by_stamp: dict[tuple[str, int, int], tuple[str, ...]] = {}


def _columns_in_file(connection: DuckDBPyConnection, file: str) -> tuple[str, ...]:
    stamp = None
    if "://" not in file:
        status = os.stat(file)
        stamp = file, status.st_mtime_ns, status.st_size
        if stamp in _columns_by_stamp:
            return _columns_by_stamp[stamp]
    rows = connection.execute(f"SELECT name FROM parquet_schema({quoted(file)})").fetchall()
    names = tuple(sorted({name for (name,) in rows}))
    if stamp:
        _columns_by_stamp[stamp] = names
    return names


def parquet_sql(files: Sequence[str]) -> str:
    """Return SQL for the rows of Parquet files."""
    return f"read_parquet([{', '.join(map(quoted, files))}], hive_partitioning = false)"


def quoted(value: str) -> str:
    """Quote a text for SQL, where DuckDB takes no parameter."""
    return "'" + value.replace("'", "''") + "'"
