"""Where FLIPSCOPE_HOME cannot be written to, commands work, and one that has to write there says so."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT

BWRAP = shutil.which("bwrap")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BWRAP is None, reason="bubblewrap makes the folder read-only, also for root"),
]
# Each with its exit code; the database lies in another folder.
COMMANDS = [
    (["import", "a.csv"], 0),
    (["audit", "a.csv"], 0),
    (["check", "a.csv", "a.csv", "--margin", "5pp"], 0),
    (["verify"], 0),
    (["backup", "b.duckdb"], 0),
    (["models", "list"], 0),
    (["access", "status"], 0),
    (["access", "on"], 1),
    (["models", "add", "mine", "--model", "m", "--endpoint", "http://localhost:9/v1", "--no-test"], 1),
]


def test_commands_work_or_say_that_the_folder_cannot_be_written_to(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    rows = "".join(f"q{number},m,{int(number % 4 > 0)}\n" for number in range(200))
    (tmp_path / "a.csv").write_text(f"item,model,score\n{rows}", encoding="utf-8")
    environment = os.environ | {
        "FLIPSCOPE_HOME": str(home),
        "FLIPSCOPE_DB": str(tmp_path / "f.duckdb"),
        "PYTHONPATH": str(ROOT),
    }
    read_only = [str(BWRAP), "--dev-bind", "/", "/", "--ro-bind", str(home), str(home)]
    for words, code in COMMANDS:
        command = [*read_only, sys.executable, "-m", "flipcore", *words]
        ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert "Traceback" not in ended.stderr, (words, ended.stderr)
        assert ended.returncode == code, (words, ended.returncode, ended.stderr)
        if code:
            assert "Read-only file system" in ended.stderr, (words, ended.stderr)
    assert not list(home.iterdir())
