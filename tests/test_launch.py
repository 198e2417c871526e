"""The installed command opens the dashboard, or hands its words on."""

import subprocess
import sys

from flipcore import launch
from tests.conftest import ROOT


def test_the_command_opens_the_dashboard_or_hands_the_words_on(monkeypatch):
    monkeypatch.setattr(launch.subprocess, "run", lambda command, **kw: subprocess.CompletedProcess(command, 7))
    monkeypatch.setattr(sys, "argv", ["flipscope", "--server.port", "9000"])
    assert launch.main() == 7
    assert launch.dashboard_command(["--server.port", "9000"])[-3:] == [str(ROOT / "app.py"), "--server.port", "9000"]
    monkeypatch.setattr("flipcore.__main__.main", lambda words: words)
    monkeypatch.setattr(sys, "argv", ["flipscope", "stats", "demo"])
    assert launch.main() == ["stats", "demo"]
