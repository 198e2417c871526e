"""Work in a thread of its own: its line, its steps, and what it raises."""

import re
import threading

import pytest

from flipcore.core.work import Work, at_work, say_step


def test_a_work_says_its_step_and_hands_over_what_it_made():
    go_on, second = threading.Event(), threading.Event()

    def make() -> str:
        assert go_on.wait(10)
        say_step("Counting", about_s=40)
        second.set()
        assert go_on.wait(10) and at_work()
        return "made"

    work = Work("Reading", make)
    with pytest.raises(TimeoutError):
        work.result(0.01)
    assert not work.has_ended and re.fullmatch(r"Reading … \d s", work.line)
    go_on.set()
    assert second.wait(10) and re.fullmatch(r"Counting … \d of about 40 s", work.line)
    assert work.result(10) == "made" and work.has_ended


def test_what_a_work_raises_reaches_whoever_waits_also_a_timeout_of_its_own():
    def fail() -> None:
        raise TimeoutError("the server")

    work = Work("Asking", fail)
    with pytest.raises(TimeoutError, match="the server"):
        work.result(10)
    assert work.has_ended


def test_outside_of_a_work_nothing_is_said():
    say_step("Reading")
    assert not at_work()


def test_seconds_said_beforehand_are_never_fewer_than_those_that_passed(monkeypatch):
    work = Work("Reading", lambda: say_step("Counting", about_s=2))
    work.result(10)
    monkeypatch.setattr("flipcore.core.work.time.monotonic", lambda: work._since + 9)
    assert work.line == "Counting … 9 of about 9 s"
