"""The installed command opens the dashboard, or hands its words on."""

import os
import subprocess
import sys

import pytest

from flipcore import launch
from flipcore.core.command_line import STARTED_AS
from tests.conftest import ROOT


def test_the_command_opens_the_dashboard_or_hands_the_words_on(monkeypatch):
    monkeypatch.setenv(STARTED_AS, "")  # main sets it; the other tests have it as it was
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


NAMES_ITS_COMMAND = """
import sys
from flipcore import launch
launch.dashboard_command = lambda options: [
    sys.executable, "-c", "from flipcore.core.command_line import command; print(command('access on'))"
]
sys.argv = ["flipscope"]
sys.exit(launch.main())
"""


def test_a_dashboard_that_the_command_became_names_the_command():
    told = subprocess.run([sys.executable, "-c", NAMES_ITS_COMMAND], cwd=ROOT, capture_output=True, text=True)
    assert told.stdout.strip() == "flipscope access on", told.stderr


NAMES_ITS_MEMORY = """
import sys
from flipcore import launch
launch.dashboard_command = lambda options: [
    sys.executable, "-c", "import os; print(os.environ['ARROW_DEFAULT_MEMORY_POOL'], os.environ['MALLOC_ARENA_MAX'])"
]
sys.argv = ["flipscope"]
sys.exit(launch.main())
"""


@pytest.mark.parametrize(
    ("own", "expected"), [({}, "system 2"), ({"MALLOC_ARENA_MAX": "8"}, "system 8")], ids=["nothing set", "one set by its user"]
)
def test_a_dashboard_gives_freed_memory_back_and_keeps_what_its_user_set(own, expected):
    environment = {name: value for name, value in os.environ.items() if name not in launch.MEMORY_VARIABLES} | own
    told = subprocess.run([sys.executable, "-c", NAMES_ITS_MEMORY], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert told.stdout.strip() == expected, told.stderr


SCRIPT = "import sys; from flipcore import launch; sys.argv = ['flipscope', *sys.argv[1:]]; sys.exit(launch.main())"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("start", "name"), [(["-c", SCRIPT], "flipscope"), (["-m", "flipcore"], "python -m flipcore")], ids=["script", "module"]
)
def test_sentences_name_the_command_as_it_was_started(start, name, tmp_path):
    environment = {key: value for key, value in os.environ.items() if key != STARTED_AS}
    environment |= {"FLIPSCOPE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}

    def said(*words: str) -> str:
        told = subprocess.run([sys.executable, *start, *words], cwd=tmp_path, env=environment, capture_output=True, text=True)
        return told.stdout + told.stderr

    assert f"Add one: {name} models add NAME" in said("models", "list")
    assert f"usage: {name} " in said("--help")
