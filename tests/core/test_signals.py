"""A few signals of `tests.core.signals`, whose table holds many of every command."""

import signal

import pytest

from tests.core import signals

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("signals") / "base"
    folder.mkdir()
    signals.prepare(folder)
    return folder


@pytest.mark.parametrize("number", signals.SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("command", ["import", "run", "merge", "audit", "repair", "backup"])
def test_a_signal_ends_a_command_with_a_sentence_and_loses_no_row(base, command, number):
    ends = signals.interrupt(base, command, number, n=1)
    assert ends.faults == [] and ends.n_by_end.total() == 1


def test_a_fault_would_be_seen():
    ends = signals.Ends()
    signals.judge(ends, 1, "", "Traceback (most recent call last):\n  flipcore", signal.SIGINT, 0)
    assert len(ends.faults) == 2
