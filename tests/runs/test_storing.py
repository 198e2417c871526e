"""Nothing counts as done before it is stored; the first fault is kept and raised."""

import asyncio
from concurrent.futures import Future

import pytest

from flipcore.runs.storing import Storing


class Disk:
    """A writer whose rows are safe, or fail, when the test says so."""

    def __init__(self):
        self.futures = []

    def add_together(self, parts):
        self.futures.append(Future())
        return self.futures[-1]


def test_who_waits_is_told_when_the_rows_are_safe():
    disk, told = Disk(), []
    storing = Storing(disk)
    storing.add([("readouts", [])], told.append)
    assert told == []
    disk.futures[0].set_result(None)
    asyncio.run(storing.safe())
    assert told == [None] and storing.problem is None


def test_the_first_fault_is_raised_at_the_end():
    disk, told = Disk(), []
    storing = Storing(disk)
    for _ in range(2):
        storing.add([], told.append)
    first, second = OSError("The disk is full."), OSError("again")
    disk.futures[1].set_exception(first)
    disk.futures[0].set_exception(second)
    with pytest.raises(OSError, match="full"):
        asyncio.run(storing.safe())
    assert told == [first, second]
