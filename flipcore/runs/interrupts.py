"""Ctrl-C and SIGTERM as an event, so that a run or an import ends where nothing is lost."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """An event that Ctrl-C or SIGTERM sets, so that what is on its way comes in and is stored; a second Ctrl-C ends at once."""
    cancel = threading.Event()

    def stop(number, frame) -> None:
        if cancel.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        cancel.set()

    if threading.current_thread() is not threading.main_thread():
        yield cancel
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield cancel
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
