"""Another machine's file is read by a process that is given no keys, and whose failure is a sentence."""

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pyarrow as pa
import pyarrow.ipc
import pytest

from flipcore.core.errors import BadInput
from flipcore.store import merge_source
from flipcore.store.migrations import SCHEMA_VERSION


def read(monkeypatch, error=None, stdout="", returncode=0):
    """The arguments of the process that reads the file."""
    runs = []

    def run(command, **options):
        runs.append((command, options))
        if error:
            raise error
        return SimpleNamespace(stdout=stdout, returncode=returncode)

    monkeypatch.setattr(merge_source.subprocess, "run", run)
    merge_source._read_in_child(Path("copy.duckdb"), Path("folder"), "b.duckdb")
    return runs[0]


def test_the_reading_process_sees_no_keys_and_finds_the_package(monkeypatch):
    monkeypatch.setenv("LAB_API_KEY", "secret")
    monkeypatch.setenv("LANG", "C.UTF-8")
    _, options = read(monkeypatch)
    assert options["env"] == {name: os.environ[name] for name in merge_source._ENVIRONMENT if name in os.environ}
    assert options["env"]["LANG"] == "C.UTF-8" and (options["cwd"] / "flipcore" / "store").is_dir()
    assert options["capture_output"] and options["timeout"] == 600


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"stdout": "holds nothing."}, "b.duckdb holds nothing. Nothing of it was taken over."),
        ({"returncode": -11}, "b.duckdb is damaged: reading it ended with code -11. Nothing of it was taken over."),
        ({"returncode": 1}, "b.duckdb is damaged: reading it ended with code 1. Nothing of it was taken over."),
        (
            {"error": subprocess.TimeoutExpired("x", 600)},
            "b.duckdb could not be read within 600 s. Nothing of it was taken over.",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_a_sentence(monkeypatch, how, sentence):
    with pytest.raises(BadInput) as refused:
        read(monkeypatch, **how)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("error", "rest"),
    [
        (BadInput("has a view."), "has a view."),
        (ValueError("\n Odd.\nMore."), "is not a database that can be read (Odd.)."),
        (ValueError("x" * 201), f"is not a database that can be read ({'x' * 200})."),
        (ValueError(), "is not a database that can be read (ValueError)."),
        (OSError("No space"), "could not be unpacked in folder (No space). Make room there, then merge again."),
    ],
)
def test_the_reading_process_says_the_rest_of_the_sentence(monkeypatch, capsysbinary, error, rest):
    def write(*arguments):
        raise error

    monkeypatch.setattr(merge_source, "_write", write)
    merge_source.write_tables("copy", "folder", {})
    assert capsysbinary.readouterr().out.decode() == rest


@pytest.mark.parametrize("version", [1, SCHEMA_VERSION])
def test_files_up_to_the_schema_of_this_version_are_merged(version):
    merge_source._check_version(connection_of([(version,)]), {"store_info": ""})


@pytest.mark.parametrize(
    ("rows", "tables", "named"),
    [
        ([(0,)], ["store_info"], "0"),
        ([(SCHEMA_VERSION + 1,)], ["store_info"], SCHEMA_VERSION + 1),
        ([("one",)], ["store_info"], "one"),
        ([], ["store_info"], "unknown"),
        ([(1,)], [], "unknown"),
    ],
)
def test_files_of_another_schema_are_not(rows, tables, named):
    with pytest.raises(BadInput, match=f"has schema {named}; this version merges up to schema {SCHEMA_VERSION}"):
        merge_source._check_version(connection_of(rows), dict.fromkeys(tables, ""))


def connection_of(rows):
    return SimpleNamespace(execute=lambda sql: SimpleNamespace(fetchall=lambda: rows))


def test_only_a_database_is_read(tmp_path):
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1")
    merge_source._check(tmp_path / "a.duckdb")
    (tmp_path / "text.duckdb").write_text("DUCK is no database", encoding="utf-8")
    with pytest.raises(BadInput, match="text.duckdb is not a database that can be read. Give a file that Flipscope wrote."):
        merge_source._check(tmp_path / "text.duckdb")
    with pytest.raises(BadInput, match="There is no file"):
        merge_source._check(tmp_path / "nothing.duckdb")


COLUMNS = {"store_info": ["key", "value"], "items": ["item_id", "question"], "studies": ["study_id"], "locks": ["lock_id"]}


def written(folder, *statements):
    """File name -> rows, as read from a database of schema 1 with what the statements make."""
    with duckdb.connect(str(folder / "copy.duckdb")) as connection:
        for statement in (
            "CREATE TABLE store_info (key TEXT, value TEXT)",
            "INSERT INTO store_info VALUES ('schema', '1')",
            *statements,
        ):
            connection.execute(statement)
    merge_source._write(str(folder / "copy.duckdb"), folder, COLUMNS)
    rows = {}
    for path in sorted(folder.iterdir()):
        if path.suffix != ".duckdb":
            with pa.OSFile(str(path)) as source:
                rows[path.name] = pa.ipc.open_file(source).read_all().to_pylist()
    return rows


def test_known_columns_of_the_tables_that_a_file_has_are_written(tmp_path):
    rows = written(
        tmp_path,
        "CREATE TABLE items (secret TEXT, question TEXT, item_id TEXT)",
        "INSERT INTO items VALUES ('s', 'Which?', 'i')",
        "CREATE TABLE strange (a TEXT)",
        "CREATE VIEW studies AS SELECT 's' AS study_id",
        "CREATE SCHEMA elsewhere",
        "CREATE TABLE elsewhere.locks (lock_id TEXT)",
    )
    assert rows == {"items.arrow": [{"item_id": "i", "question": "Which?"}]}


def test_an_older_file_may_lack_columns_and_rows(tmp_path):
    studies = ("CREATE TABLE studies (study_id TEXT)", "INSERT INTO studies VALUES ('s')")
    rows = written(tmp_path, "CREATE TABLE items (item_id TEXT)", *studies)
    assert rows == {"items.arrow": [], "studies.arrow": [{"study_id": "s"}]}


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        (
            "CREATE TABLE items (a INT, b INT GENERATED ALWAYS AS (a + 1))",
            "has a computed column in items, which no Flipscope wrote.",
        ),
        ("CREATE TABLE items (a INT)", "has a table items without any column of it."),
        (
            "UPDATE store_info SET value = '10000000000'",
            f"has schema 10000000000; this version merges up to schema {SCHEMA_VERSION}.",
        ),
        ("DROP TABLE store_info", f"has schema unknown; this version merges up to schema {SCHEMA_VERSION}."),
    ],
)
def test_tables_that_no_release_wrote_are_refused(tmp_path, statement, sentence):
    with pytest.raises(BadInput) as refused:
        written(tmp_path, statement)
    assert str(refused.value) == sentence
