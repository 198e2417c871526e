"""Studies whose completions and readouts stand as Parquet files beside the database, and are read by the same queries.

Every cursor sees each of the tables as a view of the file's rows and the archived ones, so that access, set-aside items and
statistics know nothing of it. Nothing is written to an archived study: it is restored first (`flipcore.store.archiving`).
"""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection

from flipcore.core.errors import BadInput
from flipcore.store.schema import tables

TABLES = ("readouts", "readout_sources", "completions")
KEY = "archive "  # of store_info, before the study's id
_ROWS_OF_STUDY = {*TABLES, "item_runs", "study_calls"}


@dataclass(frozen=True)
class Archive:
    """Where a study's rows are: `files` by table, `n_rows` and the `fingerprints` of each, and by file its `stamps`, length and time of
    change when it held them; archives of earlier releases have neither of the latter."""

    study_id: str
    folder: str
    files: dict[str, list[str]]
    n_rows: dict[str, int]
    fingerprints: dict[str, str] = field(default_factory=dict)
    stamps: dict[str, list[int]] = field(default_factory=dict)

    @property
    def is_there(self) -> bool:
        """Whether its files can be seen; a URL is believed."""
        return all("://" in one or Path(one).is_file() for of_table in self.files.values() for one in of_table)

    def stamps_now(self) -> dict[str, list[int]]:
        """The stamps of those of its files that are no URL."""
        paths = [one for files in self.files.values() for one in files if "://" not in one]
        return {path: [os.stat(path).st_size, os.stat(path).st_mtime_ns] for path in paths}

    def sentence(self) -> str:
        counts = ", ".join(f"{n:,} {table.replace('_', ' ')}" for table, n in self.n_rows.items())
        return f"{counts} of {self.study_id} are in {self.folder}."


def archives(connection: DuckDBPyConnection) -> dict[str, Archive]:
    """Study -> its archive, of all that this file knows of."""
    rows = connection.execute("SELECT value FROM store_info WHERE starts_with(key, $key)", {"key": KEY}).fetchall()
    return {one.study_id: one for one in (Archive(**json.loads(value)) for (value,) in rows)}


def attach(connection: DuckDBPyConnection, there: Iterable[Archive]) -> None:
    """Has this connection see each table as the file's rows and the archived ones; nothing where nothing is archived."""
    there = list(there)
    if not there:
        return
    database = connection.execute("SELECT current_database()").fetchall()[0][0]
    for table in TABLES:
        if files := [one for archive in there for one in archive.files[table]]:
            names = ", ".join(f'"{name}"' for name in tables()[table].names)
            connection.execute(
                f'CREATE TEMP VIEW {table} AS SELECT {names} FROM "{database}".main.{table} UNION ALL SELECT {cast(table)} '
                f"FROM {read(files)}"
            )


def open_folders(connection: DuckDBPyConnection, folders: Iterable[str]) -> None:
    """Lets DuckDB read and write URLs through `fsspec`. Raises BadInput without that package."""
    for scheme in {folder.partition("://")[0] for folder in folders if "://" in folder}:
        try:
            import fsspec

            system = fsspec.filesystem(scheme)
        except (ImportError, ValueError) as error:
            raise BadInput(f"{scheme}:// cannot be opened here ({error}). Install fsspec with what it needs for it.") from error
        if not connection.filesystem_is_registered(scheme):
            connection.register_filesystem(system)


def check_hot(there: dict[str, Archive], parts: Sequence[tuple[str, list[dict]]]) -> None:
    """Raises BadInput for rows of an archived study: beside its files they would stand twice."""
    for table, rows in parts if there else ():
        if table in _ROWS_OF_STUDY:
            for row in rows:
                check_here(there, row.get("study_id", ""))


def check_here(there: dict[str, Archive], study_id: str) -> None:
    """Raises BadInput for an archived study, with what to do."""
    if study_id in there:
        raise BadInput(
            f"The study {study_id} is archived, so nothing is written to it. Restore it first: python -m flipcore restore {study_id}"
        )


def check_merge(connection: DuckDBPyConnection, there: set[str]) -> None:
    """Raises BadInput where a file that is merged holds rows of a study that is archived here."""
    for study_id, one in archives(connection).items():
        holds = ["SELECT 1 FROM theirs_readouts WHERE study_id = $study_id"] if "readouts" in there else []
        if "completions" in there and one.files["completions"]:
            holds.append(f"SELECT 1 FROM theirs_completions SEMI JOIN {read(one.files['completions'])} USING (call_id)")
        for sql in holds:
            if connection.execute(f"{sql} LIMIT 1", {"study_id": study_id} if "$" in sql else None).fetchall():
                check_here({study_id: one}, study_id)


def fingerprint(connection: DuckDBPyConnection, table: str, rows: str, params: dict[str, Any] | None = None) -> tuple[int, str]:
    """How many `rows` (SQL) of a table there are, and a fingerprint of all their values that depends on no order."""
    values = (
        f"epoch_us({one.name})" if one.kind == "TIMESTAMP WITH TIME ZONE" else f'"{one.name}"'
        for one in tables()[table].columns
    )
    whole = ", ".join(f"coalesce(({value})::TEXT, chr(30))" for value in values)  # concat_ws would pass a NULL over
    sql = f"SELECT count(*), coalesce(bit_xor(md5_number_lower(concat_ws(chr(31), {whole}))), 0)::TEXT FROM ({rows})"
    return connection.execute(sql, params).fetchall()[0]


def keep(connection: DuckDBPyConnection, one: Archive) -> None:
    """What the database knows of an archive."""
    value = json.dumps(asdict(one), ensure_ascii=False)
    connection.execute("INSERT OR REPLACE INTO store_info VALUES ($key, $value)", {"key": KEY + one.study_id, "value": value})


def problem_at_opening(connection: DuckDBPyConnection, one: Archive) -> str:
    """As `problem`, of files that were touched since they were read whole, which are read again; a URL is believed."""
    if one.is_there and one.stamps_now() != one.stamps:
        if what := problem(connection, one):
            return what
        keep(connection, replace(one, stamps=one.stamps_now()))
    return "" if one.is_there else _absent(one)


def _absent(one: Archive) -> str:
    return f"Files of the archive are not there: {one.sentence()}"


def problem(connection: DuckDBPyConnection, one: Archive) -> str:
    """What is wrong with an archive's files, as a sentence; "" where they hold what was put there."""
    if not one.is_there:
        return _absent(one)
    open_folders(connection, [one.folder])
    try:
        return _difference(connection, one)
    except duckdb.Error as error:
        return f"Files of the archive cannot be read: {one.sentence()} {str(error).splitlines()[0][:200]}."


def _difference(connection: DuckDBPyConnection, one: Archive) -> str:
    for table, files in one.files.items():
        n, mark = fingerprint(connection, table, f"SELECT {cast(table)} FROM {read(files)}") if files else (0, "")
        if n != one.n_rows[table]:
            return f"The archive holds {n:,} {table}, and {one.n_rows[table]:,} were put there."
        if files and mark != one.fingerprints.get(table, mark):
            return f"The archive's {table} are as many as were put there, and some of them were changed since."
    return ""


def bring_in(connection: DuckDBPyConnection, one: Archive, into: str = "main") -> None:
    """Its rows into the tables of a database, which then knows nothing of the archive."""
    for table, files in one.files.items():
        names = ", ".join(f'"{name}"' for name in tables()[table].names)
        if files:
            connection.execute(
                f"INSERT INTO {into}.{table} ({names}) SELECT {cast(table)} FROM {read(files)} ON CONFLICT DO NOTHING"
            )
    connection.execute(f"DELETE FROM {into}.store_info WHERE key = $key", {"key": KEY + one.study_id})


def cast(table: str) -> str:
    """The columns of a table as schema.sql has them, of a file."""
    return ", ".join(f'CAST("{one.name}" AS {one.kind}) AS "{one.name}"' for one in tables()[table].columns)


def read(files: Sequence[str]) -> str:
    """The rows of Parquet files, in SQL."""
    return f"read_parquet([{', '.join(map(text, files))}], hive_partitioning = false)"


def text(value: str) -> str:
    """A text in SQL, for where DuckDB takes no parameter."""
    return "'" + value.replace("'", "''") + "'"
