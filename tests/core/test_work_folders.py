"""What a killed process leaves in the temporary folder is removed at the next start."""

import os
import subprocess
import sys
import tempfile

import pytest

from flipcore.core import work_folders
from flipcore.core.work_folders import work_folder
from flipcore.store.archiving import problems
from flipcore.store.connection import Store

_KILLED = """
import os
from flipcore.core.work_folders import make
(make("merge") / "copy.duckdb").write_bytes(b"x" * 1000)
os._exit(9)
"""
_KILLED_MERGE = """
import os, sys
from pathlib import Path
from flipcore.store import merge_source
merge_source._read_in_child = lambda *_: os._exit(9)
with merge_source.read_tables(Path(sys.argv[1])):
    pass
"""


@pytest.fixture(autouse=True)
def _place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()


def kill_one(tmp_path, code=_KILLED, *words):
    environment = {"TMPDIR": str(tmp_path / "temporary"), "PATH": "", "PYTHONPATH": ":".join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code, *words], env=environment, timeout=60).returncode == 9
    (folder,) = work_folders.abandoned()
    return folder


def test_a_folder_is_gone_after_its_block_and_nobody_elses_while_it_is_used():
    with work_folder("merge") as folder:
        (folder / "x").write_text("x", encoding="utf-8")
        assert work_folders.abandoned() == [] and work_folders.clear() == []
        assert (folder / "x").is_file() and folder.stat().st_mode & 0o077 == 0
    assert not folder.exists()


def test_opening_the_database_removes_what_a_killed_process_left(tmp_path):
    folder = kill_one(tmp_path)
    store = Store.open(tmp_path / "flips.duckdb")
    assert not folder.exists() and problems(store) == []
    store.close()


def test_verify_names_what_could_not_be_removed(tmp_path):
    store = Store.open(tmp_path / "flips.duckdb")
    folder = kill_one(tmp_path)
    assert any(str(folder) in sentence and "delete it" in sentence for sentence in problems(store))
    store.close()


@pytest.mark.slow
def test_a_killed_merge_leaves_its_copy_of_the_other_database_where_it_is_cleared(tmp_path):
    other = tmp_path / "other.duckdb"
    Store.open(other).close()
    folder = kill_one(tmp_path, _KILLED_MERGE, str(other))
    assert (folder / "copy.duckdb").is_file() and list((tmp_path / "temporary").iterdir()) == [folder.parent]
    assert work_folders.clear() == [folder] and not folder.exists()


def test_a_killed_process_of_the_same_id_left_its_folder(tmp_path):
    """In a container that starts again the dashboard is process 1 each time."""
    with work_folder("merge") as folder:
        left = folder.with_name(f"{os.getpid()}-merge-00000000")
        left.mkdir()
        assert work_folders.clear() == [left] and folder.is_dir()
