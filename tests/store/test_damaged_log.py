"""A damaged log of the last commits is named and repaired, and lost commits are said."""

import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from flipcore.__main__ import main
from flipcore.core.errors import BadInput
from flipcore.store import whole_copy
from flipcore.store.connection import Store
from flipcore.store.whole_copy import Repaired, copy_whole, log_of, repair

# Commits stand in the log alone, because the process is gone before a checkpoint.
_KILLED = """
import os, sys
from flipcore.store.connection import Store
store = Store.open(sys.argv[1])
store.writer.checkpoint()
for i in range(12):
    store.writer.add("store_info", [{"key": f"k{i}", "value": "x" * 200}]).result(30)
os._exit(0)
"""


_COPY = """
import sys
from pathlib import Path
from flipcore.store.whole_copy import copy_whole
print(copy_whole(*map(Path, sys.argv[1:]))[0])
"""


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A folder with a database and a home, as a killed process leaves them."""
    folder = tmp_path_factory.mktemp("killed")
    environment = {"FLIPSCOPE_HOME": str(folder / "home"), "PATH": "", "PYTHONPATH": ":".join(sys.path)}
    subprocess.run([sys.executable, "-c", _KILLED, str(folder / "a.duckdb")], env=environment, check=True, timeout=100)
    return folder


@pytest.fixture
def path(killed, tmp_path, monkeypatch):
    """That database at a path of its own."""
    shutil.copytree(killed, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path / "home"))
    return tmp_path / "a.duckdb"


def kept(store):
    return store.rows("SELECT count(*) FROM store_info WHERE key LIKE 'k%'")[0][0]


def change(path, change_bytes):
    log = log_of(path)
    log.write_bytes(change_bytes(bytearray(log.read_bytes())))


def flip(content, place):
    content[place] ^= 1
    return bytes(content)


def flip_payload(content):
    """One bit of the text that a commit in the middle wrote."""
    return flip(content, content.index(b"x" * 100, len(content) // 2) + 50)


@pytest.mark.slow
def test_a_whole_log_is_read_and_nothing_is_said(path, caplog):
    store = Store.open(path)
    assert kept(store) == 12 and not store.lost_commits and not caplog.text
    store.close()


@pytest.mark.slow
def test_a_flipped_byte_is_named_and_repaired_up_to_it(path):
    change(path, flip_payload)
    with pytest.raises(BadInput, match=r"a\.duckdb\.wal, the log .*, is damaged at byte .* repair"):
        Store.open(path)
    before = log_of(path).read_bytes()
    repaired = repair(path)
    assert 0 < repaired.kept_bytes < repaired.log_bytes == len(before)
    assert repaired.copies[1].read_bytes() == before
    store = Store.open(path)
    n_kept = kept(store)
    assert 0 < n_kept < 12 and f"misses the last {12 - n_kept} commits of 12" in repaired.sentence()
    assert not store.lost_commits  # said by the repair, and once
    store.writer.add("store_info", [{"key": "later", "value": "x"}]).result(30)
    store.close()


@pytest.mark.slow
def test_a_flipped_head_keeps_what_the_last_checkpoint_held(path):
    change(path, lambda content: flip(content, 20))
    with pytest.raises(BadInput, match="log of the last commits, is damaged"):
        Store.open(path)
    assert "misses the last 12 commits of 12" in repair(path).sentence()
    store = Store.open(path)
    assert kept(store) == 0
    store.close()


@pytest.mark.slow
def test_the_command_repairs_and_says_what_is_missing(path, monkeypatch, capsys):
    monkeypatch.setenv("FLIPSCOPE_DB", str(path))
    change(path, flip_payload)
    assert main(["repair"]) == 0
    assert "could be read; the file now holds commit" in capsys.readouterr().out
    assert main(["repair"]) == 0
    assert "Nothing was done" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("damage", "is_copied"),
    [
        (lambda log: bytes(64) + log[64:], True),
        (lambda log: log[: len(log) // 2], True),
        (lambda log: b"", False),
        (None, False),
    ],
    ids=["no head", "half", "empty", "removed"],
)
def test_commits_that_duckdb_leaves_out_without_a_word_are_said_at_opening(path, caplog, damage, is_copied):
    log_of(path).unlink() if damage is None else change(path, damage)
    store = Store.open(path)
    n_lost = 12 - kept(store)
    assert n_lost > 0 and f"misses the last {n_lost} commits of 12" in store.lost_commits and store.lost_commits in caplog.text
    copied = list((path.parent / "backups").glob("damaged-*.wal"))
    assert bool(copied) == ("copied to" in store.lost_commits) == is_copied
    store.writer.add("store_info", [{"key": "later", "value": "x"}]).result(30)
    store.close()
    again = Store.open(path)
    assert not again.lost_commits
    again.close()


def test_a_new_file_where_one_was_deleted_lost_nothing(path, caplog):
    path.unlink()
    log_of(path).unlink()
    store = Store.open(path)
    assert not store.lost_commits and not caplog.text
    store.close()


def test_nothing_is_repaired_where_all_can_be_read(path):
    store = Store.open(path)
    store.close()
    assert repair(path) is None
    with pytest.raises(BadInput, match="There is no database"):
        repair(path.with_name("none.duckdb"))


@pytest.mark.slow
def test_an_open_database_is_backed_up_whole(path, tmp_path):
    store = Store.open(path)
    store.writer.add("store_info", [{"key": "k-open", "value": "x"}]).result(30)
    target = tmp_path / "copy.duckdb"
    done = subprocess.run([sys.executable, "-c", _COPY, str(path), str(target)], capture_output=True, text=True, timeout=100)
    store.close()
    assert done.returncode == 0, done.stderr
    copy = Store.open(target)
    assert kept(copy) == 13 and int(done.stdout) == 13
    copy.close()
    with pytest.raises(BadInput, match="exists already"):
        copy_whole(path, target)


def test_a_database_in_memory_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = Store.open(":memory:")
    store.writer.add("store_info", [{"key": "k", "value": "x"}]).result(30)
    store.close()
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_database_is_not_backed_up_as_if_it_were_whole(path, tmp_path):
    change(path, flip_payload)
    with pytest.raises(BadInput, match="is damaged at byte .* repair"):
        copy_whole(path, tmp_path / "copy.duckdb")
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(BadInput, match="cannot be copied"):
        copy_whole(path, tmp_path / "copy.duckdb")
    assert not (tmp_path / "copy.duckdb").exists()


def test_a_log_that_stays_unread_up_to_its_end_is_left_out(tmp_path, monkeypatch):
    """The same bytes are not tried for ever."""
    path, draft, tries = tmp_path / "a.duckdb", tmp_path / "draft.duckdb", []
    path.write_bytes(b"database")
    log_of(path).write_bytes(b"0123456789")

    def refuse(_):
        tries.append(log_of(draft).read_bytes())
        assert len(tries) < 5
        raise duckdb.Error(f"Failure at byte position {min(7, len(tries[-1]))}: no checksum")

    monkeypatch.setattr(whole_copy.duckdb, "connect", refuse)
    assert whole_copy._copy_readable(path, log_of(path), draft) == 0
    assert tries == [b"0123456789", b"0123456"]
    assert draft.read_bytes() == b"database" and not log_of(draft).exists()


@pytest.fixture
def logged(tmp_path):
    """A small database whose last commit stands in its log, and the bytes of the log before it."""
    path = tmp_path / "b.duckdb"
    with closing(duckdb.connect(str(path))) as connection:
        connection.execute("PRAGMA disable_checkpoint_on_shutdown")
        connection.execute("CREATE TABLE t (n INTEGER)")
        connection.execute("INSERT INTO t VALUES (1)")
        n_bytes = log_of(path).stat().st_size
        connection.execute("INSERT INTO t VALUES (2)")
    return path, n_bytes


@pytest.mark.parametrize("is_cut", [False, True])
def test_the_readable_part_of_a_log_is_copied_and_no_log_beside_it(logged, tmp_path, is_cut):
    path, n_bytes = logged
    log, draft = log_of(path), tmp_path / "draft.duckdb"
    content = log.read_bytes()
    if is_cut:
        log.write_bytes(content[: n_bytes + 20] + bytes(20))
    kept_bytes = whole_copy._copy_readable(path, log, draft)
    assert n_bytes <= kept_bytes < n_bytes + 20 if is_cut else kept_bytes == len(content)
    assert not log_of(draft).exists()
    with closing(duckdb.connect(str(draft), read_only=True)) as connection:
        assert connection.execute("SELECT n FROM t ORDER BY n").fetchall() == [(1,), (2,)][: 1 if is_cut else 2]


@pytest.mark.parametrize(
    ("missing", "end"), [("", "No commit is known to be missing."), ("One is missing.", "One is missing.")]
)
def test_a_repair_says_what_was_kept(missing, end):
    repaired = Repaired((Path("a"), Path("b")), n_kept=1_200, kept_bytes=3_000, log_bytes=4_000, missing=missing)
    assert repaired.sentence() == (
        "The damaged files were copied to a and b. Of the log 3,000 of 4,000 bytes could be read; the file now holds commit 1,200 "
        f"and all before. {end}"
    )
