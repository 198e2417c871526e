"""Back to a backup: what was there is kept aside, and nothing is said to be missing."""

import random
import shutil
import subprocess
import sys
from dataclasses import replace

import duckdb
import pytest

from flipcore import __main__ as command
from flipcore.core.errors import BadInput
from flipcore.store import commits, whole_copy
from flipcore.store.connection import Store
from flipcore.store.whole_copy import copy_whole, go_back, log_of, repair

_HOLD = """
import sys, time
from pathlib import Path
from flipcore.store.connection import Store
store = Store.open(sys.argv[1])
Path(sys.argv[2]).touch()
time.sleep(300)
"""


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "a.duckdb"))
    write(tmp_path / "a.duckdb", "before")
    return tmp_path / "a.duckdb"


def write(path, key):
    store = Store.open(path)
    store.writer.add("store_info", [{"key": key, "value": "1"}]).result(60)
    store.close()


def keys(path):
    store = Store.open(path)
    found = {key for (key,) in store.rows("SELECT key FROM store_info")}
    lost = store.lost_commits
    store.close()
    return found & {"before", "after"}, lost


@pytest.mark.slow
def test_restore_goes_back_keeps_what_was_there_and_misses_nothing(path, tmp_path, capsys):
    copy_whole(path, tmp_path / "copy.duckdb")
    write(path, "after")
    log_of(path).write_bytes(b"a log of the file that goes")
    assert command.main(["restore", str(tmp_path / "copy.duckdb")]) == 0
    assert "before-restore-" in capsys.readouterr().out
    assert keys(path) == ({"before"}, "")
    (kept,) = (tmp_path / "backups").glob("*.duckdb")
    assert keys(kept)[0] == {"before", "after"}
    assert [file.read_bytes() for file in (tmp_path / "backups").glob("*.wal")] == [b"a log of the file that goes"]


def test_restore_makes_a_database_where_there_is_none(path, tmp_path):
    copy_whole(path, tmp_path / "copy.duckdb")
    path.unlink()
    assert go_back(path, tmp_path / "copy.duckdb")[1] == ()
    assert keys(path) == ({"before"}, "")


def test_a_damaged_database_says_so_and_takes_a_backup(path, tmp_path):
    """A checksum that fails names a "block": that was taken for a lock, and the backup refused."""
    copy_whole(path, tmp_path / "copy.duckdb")
    content = bytearray(path.read_bytes())
    content[4096 + 10] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"is damaged \(Corrupt database file.*Put back a backup of it:"):
        Store.open(path)
    go_back(path, tmp_path / "copy.duckdb")
    assert keys(path)[0] == {"before"}


def test_a_damaged_backup_is_not_called_open(path, tmp_path):
    """Its failed checksum names a "block" too."""
    copy_whole(path, tmp_path / "copy.duckdb")
    content = bytearray((tmp_path / "copy.duckdb").read_bytes())
    content[4096 + 10] ^= 0xFF
    (tmp_path / "copy.duckdb").write_bytes(content)
    with pytest.raises(BadInput, match=r"copy.duckdb is damaged \(Corrupt database file.*Nothing was changed"):
        go_back(path, tmp_path / "copy.duckdb")
    assert "before" in keys(path)[0]


def test_a_backup_that_somebody_has_open_is_named_so(path, tmp_path):
    copy_whole(path, tmp_path / "copy.duckdb")
    hold = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(tmp_path / "copy.duckdb")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(BadInput, match="copy.duckdb is open in another process"):
            go_back(path, tmp_path / "copy.duckdb")
        holder.stdin.close()
    with pytest.raises(BadInput, match="There is no file"):
        go_back(path, tmp_path / "nothing.duckdb")


def test_a_backup_that_somebody_reads_is_taken_all_the_same(path, tmp_path):
    copy_whole(path, tmp_path / "copy.duckdb")
    content = (tmp_path / "copy.duckdb").read_bytes()
    with duckdb.connect(str(tmp_path / "copy.duckdb"), read_only=True):
        go_back(path, tmp_path / "copy.duckdb")
    assert keys(path)[0] == {"before"} and (tmp_path / "copy.duckdb").read_bytes() == content


def test_what_is_no_backup_changes_nothing(path, tmp_path, capsys):
    (tmp_path / "none.duckdb").write_bytes(b"no database" * 999)
    copy_whole(path, tmp_path / "log.duckdb")
    log_of(tmp_path / "log.duckdb").touch()
    with duckdb.connect(str(tmp_path / "other.duckdb")) as connection:
        connection.execute("CREATE TABLE mine AS SELECT 1 AS n")
    for name, why in (
        ("none", "it is no DuckDB database. Nothing was changed. Name a file that `flipscope backup` wrote."),
        ("other", "it is a database of something else."),
        ("log", "a log of its own"),
        ("a", "the database itself"),
    ):
        assert command.main(["restore", str(tmp_path / f"{name}.duckdb")]) == 1
        assert why in capsys.readouterr().err
    assert keys(path)[0] == {"before"} and not (tmp_path / "backups").exists()


def test_a_backup_never_takes_the_name_of_a_file_beside_the_database(path):
    for end in ("wal", "results"):
        with pytest.raises(BadInput, match="keeps for itself"):
            copy_whole(path, path.with_name(f"{path.name}.{end}"))
    assert keys(path)[0] == {"before"}


@pytest.mark.slow
def test_a_database_that_is_open_elsewhere_is_not_replaced(path, tmp_path):
    copy_whole(path, tmp_path / "copy.duckdb")
    ready = tmp_path / "ready"
    holder = subprocess.Popen([sys.executable, "-c", _HOLD, str(path), str(ready)])
    try:
        while not ready.exists():
            assert holder.poll() is None
        with pytest.raises(BadInput, match="open in another process"):
            go_back(path, tmp_path / "copy.duckdb")
    finally:
        holder.kill()
        holder.wait(30)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["noise", "zeros", "another file", "its own file", "a folder"])
def test_repair_of_a_log_that_is_none_is_a_sentence_and_keeps_the_file(path, tmp_path, kind):
    log, noise = log_of(path), random.Random(7)
    if kind == "a folder":
        log.mkdir()
    else:
        content = {
            "noise": noise.randbytes(5_000),
            "zeros": bytes(5_000),
            "another file": b"PK" + noise.randbytes(3_000),
            "its own file": path.read_bytes(),
        }
        log.write_bytes(content[kind])
    try:
        repaired = repair(path)
    except BadInput as error:
        assert str(path) in str(error)
    else:
        assert repaired is None or repaired.n_kept > 0
    if kind == "a folder":
        log.rmdir()
    assert keys(path)[0] == {"before"}


@pytest.fixture
def crashed(tmp_path):
    """A database whose last 12 commits stand in its log alone, as after a crash."""
    live, path = tmp_path / "live.duckdb", tmp_path / "b.duckdb"
    with duckdb.connect(str(live)) as connection:
        connection.execute("CREATE TABLE store_info (key TEXT PRIMARY KEY, value TEXT)")
        connection.execute("CHECKPOINT")
        for n in range(12):
            connection.execute("BEGIN")
            connection.execute("INSERT INTO store_info VALUES (?, ?)", [f"k{n}", "x" * 200])
            number = commits.count(connection)
            connection.execute("COMMIT")
        shutil.copyfile(live, path)
        shutil.copyfile(log_of(live), log_of(path))
    commits.write_beside(path, number)
    return path


def n_rows(path):
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute("SELECT count(*) FROM store_info WHERE starts_with(key, 'k')").fetchall()[0][0]


def test_a_whole_log_needs_no_repair(crashed):
    assert repair(crashed) is None and n_rows(crashed) == 12 and not log_of(crashed).exists()
    assert repair(crashed) is None and not (crashed.parent / "backups").exists()
    crashed.unlink()
    with pytest.raises(BadInput, match="There is no database"):
        repair(crashed)


def test_a_log_is_kept_up_to_its_damage(crashed):
    content = bytearray(log_of(crashed).read_bytes())
    content[content.index(b"x" * 100, len(content) // 2) + 50] ^= 1
    log_of(crashed).write_bytes(content)
    before = crashed.read_bytes()
    repaired = repair(crashed)
    assert 0 < repaired.n_kept < 12 and n_rows(crashed) == repaired.n_kept
    assert 0 < repaired.kept_bytes < repaired.log_bytes == len(content)
    assert [copy.read_bytes() for copy in repaired.copies] == [before, content] and not log_of(crashed).exists()
    assert f"misses the last {12 - repaired.n_kept} commits of 12" in repaired.missing
    with duckdb.connect(str(crashed)) as connection:
        assert commits.shortfall(connection, crashed) == ""  # it was said once
    sentence = repaired.sentence()
    assert f"Of the log {repaired.kept_bytes:,} of {len(content):,} bytes could be read" in sentence
    assert f"the file now holds commit {repaired.n_kept} and all before. {repaired.missing}" in sentence
    assert replace(repaired, missing="").sentence().endswith("No commit is known to be missing.")


def test_a_backup_of_a_crashed_database_holds_its_last_commits(crashed, tmp_path):
    log = log_of(crashed).read_bytes()
    assert copy_whole(crashed, tmp_path / "copy.duckdb")[0] == 12 and n_rows(tmp_path / "copy.duckdb") == 12
    assert log_of(crashed).read_bytes() == log  # the database itself stays as it is
    with pytest.raises(BadInput, match="exists already, and a backup replaces nothing"):
        copy_whole(crashed, tmp_path / "copy.duckdb")
    with pytest.raises(BadInput, match="There is no database"):
        copy_whole(tmp_path / "nothing.duckdb", tmp_path / "other.duckdb")


@pytest.mark.parametrize("n_checkpoints", [1, 4, 5])
def test_a_copy_with_a_checkpoint_in_between_is_taken_again_up_to_five_times(crashed, tmp_path, monkeypatch, n_checkpoints):
    states = [n for attempt in range(n_checkpoints) for n in (attempt, attempt + 1)] + [0, 0]
    monkeypatch.setattr(whole_copy, "_state", lambda path: states.pop(0))
    target = tmp_path / "copy.duckdb"
    if n_checkpoints < 5:
        assert copy_whole(crashed, target)[0] == 12 and states == []
        return
    with pytest.raises(BadInput, match="was written to so fast that no copy of one moment could be taken."):
        copy_whole(crashed, target)
    assert not target.exists()


@pytest.mark.parametrize("is_open", [True, False])
def test_a_database_that_another_process_has_open_is_neither_replaced_nor_repaired(path, tmp_path, monkeypatch, is_open):
    copy_whole(path, tmp_path / "copy.duckdb")
    connect = duckdb.connect
    message = "IO Error: Could not set lock on file" if is_open else "IO Error: a block is damaged"

    def refuse(name, **how):
        if name == str(path):
            raise duckdb.IOException(message)
        return connect(name, **how)

    monkeypatch.setattr(whole_copy.duckdb, "connect", refuse)
    with pytest.raises(
        BadInput, match="open in another process. Close it, then repair" if is_open else "cannot be repaired: IO Error"
    ):
        repair(path)
    if is_open:
        with pytest.raises(BadInput, match="is open in another process. Close it, then restore."):
            go_back(path, tmp_path / "copy.duckdb")
        return
    _, copies = go_back(path, tmp_path / "copy.duckdb")
    assert [copy.name.startswith("before-restore-") for copy in copies] == [True]
