"""Long work in a thread of its own, with its current step and the seconds of that step."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import ContextVar
from typing import Generic, TypeVar

T = TypeVar("T")
_current_work: "ContextVar[Work | None]" = ContextVar("work", default=None)


class Work(Generic[T]):
    """A call of `make` in its own thread; its owner may wait for the result or go away.
    `step` names the first step; `make` names the next ones with `say_step`."""

    def __init__(self, step: str, make: Callable[[], T]) -> None:
        self._outcome: Future[T] = Future()
        self._begin(step)
        threading.Thread(
            target=self._attempt, args=(make,), name="flipscope-work", daemon=True
        ).start()

    def result(self, wait_s: float) -> T:
        """Return what `make` returned, or raise what it raised; TimeoutError after `wait_s`."""
        return self._outcome.result(wait_s)

    @property
    def has_ended(self) -> bool:
        return self._outcome.done()

    @property
    def line(self) -> str:
        """The step, its seconds so far, and the expected seconds if they are known."""
        seconds = time.monotonic() - self._since
        expected = "" if self._about_s is None else f" of about {max(self._about_s, seconds):.0f}"
        return f"{self._step} … {seconds:.0f}{expected} s"

    def _begin(self, step: str, about_s: float | None = None) -> None:
        self._step, self._about_s, self._since = step, about_s, time.monotonic()

    def _attempt(self, make: Callable[[], T]) -> None:
        _current_work.set(self)
        try:
            self._outcome.set_result(make())
        except BaseException as error:  # `result` raises it
            self._outcome.set_exception(error)


def at_work() -> bool:
    """Tell whether this thread runs the `make` of a work."""
    return _current_work.get() is not None


def say_step(step: str, about_s: float | None = None) -> None:
    """Begin the next step of this thread's work, of about `about_s` seconds.
    In a thread without work it does nothing."""
    if (work := _current_work.get()) is not None:
        work._begin(step, about_s)
