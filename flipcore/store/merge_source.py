"""Read another machine's database file safely, in a process of its own.

A database file can hold views and macros that read other files, and a damaged one can crash the
process that opens it. So a child process opens a copy of the file, without access to anything else.
It reads known columns of base tables only, and returns them as Arrow files.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.ipc

from flipcore.core.errors import BadInput
from flipcore.core.work_folders import work_folder
from flipcore.store.migrations import SCHEMA_VERSION
from flipcore.store.schema import tables

MAX_READ_S = 600
_BATCH = 20_000
_ENVIRONMENT = ("PATH", "HOME", "LANG", "PYTHONPATH", "TMPDIR", "SYSTEMROOT", "LD_LIBRARY_PATH")
_MAGIC = b"DUCK"  # at byte 8 of every DuckDB file


@contextmanager
def read_tables(path: Path) -> Iterator[dict[str, Path]]:
    """Yield table -> an Arrow file with the columns that this version knows. The files are deleted
    afterwards. Raises BadInput for a file that cannot be used."""
    _check(path)
    with work_folder("merge") as folder:
        copy = folder / "copy.duckdb"
        try:
            shutil.copyfile(path, copy)
            # The log holds commits since the last checkpoint.
            if (log := path.with_name(f"{path.name}.wal")).is_file():
                shutil.copyfile(log, copy.with_name(f"{copy.name}.wal"))
        except OSError as error:
            raise BadInput(
                f"{path.name} could not be copied ({error}). Check the file and the disk, then"
                " merge again."
            ) from error
        _read_in_child(copy, folder, path.name)
        yield {
            name: folder / f"{name}.arrow"
            for name in tables()
            if (folder / f"{name}.arrow").is_file()
        }


def _check(path: Path) -> None:
    if not path.is_file():
        raise BadInput(
            f"There is no file {path}. Give the path of a database that another machine wrote."
        )
    with path.open("rb") as stream:
        start = stream.read(12)
    if start[8:12] != _MAGIC:
        raise BadInput(
            f"{path.name} is not a database that can be read. Give a file that Flipscope wrote."
        )


def _read_in_child(copy: Path, folder: Path, name: str) -> None:
    """Run `write_tables` in a child process, so that a damaged file crashes only that one."""
    columns_by_table = {table.name: list(table.names) for table in tables().values()}
    code = (
        "import sys, json; from flipcore.store.merge_source import write_tables;"
        " write_tables(*json.loads(sys.argv[1]))"
    )
    arguments = json.dumps([str(copy), str(folder), columns_by_table])
    try:
        child = subprocess.run(
            [sys.executable, "-c", code, arguments],
            capture_output=True,
            timeout=MAX_READ_S,
            cwd=Path(__file__).resolve().parents[2],
            encoding="utf-8",
            # No API keys in the environment while a stranger's file is open.
            env={key: value for key, value in os.environ.items() if key in _ENVIRONMENT},
        )
    except subprocess.TimeoutExpired as error:
        raise BadInput(
            f"{name} could not be read within {MAX_READ_S} s. Nothing of it was taken over."
        ) from error
    if child.stdout:
        raise BadInput(f"{name} {child.stdout} Nothing of it was taken over.")
    if child.returncode != 0:
        raise BadInput(
            f"{name} is damaged: reading it ended with code {child.returncode}. Nothing of it was"
            " taken over."
        )


def write_tables(copy: str, folder: str, columns_by_table: dict[str, list[str]]) -> None:
    """Write one Arrow file per table; runs in the child process. On failure, print the rest of a
    sentence that begins with the file's name."""
    try:
        _write(copy, Path(folder), columns_by_table)
    except Exception as error:  # a file from elsewhere may raise anything
        lines = str(error).strip().splitlines()
        reason = lines[0][:200] if lines else type(error).__name__
        sentence = f"is not a database that can be read ({reason})."
        if isinstance(error, OSError):
            sentence = (
                f"could not be unpacked in {folder} ({reason}). Make room there, then merge again."
            )
        sys.stdout.buffer.write(
            (reason if isinstance(error, BadInput) else sentence).encode("utf-8", "replace")
        )


def _write(copy: str, folder: Path, columns_by_table: dict[str, list[str]]) -> None:
    connection = duckdb.connect(":memory:")
    connection.execute("SET memory_limit = '2GB'")
    connection.execute("SET threads = 1")
    connection.execute(f"ATTACH '{copy}' AS other (READ_ONLY)")  # we chose the copy's name
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    create_statements = dict(
        connection.execute(
            "SELECT table_name, sql FROM system.main.duckdb_tables() WHERE database_name = 'other' "
            "AND schema_name = 'main'"
        ).fetchall()
    )
    _check_version(connection, create_statements)
    # Each query on columns makes DuckDB scan all of them, so ask once for all tables.
    existing_columns: dict[str, set[str]] = {}
    for table, column in connection.execute(
        "SELECT table_name, column_name FROM system.main.duckdb_columns() "
        "WHERE database_name = 'other' AND schema_name = 'main'"
    ).fetchall():
        existing_columns.setdefault(table, set()).add(column)
    for table, columns in columns_by_table.items():
        if table == "store_info" or table not in create_statements:
            continue
        if " GENERATED " in (create_statements[table] or "").upper():
            raise BadInput(f"has a computed column in {table}, which no Flipscope wrote.")
        names = ", ".join(
            f'"{name}"' for name in columns if name in existing_columns.get(table, ())
        )
        if not names:
            raise BadInput(f"has a table {table} without any column of it.")
        reader = connection.sql(f'SELECT {names} FROM other.main."{table}"').to_arrow_reader(_BATCH)
        with (
            pa.OSFile(str(folder / f"{table}.part"), "wb") as sink,
            pa.ipc.new_file(sink, reader.schema) as writer,
        ):
            for batch in reader:
                writer.write_batch(batch)
        (folder / f"{table}.part").rename(folder / f"{table}.arrow")


def _check_version(connection, create_statements: dict[str, str]) -> None:
    rows: list[tuple] = []
    if "store_info" in create_statements:
        rows = connection.execute(
            'SELECT "value" FROM other.main.store_info WHERE "key" = \'schema\''
        ).fetchall()
    version = str(rows[0][0]) if rows else "unknown"
    if not version.isdigit() or not 1 <= int(version[:9]) <= SCHEMA_VERSION:
        raise BadInput(
            f"has schema {version[:40]}; this version merges up to schema {SCHEMA_VERSION}."
        )
