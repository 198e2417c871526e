"""The one way to ask models, for whoever does: a run, a judge, a survey, proposals.

What is stored is not asked; what another asks just now is waited for. What is asked keeps to its
budget and to its server's slots, and each reply is handed to the store as it comes, with its price.
However the asking ends (all is asked, somebody stops it or presses Ctrl-C, the budget is used up, a
server is gone, a fault), calls that are on their way come in and are stored before it is over.
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
from flipcore.store.connection import Store
from flipcore.store.queries import budgets, planning
from flipcore.store.writer import Part, Writer

# The cap of a study over all its runs: what is spent, what is on its way, and what one more call
# may cost. What is set aside for a call is an upper bound as long as the server bills what it
# declares: at most a token a byte of the prompt and no more than the token limit. What one bills
# beyond that is known by its bill alone. So the first bills of all models come one at a time, and
# the cap can be passed by one call that is billed beyond all bounds, and by calls of a model whose
# bills go on rising.

_SLACK = 1e-12  # sums of floats


class Spending:
    """`spent_usd` counts all runs of the study. A server that bills more than the bound teaches
    `factor`, which raises what is set aside for its next calls; until a model's first bill of this
    run is known, whatever it billed before, its call goes alone among such."""

    def __init__(
        self,
        cap_usd: float | None,
        spent_usd: float,
        cards: Mapping[str, ModelCard],
        overbilling: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        self.cap_usd, self.spent_usd, self.cards = cap_usd, spent_usd, cards
        self.reserved_usd = 0.0
        self._factor = dict(overbilling)
        self._billed: set[str] = set()
        self._n_on_way: dict[str, int] = {}

    def bound(self, call: Call) -> float:
        """The most that the call should cost, from its bytes."""
        return call_bound(call, self.cards.get(call.model)) or 0.0

    def most(self, call: Call) -> float:
        """The most that the call is expected to cost, from its bytes and what this server billed so
        far."""
        return self.bound(call) * self._factor.get(call.model, 1.0)

    def can_wait(self) -> bool:
        """Return whether calls on their way may still leave room."""
        return any(self._n_on_way.values())

    def reserve(self, call: Call) -> float | None:
        """Set the call's most aside and returns it; None when there is no room for it now."""
        price = self.most(call)
        if price == 0:
            return 0.0
        if self.cap_usd is None:
            return None  # without a budget no paid call is made
        if call.model not in self._billed:
            # What such a server bills beyond the bound is not known yet, so its call goes alone.
            n_unbilled = sum(n for model, n in self._n_on_way.items() if model not in self._billed)
            if n_unbilled:
                return None
        if self.spent_usd + self.reserved_usd + price > self.cap_usd + _SLACK:
            return None
        self.reserved_usd += price
        self._n_on_way[call.model] = self._n_on_way.get(call.model, 0) + 1
        return price

    def release(self, call: Call, reserved: float) -> None:
        """Release what was set aside for a call that came back, or was never sent."""
        if reserved:
            self.reserved_usd = max(0.0, self.reserved_usd - reserved)
            self._n_on_way[call.model] -= 1

    def settle(self, call: Call, completion: Completion) -> float:
        """Count what the call cost: its bill, or its bound where a priced reply came without token
        counts. The input of attempts that brought no answer is added, because it may have been
        billed."""
        lost, bound = self.lost(call, completion), self.bound(call)
        if completion.status != "ok" and completion.cost_usd is None:
            self.spent_usd += lost
            return lost
        bill = self.most(call) if completion.cost_usd is None else completion.cost_usd
        if bound:
            self._factor[call.model] = max(self._factor.get(call.model, 1.0), bill / bound)
            self._billed.add(call.model)
        self.spent_usd += bill + lost
        return bill + lost

    def lost(self, call: Call, completion: Completion) -> float:
        """The most that the input of attempts without an answer cost."""
        return completion.n_lost * lost_price(call, self.cards.get(call.model))


REPORT_S = 0.5
MOST_WAITING = 2_000  # hand-overs on their way to the disk, beyond which a run waits for it
_POLL_S = 0.02
T = TypeVar("T")


class Asking:
    """`async with Asking(…) as asking:` Models that are open to be asked, until the asking ends.
    `progress` counts what is safe; `ending` is a state of `progress`, "" as long as nothing stopped
    it."""

    def __init__(
        self,
        store: Store,
        payer: str,
        models: Iterable[str],
        cards: Mapping[str, ModelCard],
        cap_usd: float | None,
        spent_usd: float = 0.0,
        *,
        of_study: bool = False,
        cancel: threading.Event | None = None,
        place: Place | None = None,
        on_report: Callable[[], None] = lambda: None,
        resume_hint: str = "The same again asks only the missing ones.",
    ) -> None:
        """`payer` is the id that purchases are recorded under; calls are linked to it where it is a
        study that keeps them (`of_study`). `spent_usd` of the cap are spent already. `resume_hint`
        says how it goes on after a fault. `place` is where models are asked, this process by
        default; whoever opened it closes it."""
        self.store, self.payer, self.cards, self.of_study = store, payer, dict(cards), of_study
        self.names = list(dict.fromkeys(models))
        self.spending = Spending(cap_usd, spent_usd, self.cards, budgets.overbilling(store))
        self.cancel, self.place = cancel or threading.Event(), place or ThisProcess()
        self.progress, self.ending, self.first_error = Progress(), "", ""
        self.other_models: set[str] = set()  # names in replies that are not the model asked
        self.storing, self.stored_calls = Storing(store.writer), StoredCalls(store, self.names)
        self.backends: dict[str, Backend] = {}
        self._slots: dict[str, Slot] = {}
        self._in_flight = InFlight.of(store)
        self._on_way: set[asyncio.Future] = set()
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
            while self._on_way:
                await asyncio.wait(self._on_way)
            await self.storing.safe()
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
        """A sentence on why the asking stopped; "" where it came to its end."""
        if self.ending == OVER_BUDGET:
            return f"The budget of {dollars(self.spending.cap_usd or 0.0)} is used up."
        return "It was stopped." if self.ending == CANCELLED else self.progress.message

    def stop(self, state: str, message: str = "") -> None:
        """Stop asking; the first reason counts. Calls that wait for another attempt end; calls on
        their way come in."""
        if self.ending:
            return
        self.ending, self.progress.message = state, message
        for backend in self.backends.values():
            backend.halt()

    def fault(self, error: BaseException) -> None:
        """End the asking with a sentence; a fault of ours is logged with its place."""
        if isinstance(error, FlipscopeError):
            self.stop(FAILED, str(error))
            return
        logging.getLogger(__name__).error("Asking stopped on an internal fault", exc_info=error)
        self.stop(
            FAILED,
            f"The run stopped on an internal fault ({type(error).__name__}: {error}). Nothing"
            f" stored is lost. {self._resume_hint}",
        )

    def stopped(self) -> bool:
        """Return whether nothing more is to be begun."""
        if self.cancel.is_set():
            self.stop(CANCELLED)
        if self.storing.problem:
            self.fault(self.storing.problem)
        return bool(self.ending)

    async def _watch(self) -> None:
        while True:
            self.stopped()  # a cancellation reaches calls that wait for another attempt
            self._on_report()
            await asyncio.sleep(REPORT_S)

    async def each(
        self, jobs: Iterable[T], work: Callable[[T], Awaitable[None]], n_open: int
    ) -> None:
        """Have `n_open` workers take the jobs in order; every one ends when the asking stops,
        whatever it waits for."""
        remaining_jobs = iter(jobs)

        async def worker() -> None:
            for job in remaining_jobs:
                if self.stopped():
                    return
                try:
                    await work(job)
                except Exception as error:  # calls on their way come in; nothing new is begun
                    self.fault(error)

        await asyncio.gather(*(worker() for _ in range(n_open)))

    async def replies(self, calls: Sequence[Call]) -> dict[str, Completion]:
        """Return completions by call id: stored ones, then those that are bought now, failed ones
        too. A call that was not asked because the asking stopped is absent."""
        completions = self._stored_replies(
            [call for call in calls if call.call_id in self.stored_calls]
        )
        missing = {call.call_id: call for call in calls if call.call_id not in completions}
        if not missing:
            return completions
        bought = asyncio.gather(*map(self._ask, missing.values()), return_exceptions=True)
        self._on_way.add(bought)
        bought.add_done_callback(self._on_way.discard)
        # Whoever waits may be cancelled; what is bought is taken in all the same.
        for reply in await asyncio.shield(bought):
            if isinstance(reply, BaseException):
                raise reply
            if reply is not None:
                completions[reply.call_id] = reply
        return completions

    def _stored_replies(self, calls: Sequence[Call]) -> dict[str, Completion]:
        """Completions that are there already; a failed one is asked again."""
        completion_rows = (
            planning.completions(self.store, [call.call_id for call in calls]) if calls else []
        )
        if completion_rows:
            call_ids = [row["call_id"] for row in completion_rows]
            self.storing.add(
                self._links(call_ids), partial(self.count, n_reused=len(completion_rows))
            )
        return {row["call_id"]: rows.completion_of(row) for row in completion_rows}

    def _links(self, call_ids: list[str]) -> list[Part]:
        links = (
            [{"study_id": self.payer, "call_id": call_id} for call_id in call_ids]
            if self.of_study
            else []
        )
        return [("study_calls", links)]

    def count(
        self, error: BaseException | None, n_reused: int = 0, completion: Completion | None = None
    ) -> None:
        """Count what is safe; called in the writer's thread."""
        if error is not None:
            return
        with self._counting:
            self.progress.n_reused += n_reused
            self.progress.n_done += n_reused + (completion is not None)
            if completion is not None and completion.other_model:
                self.other_models.add(completion.other_model)
            if completion is not None and completion.status != "ok":
                self.progress.n_failed += 1
                self.first_error = self.first_error or completion.error

    def other_models_sentence(self) -> str:
        """Say which other models the replies of this run name; "" where they name none."""
        if not self.other_models:
            return ""
        names = ", ".join(sorted(self.other_models)[:3])
        return f"Some replies name another model than the one asked: {names}. Check the endpoint."

    async def _ask(self, call: Call) -> Completion | None:
        """One call, unless the asking is stopping; None then. Whoever asks it already is waited
        for."""
        backend = self.backends[call.model]
        async with self._slots[backend.name]:
            while not self.stopped():
                own_future, other_future = self._in_flight.begin(call.call_id)
                if own_future is not None:
                    return await self._bought(call, backend)
                if other_future is None:  # another has stored it meanwhile
                    if completion := self._stored_replies([call]).get(call.call_id):
                        return completion
                    self._in_flight.forget(call.call_id)  # and it was deleted since
                elif completion := await self._of_another(other_future):
                    self.storing.add(
                        self._links([call.call_id]), partial(self.count, completion=completion)
                    )
                    return completion
        return None

    async def _of_another(self, future: Future[Completion]) -> Completion | None:
        """Return what another got for a call; None when it got nothing or this asking stops."""
        while not future.done() and not self.stopped():
            await asyncio.sleep(_POLL_S)
        return future.result() if future.done() and future.exception() is None else None

    async def _bought(self, call: Call, backend: Backend) -> Completion | None:
        """The call, paid for and handed to the store; others that wait for it are told once it is
        safe."""
        reserved = await self._reserved(call)
        if reserved is None:
            self._in_flight.give_up(call.call_id, NotAsked())
            return None
        try:
            completion = await backend.complete(call)
        except BaseException as error:
            if isinstance(error, Exception):  # nothing else is sent meanwhile
                self.fault(error)
            self._lose(call)
            self._in_flight.give_up(call.call_id, error)
            raise
        finally:
            self.spending.release(call, reserved)
        if backend.down:  # the calls that a server which is gone never saw are not asked in vain
            self.stop(FAILED, f"{backend.down} The run stopped here. {self._resume_hint}")
        if completion.n_attempts == 0:  # the asking stopped before it was sent
            self._in_flight.give_up(call.call_id, NotAsked())
            return None
        self._hand_over(call, completion, backend)
        return completion

    def _lose(self, call: Call) -> None:
        """Count a call that was cut off: it may have been billed."""
        nothing = Completion(call.call_id, "failed", n_lost=1)
        if cost := self.spending.settle(call, nothing):
            self.storing.add([("purchases", [self._purchase(call, nothing, cost)])])

    def _purchase(self, call: Call, completion: Completion, cost: float) -> dict:
        bound = self.spending.bound(call) + self.spending.lost(call, completion)
        return budgets.purchase_row(self.payer, call, completion, cost, bound)

    def _hand_over(self, call: Call, completion: Completion, backend: Backend) -> None:
        """Hand over the completion, its price and its link, stored together."""
        cost = self.spending.settle(call, completion)
        self.progress.cost_usd += cost
        purchases = [self._purchase(call, completion, cost)] if cost else []

        def safe(error: BaseException | None) -> None:
            self.count(error, completion=completion)
            self._in_flight.end(call.call_id, completion, error)

        completion_rows = [rows.completion_row(call, completion, simulated=backend.simulated)]
        self.storing.add(
            [
                ("completions", completion_rows),
                ("purchases", purchases),
                *self._links([call.call_id]),
            ],
            safe,
        )

    async def _reserved(self, call: Call) -> float | None:
        """The most that the call can cost, set aside within the cap; None once the asking stops or
        there is no room for it."""
        while not self.stopped():
            reserved = self.spending.reserve(call)
            if reserved is not None:
                return reserved
            if not self.spending.can_wait():
                self.stop(OVER_BUDGET)
                return None
            await asyncio.sleep(_POLL_S)
        return None


class StoredCalls:
    """The answered calls of some models, as a set of 20 bytes a call. What a run stores itself is
    not in it; it is read again when something was merged. A call in it may have been purged since,
    so its row is to be looked up."""

    def __init__(self, store: Store, models: Iterable[str]) -> None:
        self._store, self._models = store, list(models)
        self._revision = -1
        self._ids = np.array([], dtype="S20")

    def __contains__(self, call_id: str) -> bool:
        if (revision := self._store.revision("")) != self._revision:
            self._revision, self._ids = (
                revision,
                np.sort(planning.answered_ids(self._store, self._models)),
            )
        name = call_id.encode()
        place = np.searchsorted(self._ids, name)
        return bool(place < len(self._ids) and self._ids[place] == name)


class NotAsked(FlipscopeError):
    """Whoever had taken the call stopped before it was sent."""


class InFlight:
    """Calls that somebody of this process has sent, so that two never buy the same one: a call is
    here from the moment that it is taken until its completion is stored."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: dict[str, Future[Completion]] = {}
        self._safe_ids: set[str] = set()

    @staticmethod
    def of(store: Store) -> "InFlight":
        """The one of a store, for all that ask."""
        with _IN_FLIGHT_LOCK:
            return _IN_FLIGHT.setdefault(store, InFlight())

    def begin(self, call_id: str) -> tuple[Future[Completion] | None, Future[Completion] | None]:
        """(mine, None) when the caller is to ask it, (None, another's) when it is on its way,
        (None, None) when it was stored since this process began."""
        with self._lock:
            if call_id in self._safe_ids:
                return None, None
            if call_id in self._calls:
                return None, self._calls[call_id]
            future = self._calls[call_id] = Future()
            return future, None

    def give_up(self, call_id: str, error: BaseException) -> None:
        """Tell those who wait that the call brought nothing; they ask it themselves."""
        with self._lock:
            self._calls.pop(call_id).set_exception(error)

    def forget(self, call_id: str) -> None:
        """Forget a call whose completion is no longer stored."""
        with self._lock:
            self._safe_ids.discard(call_id)

    def end(self, call_id: str, completion: Completion, error: BaseException | None) -> None:
        """Hand the completion, which is stored or could not be (`error`), to those who wait for
        it."""
        if error is not None:
            self.give_up(call_id, error)
            return
        with self._lock:
            if completion.status == "ok":
                self._safe_ids.add(call_id)
            self._calls.pop(call_id).set_result(completion)


_IN_FLIGHT: WeakKeyDictionary[Store, InFlight] = WeakKeyDictionary()
_IN_FLIGHT_LOCK = threading.Lock()


class Storing:
    """The rows of one run on their way to the disk. `problem` is the first fault; nothing is handed
    over after it."""

    def __init__(self, writer: Writer) -> None:
        self._writer, self._lock = writer, threading.Lock()
        self._n_waiting = 0
        self.problem: BaseException | None = None

    def add(
        self, parts: Iterable[Part], then: Callable[[BaseException | None], None] | None = None
    ) -> None:
        """Hand rows over; `then` is told, in the writer's thread, that they are safe (None) or why
        they are not."""
        with self._lock:
            self._n_waiting += 1
        self._writer.add_together(parts).add_done_callback(lambda future: self._ended(future, then))

    def _ended(self, future: Future, then: Callable[[BaseException | None], None] | None) -> None:
        error = future.exception()
        if then:
            then(error)
        with self._lock:
            self._n_waiting -= 1
            self.problem = self.problem or error

    async def room(self) -> None:
        """Wait while the disk is far behind."""
        while self._n_waiting > MOST_WAITING:
            await asyncio.sleep(_POLL_S)

    async def safe(self) -> None:
        """Wait until everything is stored; raises the first fault."""
        while self._n_waiting:
            await asyncio.sleep(_POLL_S)
        if self.problem:
            raise self.problem
