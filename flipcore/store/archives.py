"""Studies whose completions and readouts stand as Parquet files beside the database, and are read
by the same queries.

Every cursor sees each of the tables as a view of the file's rows and the archived ones, so that
access, set-aside items and statistics know nothing of it. Nothing is written to an archived study:
it is restored first (`flipcore.store.archiving`).
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
KEY = "archive "  # of store_info, before the study's id
_ROWS_OF_STUDY = {*TABLES, "item_runs", "study_calls"}


@dataclass(frozen=True)
class Archive:
    """The files that hold a study's rows: `files` by table, `n_rows` and the `fingerprints` of
    each, and by file its `stamps`, length and time of change when it held them; archives of earlier
    releases have neither of the latter."""

    study_id: str
    folder: str
    files: dict[str, list[str]]
    n_rows: dict[str, int]
    fingerprints: dict[str, str] = field(default_factory=dict)
    stamps: dict[str, list[int]] = field(default_factory=dict)

    @property
    def paths(self) -> list[str]:
        """All its files, whatever table they hold; some may be URLs."""
        return list(chain.from_iterable(self.files.values()))

    @property
    def is_there(self) -> bool:
        """True where its files can be seen; a URL is believed."""
        return all("://" in path or Path(path).is_file() for path in self.paths)

    def stamps_now(self) -> dict[str, list[int]]:
        """The stamps of those of its files that are no URL."""
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
    """Study -> its archive, of all that this file knows of."""
    rows = connection.execute(
        "SELECT value FROM store_info WHERE starts_with(key, $key)", {"key": KEY}
    ).fetchall()
    return {
        archive.study_id: archive for archive in (Archive(**json.loads(value)) for (value,) in rows)
    }


def attach(connection: DuckDBPyConnection, archived: Iterable[Archive]) -> None:
    """Have this connection see each table as the file's rows and the archived ones; nothing where
    nothing is archived."""
    archived = list(archived)
    if not archived:
        return
    database = connection.execute("SELECT current_database()").fetchall()[0][0]
    for table in TABLES:
        files = list(chain.from_iterable(archive.files[table] for archive in archived))
        if files:
            names, rows = _column_names(table), rows_of(connection, table, files)
            connection.execute(
                f'CREATE TEMP VIEW {table} AS SELECT {names} FROM "{database}".main.{table} '
                f"UNION ALL {rows}"
            )


def open_folders(connection: DuckDBPyConnection, folders: Iterable[str]) -> None:
    """Let DuckDB read and write URLs through `fsspec`. Raises BadInput without that package."""
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


def check_hot(archived: dict[str, Archive], parts: Sequence[tuple[str, list[dict]]]) -> None:
    """Raise BadInput for rows of an archived study: beside its files they would stand twice."""
    for table, rows in parts if archived else ():
        if table in _ROWS_OF_STUDY:
            for row in rows:
                check_here(archived, row.get("study_id", ""))


def check_here(archived: dict[str, Archive], study_id: str) -> None:
    """Raise BadInput for an archived study, with what to do."""
    if study_id in archived:
        raise BadInput(
            f"The study {study_id} is archived, so nothing is written to it. Restore it first:"
            f" {command('restore')} {study_id}"
        )


def check_merge(connection: DuckDBPyConnection, merged_tables: set[str]) -> None:
    """Raise BadInput where a file that is merged holds rows of a study that is archived here."""
    for study_id, archive in archives(connection).items():
        if "readouts" in merged_tables:
            holds = ["SELECT 1 FROM theirs_readouts WHERE study_id = $study_id"]
        else:
            holds = []
        if "completions" in merged_tables and archive.files["completions"]:
            holds.append(
                f"SELECT 1 FROM theirs_completions SEMI JOIN {read(archive.files['completions'])} "
                "USING (call_id)"
            )
        for sql in holds:
            if connection.execute(
                f"{sql} LIMIT 1", {"study_id": study_id} if "$" in sql else None
            ).fetchall():
                check_here({study_id: archive}, study_id)


def fingerprint(
    connection: DuckDBPyConnection,
    table: str,
    rows: str,
    params: dict[str, Any] | None = None,
    names: Collection[str] | None = None,
) -> tuple[int, str]:
    """Return the number of `rows` (SQL) of a table, and a fingerprint of all their values that
    depends on no order; `names` are the columns that count, None for all."""
    values = (
        (
            f"epoch_us({column.name})"
            if column.kind == "TIMESTAMP WITH TIME ZONE"
            else f'"{column.name}"'
        )
        for column in tables()[table].columns
        if names is None or column.name in names
    )
    # Concat_ws would pass a NULL over.
    joined_values = ", ".join(f"coalesce(({value})::TEXT, chr(30))" for value in values)
    sql = (
        f"SELECT count(*), coalesce(bit_xor(md5_number_lower(concat_ws(chr(31), {joined_values}))),"
        f" 0)::TEXT FROM ({rows})"
    )
    return connection.execute(sql, params).fetchall()[0]


def keep(connection: DuckDBPyConnection, archive: Archive) -> None:
    """Store what the database has to know of an archive."""
    value = json.dumps(asdict(archive), ensure_ascii=False)
    connection.execute(
        "INSERT OR REPLACE INTO store_info VALUES ($key, $value)",
        {"key": KEY + archive.study_id, "value": value},
    )


def problem_at_opening(connection: DuckDBPyConnection, archive: Archive) -> str:
    """Return `problem` of files that were touched since they were last read whole; a URL is
    believed."""
    if archive.is_there and archive.stamps_now() != archive.stamps:
        if sentence := problem(connection, archive):
            return sentence
        keep(connection, replace(archive, stamps=archive.stamps_now()))
    return "" if archive.is_there else _absent(archive)


def _absent(archive: Archive) -> str:
    return f"Files of the archive are not there: {archive.sentence()}"


def problem(connection: DuckDBPyConnection, archive: Archive) -> str:
    """Return a sentence on what is wrong with an archive's files; "" where they hold what was put
    there."""
    if not archive.is_there:
        return _absent(archive)
    open_folders(connection, [archive.folder])
    try:
        return _difference(connection, archive)
    except duckdb.Error as error:
        return (
            f"Files of the archive cannot be read: {archive.sentence()}"
            f" {str(error).splitlines()[0][:200]}."
        )


def _difference(connection: DuckDBPyConnection, archive: Archive) -> str:
    for table, files in archive.files.items():
        n, mark = 0, ""
        if files:
            # An earlier release took the fingerprint of the columns that there were then.
            names = set.intersection(*map(set, _files_by_columns(connection, files)))
            rows = rows_of(connection, table, files)
            n, mark = fingerprint(connection, table, rows, names=names)
        if n != archive.n_rows[table]:
            return f"The archive holds {n:,} {table}, and {archive.n_rows[table]:,} were put there."
        if files and mark != archive.fingerprints.get(table, mark):
            return (
                f"The archive's {table} are as many as were put there, and some of them were"
                " changed since."
            )
    return ""


def bring_in(connection: DuckDBPyConnection, archive: Archive, into: str = "main") -> None:
    """Its rows into the tables of a database, which then knows nothing of the archive."""
    for table, files in archive.files.items():
        if files:
            names, rows = _column_names(table), rows_of(connection, table, files)
            connection.execute(
                f"INSERT INTO {into}.{table} ({names}) {rows} ON CONFLICT DO NOTHING"
            )
    connection.execute(
        f"DELETE FROM {into}.store_info WHERE key = $key", {"key": KEY + archive.study_id}
    )


def _column_names(table: str) -> str:
    return ", ".join(f'"{name}"' for name in tables()[table].names)


def rows_of(connection: DuckDBPyConnection, table: str, files: Sequence[str]) -> str:
    """Return SQL of the rows of Parquet files, with the columns of a table as schema.sql has them.

    What an earlier release archived lacks columns that came later: they have their default, as in
    a database of that release that is opened today.
    """
    parts = []
    for names, alike in _files_by_columns(connection, files).items():
        columns = []
        for column in tables()[table].columns:
            value = f'"{column.name}"' if column.name in names else column.default or "NULL"
            columns.append(f'CAST({value} AS {column.kind}) AS "{column.name}"')
        parts.append(f"SELECT {', '.join(columns)} FROM {read(alike)}")
    return " UNION ALL ".join(parts)


def _files_by_columns(
    connection: DuckDBPyConnection, files: Sequence[str]
) -> dict[tuple[str, ...], list[str]]:
    """Return the files that have the same columns, by the names of these."""
    by_columns: dict[tuple[str, ...], list[str]] = {}
    for file in files:
        by_columns.setdefault(_names_in(connection, file), []).append(file)
    return by_columns


# (path, time of change, size) -> the names of its columns. Every cursor looks at the files.
_names_by_stamp: dict[tuple[str, int, int], tuple[str, ...]] = {}


def _names_in(connection: DuckDBPyConnection, file: str) -> tuple[str, ...]:
    stamp = None
    if "://" not in file:
        status = os.stat(file)
        stamp = file, status.st_mtime_ns, status.st_size
        if stamp in _names_by_stamp:
            return _names_by_stamp[stamp]
    rows = connection.execute(f"SELECT name FROM parquet_schema({text(file)})").fetchall()
    names = tuple(sorted({name for (name,) in rows}))
    if stamp:
        _names_by_stamp[stamp] = names
    return names


def read(files: Sequence[str]) -> str:
    """The rows of Parquet files, in SQL."""
    return f"read_parquet([{', '.join(map(text, files))}], hive_partitioning = false)"


def text(value: str) -> str:
    """A text in SQL, for where DuckDB takes no parameter."""
    return "'" + value.replace("'", "''") + "'"
