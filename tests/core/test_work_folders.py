"""What a killed process leaves in the temporary folder is removed at the next start."""

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


@pytest.fixture(autouse=True)
def _place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()


def kill_one(tmp_path):
    environment = {"TMPDIR": str(tmp_path / "temporary"), "PATH": "", "PYTHONPATH": ":".join(sys.path)}
    assert subprocess.run([sys.executable, "-c", _KILLED], env=environment, timeout=60).returncode == 9
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
