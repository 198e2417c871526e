"""Ask models. Runs, judges, surveys and proposals all ask through `Asking`.

A call whose answer is stored is not made again. If somebody else has just sent the call, its reply
is waited for. Calls keep to the budget, and to the number that their server takes at once. Each
reply is stored with its price as it arrives.

An asking may end because all calls were made, somebody stopped it, the budget is used up, a server
is gone, or an error occurred. In every case, replies to calls already sent are stored first.
"""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from types import MappingProxyType, TracebackType
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from flipcore.core.contracts import Backend
from flipcore.core.errors import FlipscopeError
from flipcore.core.records import Call, Completion
from flipcore.models.cards import ModelCard
from flipcore.runs.cluster.place import Place, Slot, ThisProcess
from flipcore.runs.cost import call_bound, dollars, lost_price
from flipcore.runs.progress import CANCELLED, FAILED, OVER_BUDGET, Progress
from flipcore.store import rows
from flipcore.store.connection import ALL_STUDIES, Store
from flipcore.store.queries import budgets, planning
from flipcore.store.writer import Part, Writer

# A study has one cap over all its runs. It covers money spent, calls on their way, and the next
# call. The amount set aside for a call is an upper bound if the server bills at most one token per
# byte of the prompt and no more output tokens than the limit. Only a bill shows that a server
# charges more. So calls to models without a bill yet go out one at a time. The cap can still be
# exceeded by one such call, and by a model whose bills keep rising.

_ROUNDING_USD = 1e-12  # sums of floats


class Spending:
    """The money of one study. `spent_usd` counts all its runs; without a cap no paid call is made.

    `overbilling` is model -> its largest known ratio of a bill to the bound of the call. It raises
    the amount set aside for further calls. Models without a bill in this run have, all together,
    only one call on its way at a time.
    """

    def __init__(
        self,
        cap_usd: float | None,
        spent_usd: float,
        cards: Mapping[str, ModelCard],
        overbilling: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        self.cap_usd, self.spent_usd, self.cards = cap_usd, spent_usd, cards
        self.reserved_usd = 0.0
        self._overbilling = dict(overbilling)
        self._billed: set[str] = set()
        self._n_on_way: dict[str, int] = {}

    def bound(self, call: Call) -> float:
        """Return the most that the call should cost, in USD, from its bytes."""
        return call_bound(call, self.cards.get(call.model)) or 0.0

    def bound_by_bills(self, call: Call) -> float:
        """Return the most that the call may cost, in USD, given what this server billed so far."""
        return self.bound(call) * self._overbilling.get(call.model, 1.0)

    def can_wait(self) -> bool:
        """Return whether the bills of calls on their way may still leave room for another call."""
        return any(self._n_on_way.values())

    def reserve(self, call: Call) -> float | None:
        """Set aside the most that the call may cost and return it; None while it does not fit."""
        price = self.bound_by_bills(call)
        if price == 0:
            return 0.0
        if self.cap_usd is None:
            return None
        if call.model not in self._billed:
            # How far this server bills beyond the bound is not known yet, so its call goes alone.
            n_unbilled = sum(n for model, n in self._n_on_way.items() if model not in self._billed)
            if n_unbilled:
                return None
        if self.spent_usd + self.reserved_usd + price > self.cap_usd + _ROUNDING_USD:
            return None
        self.reserved_usd += price
        self._n_on_way[call.model] = self._n_on_way.get(call.model, 0) + 1
        return price

    def release(self, call: Call, reserved: float) -> None:
        """Release the amount set aside for a call that came back, or was never sent."""
        if reserved:
            self.reserved_usd = max(0.0, self.reserved_usd - reserved)
            self._n_on_way[call.model] -= 1

    def settle(self, call: Call, completion: Completion) -> float:
        """Add the call's cost to `spent_usd` and return it.

        The cost is the bill. It is `bound_by_bills` where the bill is unknown, because the reply
        has no token counts. The input of attempts without an answer is added, because it may have
        been billed.
        """
        lost, bound = self.lost(call, completion), self.bound(call)
        if completion.status != "ok" and completion.cost_usd is None:
            self.spent_usd += lost
            return lost
        bill = self.bound_by_bills(call) if completion.cost_usd is None else completion.cost_usd
        if bound:
            known_ratio = self._overbilling.get(call.model, 1.0)
            self._overbilling[call.model] = max(known_ratio, bill / bound)
            self._billed.add(call.model)
        self.spent_usd += bill + lost
        return bill + lost

    def lost(self, call: Call, completion: Completion) -> float:
        """Return the most that the input of attempts without an answer cost, in USD."""
        return completion.n_lost * lost_price(call, self.cards.get(call.model))


REPORT_S = 0.5
MAX_UNSTORED = 2_000  # batches on their way to the disk; with more of them a run waits
_POLL_S = 0.02
T = TypeVar("T")


class Asking:
    """Models that can be asked within `async with Asking(…) as asking:`.

    `progress` counts calls whose replies are stored. `ending` is the state in which the asking
    stopped (CANCELLED, FAILED or OVER_BUDGET), "" while nothing stopped it.
    """

    def __init__(
        self,
        store: Store,
        payer: str,
        models: Iterable[str],
        cards: Mapping[str, ModelCard],
        cap_usd: float | None,
        spent_usd: float = 0.0,
        *,
        links_calls: bool = False,
        cancel: threading.Event | None = None,
        place: Place | None = None,
        on_report: Callable[[], None] = lambda: None,
        resume_hint: str = "The same again asks only the missing ones.",
    ) -> None:
        """Prepare to ask `models`.

        - `payer` is the id that purchases are recorded under.
        - `cap_usd` is the budget, `spent_usd` its spent part. Without a budget only free calls are
          made.
        - `links_calls`: link the calls to `payer`, which is then a study.
        - `place` is where models are asked, this process by default. The caller closes it.
        - `resume_hint` is a sentence for the user on how to go on after an error.
        """
        self.store = store
        self.payer, self.links_calls = payer, links_calls
        self.names = list(dict.fromkeys(models))
        self.cards = dict(cards)
        self.spending = Spending(cap_usd, spent_usd, self.cards, budgets.overbilling(store))
        self.cancel = cancel or threading.Event()
        self.place = place or ThisProcess()
        self.progress = Progress()
        self.ending, self.first_error = "", ""
        self.other_models: set[str] = set()  # names in replies that are not the model asked
        self.storing = Storing(store.writer)
        self.stored_calls = StoredCalls(store, self.names)
        self.backends: dict[str, Backend] = {}
        self._slots: dict[str, Slot] = {}
        self._calls_in_flight = InFlight.of_store(store)
        self._unfinished: set[asyncio.Future] = set()
        self._on_report, self._resume_hint = on_report, resume_hint
        self._counting = threading.Lock()

    async def __aenter__(self) -> "Asking":
        try:
            for name in self.names:
                self.backends[name] = self.place.open(name, self.cards)
                self._slots[name] = self.place.slots(name, self.cards)
        except BaseException:
            await self._close()
            raise
        self._watching = asyncio.create_task(self._watch())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(error, Exception):
            self.fault(error)
        elif error is not None:
            self.stop(CANCELLED)
        try:
            while self._unfinished:
                await asyncio.wait(self._unfinished)
            await self.storing.until_stored()
        except Exception as problem:
            self.fault(problem)
        finally:
            self._watching.cancel()
            await self._close()

    async def _close(self) -> None:
        for backend in self.backends.values():
            try:
                await backend.close()
            except Exception as error:
                self.fault(error)

    @property
    def why(self) -> str:
        """A sentence on why the asking stopped; "" if all calls were made."""
        if self.ending == OVER_BUDGET:
            return f"The budget of {dollars(self.spending.cap_usd or 0.0)} is used up."
        return "It was stopped." if self.ending == CANCELLED else self.progress.message

    def stop(self, state: str, message: str = "") -> None:
        """Stop asking; the first reason counts. Calls that wait for another attempt are given up.
        Calls on their way are still received."""
        if self.ending:
            return
        self.ending, self.progress.message = state, message
        for backend in self.backends.values():
            backend.halt()

    def fault(self, error: BaseException) -> None:
        """Stop asking because of an error; an internal one is logged with its traceback."""
        if isinstance(error, FlipscopeError):
            self.stop(FAILED, str(error))
            return
        logging.getLogger(__name__).error("Asking stopped on an internal fault", exc_info=error)
        self.stop(
            FAILED,
            f"The run stopped on an internal fault ({type(error).__name__}: {error}). Nothing"
            f" stored is lost. {self._resume_hint}",
        )

    def check_stopped(self) -> bool:
        """Return whether no further call may begin; a cancellation or a failed write stops it."""
        if self.cancel.is_set():
            self.stop(CANCELLED)
        if self.storing.problem:
            self.fault(self.storing.problem)
        return bool(self.ending)

    async def _watch(self) -> None:
        while True:
            # A cancellation must also reach calls that wait for another attempt.
            self.check_stopped()
            self._on_report()
            await asyncio.sleep(REPORT_S)

    async def do_each(
        self, jobs: Iterable[T], work: Callable[[T], Awaitable[None]], n_workers: int
    ) -> None:
        """Do the jobs in order, with `n_workers` workers at once, until the asking stops."""
        remaining_jobs = iter(jobs)

        async def worker() -> None:
            for job in remaining_jobs:
                if self.check_stopped():
                    return
                try:
                    await work(job)
                except Exception as error:  # calls on their way must still be received
                    self.fault(error)

        await asyncio.gather(*(worker() for _ in range(n_workers)))

    async def replies(self, calls: Sequence[Call]) -> dict[str, Completion]:
        """Return completions by call id: stored ones, and those that are bought now. Failed
        completions are included. A call that was not made because the asking stopped is absent."""
        answered = [call for call in calls if call.call_id in self.stored_calls]
        completions = self._stored_replies(answered)
        missing = {call.call_id: call for call in calls if call.call_id not in completions}
        if not missing:
            return completions
        bought = asyncio.gather(*map(self._ask, missing.values()), return_exceptions=True)
        self._unfinished.add(bought)
        bought.add_done_callback(self._unfinished.discard)
        # The caller may be cancelled; calls that are paid for must be received all the same.
        for reply in await asyncio.shield(bought):
            if isinstance(reply, BaseException):
                raise reply
            if reply is not None:
                completions[reply.call_id] = reply
        return completions

    def _stored_replies(self, calls: Sequence[Call]) -> dict[str, Completion]:
        """Return stored completions by call id, count them as reused, and link them to the payer if
        calls are linked. Failed ones are absent, to be asked again."""
        if not calls:
            return {}
        completion_rows = planning.completions(self.store, [call.call_id for call in calls])
        if completion_rows:
            call_ids = [row["call_id"] for row in completion_rows]
            count_reused = partial(self.count, n_reused=len(completion_rows))
            self.storing.add(self._links(call_ids), count_reused)
        return {row["call_id"]: rows.completion_of(row) for row in completion_rows}

    def _links(self, call_ids: list[str]) -> list[Part]:
        """Return the rows that link the calls to the payer; none unless calls are linked."""
        links = []
        if self.links_calls:
            links = [{"study_id": self.payer, "call_id": call_id} for call_id in call_ids]
        return [("study_calls", links)]

    def count(
        self, error: BaseException | None, n_reused: int = 0, completion: Completion | None = None
    ) -> None:
        """Count stored calls: `n_reused` that were stored before, and one with a new `completion`.

        Runs in the writer's thread. With an `error` they could not be stored, and none is counted.
        """
        if error is not None:
            return
        with self._counting:
            self.progress.n_reused += n_reused
            self.progress.n_done += n_reused
            if completion is None:
                return
            self.progress.n_done += 1
            if completion.other_model:
                self.other_models.add(completion.other_model)
            if completion.status != "ok":
                self.progress.n_failed += 1
                self.first_error = self.first_error or completion.error

    def other_models_sentence(self) -> str:
        """Say which other models the replies of this run name; "" if they name none."""
        if not self.other_models:
            return ""
        names = ", ".join(sorted(self.other_models)[:3])
        return f"Some replies name another model than the one asked: {names}. Check the endpoint."

    async def _ask(self, call: Call) -> Completion | None:
        """Make one call, or wait for its reply if somebody else has sent it. Return None if the
        asking stops."""
        backend = self.backends[call.model]
        async with self._slots[call.model]:
            while not self.check_stopped():
                own_future, other_future = self._calls_in_flight.begin(call.call_id)
                if own_future is not None:
                    return await self._buy(call, backend)
                if other_future is None:  # somebody else has stored it meanwhile
                    if completion := self._stored_replies([call]).get(call.call_id):
                        return completion
                    self._calls_in_flight.forget(call.call_id)  # it was deleted since
                elif completion := await self._await_other(other_future):
                    self.storing.add(
                        self._links([call.call_id]), partial(self.count, completion=completion)
                    )
                    return completion
        return None

    async def _await_other(self, future: Future[Completion]) -> Completion | None:
        """Wait for another asking's reply; None when it fails or this asking stops."""
        while not future.done() and not self.check_stopped():
            await asyncio.sleep(_POLL_S)
        return future.result() if future.done() and future.exception() is None else None

    async def _buy(self, call: Call, backend: Backend) -> Completion | None:
        """Make the call and hand its reply to the store. Return None if it was never sent.
        Others who wait for this call get the reply once it is stored."""
        reserved = await self._reserved(call)
        if reserved is None:
            self._calls_in_flight.give_up(call.call_id, NotAsked())
            return None
        try:
            completion = await backend.complete(call)
        except BaseException as error:
            if isinstance(error, Exception):  # a fault of ours: send nothing more
                self.fault(error)
            self._record_interrupted(call)
            self._calls_in_flight.give_up(call.call_id, error)
            raise
        finally:
            self.spending.release(call, reserved)
        if backend.down:  # further calls to a server that is gone would only fail
            self.stop(FAILED, f"{backend.down} The run stopped here. {self._resume_hint}")
        if completion.n_attempts == 0:  # the asking stopped before it was sent
            self._calls_in_flight.give_up(call.call_id, NotAsked())
            return None
        self._hand_over(call, completion, backend)
        return completion

    def _record_interrupted(self, call: Call) -> None:
        """Record the cost of a call that an error interrupted, because it may have been billed."""
        no_reply = Completion(call.call_id, "failed", n_lost=1)
        if cost := self.spending.settle(call, no_reply):
            self.storing.add([("purchases", [self._purchase(call, no_reply, cost)])])

    def _purchase(self, call: Call, completion: Completion, cost: float) -> dict:
        bound = self.spending.bound(call) + self.spending.lost(call, completion)
        return budgets.purchase_row(self.payer, call, completion, cost, bound)

    def _hand_over(self, call: Call, completion: Completion, backend: Backend) -> None:
        """Store the completion, its price and its link to the study in one transaction."""
        cost = self.spending.settle(call, completion)
        self.progress.cost_usd += cost
        purchases = [self._purchase(call, completion, cost)] if cost else []

        def on_stored(error: BaseException | None) -> None:
            self.count(error, completion=completion)
            self._calls_in_flight.end(call.call_id, completion, error)

        completion_rows = [rows.completion_row(call, completion, simulated=backend.simulated)]
        self.storing.add(
            [
                ("completions", completion_rows),
                ("purchases", purchases),
                *self._links([call.call_id]),
            ],
            on_stored,
        )

    async def _reserved(self, call: Call) -> float | None:
        """Wait until the call's cost fits within the cap, and return the amount set aside. Return
        None once the asking stops, or if no bill of a call on its way can make it fit any more."""
        while not self.check_stopped():
            reserved = self.spending.reserve(call)
            if reserved is not None:
                return reserved
            if not self.spending.can_wait():
                self.stop(OVER_BUDGET)
                return None
            await asyncio.sleep(_POLL_S)
        return None


class StoredCalls:
    """Ids of the answered calls of some models, 20 bytes per call, so that they fit in memory.

    Calls that a run stores itself are missing. The ids are read again after a change that concerns
    all studies, such as a merge. A listed call may have been deleted since, so look up its row.
    """

    def __init__(self, store: Store, models: Iterable[str]) -> None:
        self._store, self._models = store, list(models)
        self._revision = -1
        self._ids = np.array([], dtype="S20")

    def __contains__(self, call_id: str) -> bool:
        revision = self._store.revision(ALL_STUDIES)
        if revision != self._revision:
            ids = planning.answered_ids(self._store, self._models)
            # The ids come first, so that a failed query is tried again.
            self._ids = np.sort(ids)
            self._revision = revision
        encoded_id = call_id.encode()
        index = np.searchsorted(self._ids, encoded_id)
        return bool(index < len(self._ids) and self._ids[index] == encoded_id)


class NotAsked(FlipscopeError):
    """The asking that had taken the call stopped before sending it."""


class InFlight:
    """Calls on their way from this process, so that no call is bought twice. A call is listed from
    the moment that an asking takes it until its completion is stored."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: dict[str, Future[Completion]] = {}
        self._stored_ids: set[str] = set()

    @staticmethod
    def of_store(store: Store) -> "InFlight":
        """Return the calls in flight of a store, which all askings share."""
        with _IN_FLIGHT_LOCK:
            return _IN_FLIGHT.setdefault(store, InFlight())

    def begin(self, call_id: str) -> tuple[Future[Completion] | None, Future[Completion] | None]:
        """Take a call. Return (own future, other future).

        - (future, None): the caller makes the call.
        - (None, future): somebody else has sent it.
        - (None, None): it was stored since this process began.
        """
        with self._lock:
            if call_id in self._stored_ids:
                return None, None
            if call_id in self._calls:
                return None, self._calls[call_id]
            future = self._calls[call_id] = Future()
            return future, None

    def give_up(self, call_id: str, error: BaseException) -> None:
        """Tell those who wait that there is no reply; they make the call themselves."""
        with self._lock:
            self._calls.pop(call_id).set_exception(error)

    def forget(self, call_id: str) -> None:
        """Forget a call whose completion is no longer stored."""
        with self._lock:
            self._stored_ids.discard(call_id)

    def end(self, call_id: str, completion: Completion, error: BaseException | None) -> None:
        """Give the stored completion to those who wait for it; give up where `error` is set."""
        if error is not None:
            self.give_up(call_id, error)
            return
        with self._lock:
            if completion.status == "ok":
                self._stored_ids.add(call_id)
            self._calls.pop(call_id).set_result(completion)


_IN_FLIGHT: WeakKeyDictionary[Store, InFlight] = WeakKeyDictionary()
_IN_FLIGHT_LOCK = threading.Lock()


class Storing:
    """Rows of one run on their way to the disk. `problem` is the first error in writing them."""

    def __init__(self, writer: Writer) -> None:
        self._writer, self._lock = writer, threading.Lock()
        self._n_unstored = 0
        self.problem: BaseException | None = None

    def add(
        self, parts: Iterable[Part], on_stored: Callable[[BaseException | None], None] | None = None
    ) -> None:
        """Hand rows to the writer. `on_stored` is called in the writer's thread, with None once the
        rows are stored, or with the error."""
        with self._lock:
            self._n_unstored += 1
        self._writer.add_together(parts).add_done_callback(
            lambda future: self._finish(future, on_stored)
        )

    def _finish(
        self, future: Future, on_stored: Callable[[BaseException | None], None] | None
    ) -> None:
        error = future.exception()
        if on_stored:
            on_stored(error)
        with self._lock:
            self._n_unstored -= 1
            self.problem = self.problem or error

    async def until_room(self) -> None:
        """Wait while more than MAX_UNSTORED batches wait for the disk."""
        while self._n_unstored > MAX_UNSTORED:
            await asyncio.sleep(_POLL_S)

    async def until_stored(self) -> None:
        """Wait until everything is stored. Raise the first error in writing."""
        while self._n_unstored:
            await asyncio.sleep(_POLL_S)
        if self.problem:
            raise self.problem
