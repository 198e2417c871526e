"""Ctrl-C and SIGTERM become an event; a second Ctrl-C ends at once."""

import os
import signal
import threading

import pytest

from flipcore.commands.opening import interruptible


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_sets_the_event_and_the_handlers_come_back(number):
    before = signal.getsignal(number)
    with interruptible() as cancel:
        assert not cancel.is_set()
        os.kill(os.getpid(), number)
        assert cancel.wait(2)
    assert signal.getsignal(number) is before


def test_a_second_ctrl_c_ends_at_once():
    def interrupted():
        with interruptible() as cancel:
            os.kill(os.getpid(), signal.SIGINT)
            assert cancel.wait(2)
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait(2)

    with pytest.raises(KeyboardInterrupt):
        interrupted()


def test_another_thread_gets_an_event_and_touches_no_handler():
    events = []

    def work():
        with interruptible() as cancel:
            events.append(cancel.is_set())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(5)
    assert events == [False]
