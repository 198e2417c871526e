"""A signal ends a command at any moment with a sentence and an exit code of its own."""

import os
import signal
import subprocess
import sys

import pytest

from flipcore import __main__ as main
from flipcore.core import interrupts
from tests.conftest import ROOT

# A command whose work is the code that a test gives; `begun` is a line that says that it is at work.
_COMMAND = """
import sys, time
from flipcore import __main__ as main
from flipcore.core import interrupts
from flipcore.core.errors import BadInput, NotStored
class Command:
    @staticmethod
    def add_arguments(parser): pass
    HELP = ""
    @staticmethod
    def act(options):
        {work}
        return 0
main.commands_by_name = lambda: {{"work": Command}}
sys.argv = ["flipscope", "work"]
sys.exit(interrupts.run(main.main))
"""
BEGUN = "sys.__stdout__.write('begun\\n'); sys.__stdout__.flush()"
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}


def ended(work: str, *signals: signal.Signals) -> tuple[int, str]:
    """Exit code and stderr of a command that got signals once it was at work."""
    indented = work.replace("\n", "\n        ")
    child = subprocess.Popen(
        [sys.executable, "-c", _COMMAND.format(work=indented)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "begun\n"
    for number in signals:
        os.kill(child.pid, number)
    try:
        _, err = child.communicate(timeout=60)
    finally:
        child.kill()
        child.wait()
    return child.returncode, err


@pytest.mark.parametrize("number", CODES)
def test_a_command_at_work_ends_with_a_sentence(number):
    code, err = ended(f"{BEGUN}\ntime.sleep(60)", number)
    assert code == CODES[number] and "Traceback" not in err
    assert "Stopped by" in err and "run the same command to continue" in err


@pytest.mark.parametrize("number", CODES)
def test_what_a_signal_breaks_off_may_fail_in_any_way(number):
    """DuckDB's query fails with an error of its own, and a child with an exit code."""
    work = f"try:\n    {BEGUN}\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    raise RuntimeError('Query interrupted')"
    code, err = ended(work, number)
    assert code == CODES[number] and "Traceback" not in err and "Stopped by" in err


def test_rows_that_were_not_stored_are_said_besides():
    work = f"try:\n    {BEGUN}\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    raise NotStored('The disk is full.')"
    code, err = ended(work, signal.SIGINT)
    assert code == 130 and "The disk is full." in err and "Stopped by" in err


def test_a_signal_in_a_finalizer_is_not_lost():
    work = f"class Slow:\n    def __del__(self):\n        {BEGUN}; time.sleep(2)\nslow = Slow()\ndel slow\ntime.sleep(60)"
    code, err = ended(work, signal.SIGTERM)
    assert code == 143 and "Traceback" not in err and "Stopped by" in err


@pytest.mark.slow
def test_a_command_that_ends_what_it_had_begun_says_143_for_sigterm():
    work = (
        "from flipcore.commands.opening import interruptible\n"
        f"with interruptible() as cancel:\n    {BEGUN}\n    cancel.wait(60)\n"
        "return 130"
    )
    assert ended(work, signal.SIGTERM) == (143, "")
    assert ended(work, signal.SIGINT) == (130, "")


def test_the_work_folder_of_a_stopped_command_is_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    work = f"from flipcore.core.work_folders import work_folder\nwith work_folder('merge'):\n    {BEGUN}\n    time.sleep(60)"
    assert ended(work, signal.SIGTERM)[0] == 143
    assert list(tmp_path.glob("flipscope-*/*")) == []


@pytest.mark.parametrize("came", [True, False])
def test_a_query_broken_off_while_commands_are_imported_is_a_sentence(monkeypatch, capsys, came):
    """DuckDB answers a signal with an error of its own, which hides that of Python."""

    def commands():
        if came:
            interrupts.note(signal.SIGINT)
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr(main, "commands_by_name", commands)
    if came:
        assert main.main(["stats", "x"]) == 130 and "Stopped by Ctrl-C." in capsys.readouterr().err
    else:
        with pytest.raises(RuntimeError):
            main.main(["stats", "x"])
    interrupts.forget()
