"""Work that takes long, in a thread of its own: which step it is at, for how long, and of about how
long."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import ContextVar
from typing import Generic, TypeVar

T = TypeVar("T")
_own: "ContextVar[Work | None]" = ContextVar("work", default=None)


class Work(Generic[T]):
    """`make` begins at once, in a thread; its holder may wait for the result, or leave."""

    def __init__(self, step: str, make: Callable[[], T]) -> None:
        self._outcome: Future[T] = Future()
        self._begin(step)
        threading.Thread(
            target=self._attempt, args=(make,), name="flipscope-work", daemon=True
        ).start()

    def result(self, wait_s: float) -> T:
        """Return what `make` returned. Raises TimeoutError where it has not returned within
        `wait_s`, else what `make` raised."""
        return self._outcome.result(wait_s)

    @property
    def has_ended(self) -> bool:
        return self._outcome.done()

    @property
    def line(self) -> str:
        """The step, its seconds, and how many it may take where that is known."""
        seconds = time.monotonic() - self._since
        most = "" if self._about_s is None else f" of about {max(self._about_s, seconds):.0f}"
        return f"{self._step} … {seconds:.0f}{most} s"

    def _begin(self, step: str, about_s: float | None = None) -> None:
        self._step, self._about_s, self._since = step, about_s, time.monotonic()

    def _attempt(self, make: Callable[[], T]) -> None:
        _own.set(self)
        try:
            self._outcome.set_result(make())
        except BaseException as error:  # whoever waits raises it
            self._outcome.set_exception(error)


def at_work() -> bool:
    """Tell whether this is the thread of some work."""
    return _own.get() is not None


def say_step(step: str, about_s: float | None = None) -> None:
    """Say in a work's thread that a step of about so many seconds begins; else do nothing."""
    if (work := _own.get()) is not None:
        work._begin(step, about_s)
