"""Reads a database file from elsewhere in a process of its own: base tables, by name and column,
and nothing else.

A database file can hold views and macros that read other files, and a damaged one can end the
process that opens it. So the file is copied, a child process opens the copy without access to
anything else, and its tables come back as Arrow files.
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

LONGEST_READ_S = 600
_BATCH = 20_000
_ENVIRONMENT = ("PATH", "HOME", "LANG", "PYTHONPATH", "TMPDIR", "SYSTEMROOT", "LD_LIBRARY_PATH")
_MAGIC = b"DUCK"  # at byte 8 of every DuckDB file


@contextmanager
def read_tables(path: Path) -> Iterator[dict[str, Path]]:
    """Table -> an Arrow file of those of its columns that this version knows. Raises BadInput with
    a sentence that names the file and says what is wrong with it."""
    _check(path)
    with work_folder("merge") as folder:
        copy = folder / "copy.duckdb"
        try:
            shutil.copyfile(path, copy)
            # What was written since the last checkpoint.
            if (log := path.with_name(f"{path.name}.wal")).is_file():
                shutil.copyfile(log, copy.with_name(f"{copy.name}.wal"))
        except OSError as error:
            raise BadInput(
                f"{path.name} could not be copied ({error}). Check the file and the disk, then"
                " merge again."
            ) from error
        _read_apart(copy, folder, path.name)
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


def _read_apart(copy: Path, folder: Path, name: str) -> None:
    """Run `write_tables` in a child, so that a file that ends its reader ends nothing else."""
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
            timeout=LONGEST_READ_S,
            cwd=Path(__file__).resolve().parents[2],
            encoding="utf-8",
            # No key for a stranger's file.
            env={key: value for key, value in os.environ.items() if key in _ENVIRONMENT},
        )
    except subprocess.TimeoutExpired as error:
        raise BadInput(
            f"{name} could not be read within {LONGEST_READ_S} s. Nothing of it was taken over."
        ) from error
    if child.stdout:
        raise BadInput(f"{name} {child.stdout} Nothing of it was taken over.")
    if child.returncode != 0:
        raise BadInput(
            f"{name} is damaged: reading it ended with code {child.returncode}. Nothing of it was"
            " taken over."
        )


def write_tables(copy: str, folder: str, columns_by_table: dict[str, list[str]]) -> None:
    """In the child: writes an Arrow file a table, or says the end of a sentence that begins with
    the file's name."""
    try:
        _write(copy, Path(folder), columns_by_table)
    except Exception as error:  # whatever a file from elsewhere provokes becomes a sentence
        reason = (
            str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
        )
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
    connection.execute(f"ATTACH '{copy}' AS other (READ_ONLY)")  # the copy's name is ours
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    base = dict(
        connection.execute(
            "SELECT table_name, sql FROM system.main.duckdb_tables() WHERE database_name = 'other' "
            "AND schema_name = 'main'"
        ).fetchall()
    )
    _check_version(connection, base)
    # DuckDB goes through all columns for each question about them, so they are asked for once.
    existing_columns: dict[str, set[str]] = {}
    for table, column in connection.execute(
        "SELECT table_name, column_name FROM system.main.duckdb_columns() "
        "WHERE database_name = 'other' AND schema_name = 'main'"
    ).fetchall():
        existing_columns.setdefault(table, set()).add(column)
    for table, columns in columns_by_table.items():
        if table == "store_info" or table not in base:
            continue
        if " GENERATED " in (base[table] or "").upper():
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


def _check_version(connection, base: dict[str, str]) -> None:
    rows: list[tuple] = []
    if "store_info" in base:
        rows = connection.execute(
            'SELECT "value" FROM other.main.store_info WHERE "key" = \'schema\''
        ).fetchall()
    version = str(rows[0][0]) if rows else "unknown"
    if not version.isdigit() or not 1 <= int(version[:9]) <= SCHEMA_VERSION:
        raise BadInput(
            f"has schema {version[:40]}; this version merges up to schema {SCHEMA_VERSION}."
        )
