"""The installed command opens the dashboard, or hands its words on."""

import subprocess
import sys

import pytest

from flipcore import launch
from tests.conftest import ROOT


def test_the_command_opens_the_dashboard_or_hands_the_words_on(monkeypatch):
    monkeypatch.setattr(launch, "open_dashboard", lambda options: 7 if options == ["--server.port", "9000"] else 1)
    monkeypatch.setattr(sys, "argv", ["flipscope", "--server.port", "9000"])
    assert launch.main() == 7
    assert launch.dashboard_command(["--server.port", "9000"])[-3:] == [str(ROOT / "app.py"), "--server.port", "9000"]
    monkeypatch.setattr("flipcore.__main__.main", lambda words: words)
    monkeypatch.setattr(sys, "argv", ["flipscope", "stats", "demo"])
    assert launch.main() == ["stats", "demo"]


STAND_IN = """
import sys
from flipcore import launch
launch.dashboard_command = lambda options: [sys.executable, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(60)"]
sys.argv = ["flipscope"]
sys.exit(launch.main())
"""


@pytest.mark.skipif(not launch.CAN_BECOME_ANOTHER, reason="only here a process can become another")
def test_ending_the_command_ends_the_dashboard():
    """A process of its own below the command would go on, and hold the database, when only the command is told to end."""
    command = subprocess.Popen([sys.executable, "-c", STAND_IN], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert int(command.stdout.readline()) == command.pid
    finally:
        command.terminate()
        command.communicate(timeout=20)


def test_where_a_process_cannot_become_another_the_command_waits_for_the_dashboard(monkeypatch):
    monkeypatch.setattr(launch, "CAN_BECOME_ANOTHER", False)
    monkeypatch.setattr(launch.subprocess, "run", lambda command, **kw: subprocess.CompletedProcess(command, 7))
    assert launch.open_dashboard(["--server.port", "9000"]) == 7
