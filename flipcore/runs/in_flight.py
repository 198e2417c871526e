"""Calls that some run of this process has sent, so that two studies never buy the same one."""

from __future__ import annotations

import threading
from concurrent.futures import Future

from flipcore.core.errors import FlipscopeError
from flipcore.core.records import Completion


class NotAsked(FlipscopeError):
    """The run that had taken the call stopped before it sent it."""


class InFlight:
    """A call is here from the moment that a run takes it until its completion is stored."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: dict[str, Future[Completion]] = {}
        self._safe_ids: set[str] = set()

    def begin(self, call_id: str) -> tuple[Future[Completion] | None, Future[Completion] | None]:
        """(mine, None) when the caller is to ask it, (None, another's) when it is on its way, (None, None) when it was stored
        since this process began."""
        with self._lock:
            if call_id in self._safe_ids:
                return None, None
            if call_id in self._calls:
                return None, self._calls[call_id]
            mine = self._calls[call_id] = Future()
            return mine, None

    def give_up(self, call_id: str, why: BaseException) -> None:
        """The call brought nothing; who waits for it asks it themselves."""
        with self._lock:
            self._calls.pop(call_id).set_exception(why)

    def end(self, call_id: str, completion: Completion, error: BaseException | None) -> None:
        """The completion is stored, or could not be (`error`)."""
        if error is not None:
            self.give_up(call_id, error)
            return
        with self._lock:
            if completion.status == "ok":
                self._safe_ids.add(call_id)
            self._calls.pop(call_id).set_result(completion)
