"""The driver's side of a cluster: a model whose calls are spread over workers.

To a run it is a model like any other: `complete` returns when the answer is there. A call is here
until it is answered, whatever becomes of workers: those of a lost worker are sent to another, so
what is asked twice is at most what was on its way to it.

A failed call is the call's own fault or its worker's. Where the worker is in doubt (nothing it was
asked has worked, or its last `IN_DOUBT` calls failed) the call is sent to one other worker.
Answered there, it speaks against the first one, which is set aside after `PROOFS` of that kind;
failed there too, it has failed. So no call is given up for its worker, and none is asked for ever.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import ceil

from flipcore.core.contracts import Backend
from flipcore.core.records import Call, Completion, Item, Variant
from flipcore.models import ModelCard
from flipcore.runs.cluster.place import Link, WorkerLost
from flipcore.runs.cluster.states import (
    AT_WORK,
    LOST,
    MISSING,
    SET_ASIDE,
    STARTING,
    WorkerState,
    missing_workers,
)
from flipcore.runs.cluster.worker import Material, Reply, Setup

GATHER_S = 0.005  # calls that come this close together travel together
BATCH = 64  # calls of one message, at most
IN_DOUBT = 5  # failures in a row that are not believed of a worker alone
PROOFS = 3  # calls that failed here and were answered elsewhere
ALONE = 3  # losses after which a call is sent to a worker that has nothing else
MOST_LOSSES = 5  # workers that a call may take with it
GIVE_UP_S = 120.0  # so long a worker may stay away
_STOPPED = "The run was stopped."


@dataclass
class _Entry:
    """A call that waits for its answer. `n_lost` and `n_attempts` are of attempts whose completion
    was not taken."""

    call: Call
    future: asyncio.Future[Completion]
    n_lost: int = 0
    n_attempts: int = 0
    n_losses: int = 0
    doubted: "list[_Worker]" = field(default_factory=list)

    def end(self, completion: Completion) -> None:
        """The answer, with the attempts that went before it; one that was never sent stays without
        any."""
        if completion.n_attempts:
            n_lost, n_attempts = (
                completion.n_lost + self.n_lost,
                completion.n_attempts + self.n_attempts,
            )
            completion = replace(completion, n_lost=n_lost, n_attempts=n_attempts)
        if not self.future.done():
            self.future.set_result(completion)


@dataclass
class _Worker:
    """A worker as the driver knows it. `n_now` calls are on their way to it."""

    link: Link
    state: str = STARTING
    problem: str = ""
    trouble: str = ""
    n_now: int = 0
    n_answers: int = 0
    n_failures: int = 0
    n_losses: int = 0
    n_in_row: int = 0
    n_proofs: int = 0
    since: float = field(default_factory=time.monotonic)
    is_alone: bool = False  # with a call that may have taken workers with it

    @property
    def n_free(self) -> int:
        return (
            self.link.n_at_once - self.n_now if self.state == AT_WORK and not self.is_alone else 0
        )

    @property
    def is_in_doubt(self) -> bool:
        return self.n_answers == 0 or self.n_in_row > IN_DOUBT


class Driver(Backend):
    """A model on a cluster. `local` is the same model as the driver opened it: it says what it is
    and what it can do. `start` brings its `n_workers` workers up, at the first call."""

    def __init__(
        self,
        local: Backend,
        card: ModelCard | None,
        start: Callable[[Setup], list[Link]],
        n_workers: int,
        address: str,
    ) -> None:
        self._local, self._card, self._start_workers, self._n_workers = (
            local,
            card,
            start,
            n_workers,
        )
        self._address = address
        self.name, self.simulated = local.name, local.simulated
        self.abilities, self.takes = local.abilities, local.takes
        self._material: Material | None = None
        self._workers: list[_Worker] = []
        self._queue: deque[_Entry] = deque()
        self._tasks: set[asyncio.Task] = set()
        self._is_feeding = self._is_halted = False
        self._down = ""

    @property
    def revision(self) -> str:  # type: ignore[override]
        """The model's own, which may change as it is told what it will be asked."""
        return self._local.revision

    @property
    def down(self) -> str:
        return self._down

    @property
    def trouble(self) -> str:
        """A sentence on what workers say of their model, and which of them are not at work."""
        sentences = []
        for worker in self._workers:
            if worker.state == AT_WORK and worker.trouble:
                sentences.append(f"{worker.link.name}: {worker.trouble}")
        return " ".join(filter(None, [*sentences[:1], missing_workers(self.workers())]))

    def workers(self) -> tuple[WorkerState, ...]:
        """Return how each worker of this model fares."""
        return tuple(
            WorkerState(
                name=worker.link.name,
                model=self.name,
                state=worker.state,
                n_answers=worker.n_answers,
                n_failures=worker.n_failures,
                n_losses=worker.n_losses,
                problem=worker.problem,
            )
            for worker in self._workers
        )

    def why_not(self, ability: str) -> str:
        return self._local.why_not(ability)

    def prepare(
        self,
        items: Iterable[Item],
        variants: Iterable[Variant],
        roles: Mapping[str, str] | None = None,
    ) -> None:
        """Tell the driver's own model, and keeps for the workers what they will be told."""
        if type(self._local).prepare is Backend.prepare:
            return
        self._material = Material(tuple(items), tuple(variants), dict(roles or {}))
        self._local.prepare(self._material.items, self._material.variants, self._material.roles)

    async def complete(self, call: Call) -> Completion:
        if self._is_halted or self._down:
            return _unsent(call, self._down or _STOPPED)
        if not self._workers:
            self._start()
        entry = _Entry(call, asyncio.get_running_loop().create_future())
        self._queue.append(entry)
        self._feed_soon()
        return await entry.future

    def halt(self) -> None:
        """Call on their way come in; those that wait are not sent."""
        self._is_halted = True
        for worker in self._workers:
            worker.link.halt()
        self._empty_queue(_STOPPED)

    async def close(self) -> None:
        self._is_halted = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for worker in self._workers:
            await worker.link.close()
        await self._local.close()

    def _start(self) -> None:
        """Workers come up while the first calls wait; which of them ever stands is seen by its
        greeting."""
        setup = Setup(self.name, self._card, self.revision, self._material, 1.0 / self._n_workers)
        self._workers = [_Worker(link) for link in self._start_workers(setup)]
        for worker in self._workers:
            self._begin(self._greet(worker))

    def _begin(self, work) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _greet(self, worker: _Worker) -> None:
        """Wait for a worker, which its cluster starts anew when it was lost; after GIVE_UP_S it is
        missing."""
        wait_s, worker.since = 0.2, time.monotonic()
        problem, state = "", SET_ASIDE
        while worker.state in (STARTING, LOST):
            left_s = GIVE_UP_S - (time.monotonic() - worker.since)
            try:
                greeting = await asyncio.wait_for(worker.link.hello(), max(left_s, 0.1))
            except (WorkerLost, TimeoutError) as error:
                problem, state = (
                    str(error) or "It does not answer; check that Flipscope is installed there.",
                    MISSING,
                )
                worker.problem = problem
                if left_s <= 0:
                    break
                await asyncio.sleep(wait_s)
                wait_s = min(2 * wait_s, 5.0)
                continue
            if not greeting.problem:
                worker.state, worker.problem = AT_WORK, ""
                self._feed_soon()
                return
            problem, state = greeting.problem, SET_ASIDE
            break
        self._set_aside(worker, problem, state)

    def _set_aside(self, worker: _Worker, reason: str, state: str = SET_ASIDE) -> None:
        """Send the worker nothing more. Where nobody is left the model is down, in the words of the
        first."""
        worker.state, worker.problem = state, reason
        if self._hopeful() or any(colleague.n_now for colleague in self._workers):
            self._feed_soon()
            return
        first = next(
            (colleague for colleague in self._workers if colleague.state == SET_ASIDE), worker
        )
        self._down = (
            self._down
            or f"No worker of {self._address} can be asked. {first.link.name}: {first.problem}"
        )
        self._empty_queue(self._down)

    def _hopeful(self) -> list[_Worker]:
        """Workers that are at work, or that may come up yet."""
        return [worker for worker in self._workers if worker.state in (AT_WORK, STARTING, LOST)]

    def _empty_queue(self, reason: str) -> None:
        while self._queue:
            entry = self._queue.popleft()
            entry.end(_unsent(entry.call, reason))

    def _feed_soon(self) -> None:
        if not self._is_feeding:
            self._is_feeding = True
            asyncio.get_running_loop().call_later(GATHER_S, self._feed)

    def _feed(self) -> None:
        """Hand what waits to whoever is free, the freest first and to each its part."""
        self._is_feeding = False
        if self._is_halted or self._down:
            self._empty_queue(self._down or _STOPPED)
            return
        free = [worker for worker in self._workers if worker.n_free > 0]
        free.sort(key=lambda worker: -worker.n_free)
        n_free = sum(worker.n_free for worker in free)
        n_waiting = len(self._queue)
        for worker in free:
            part = ceil(n_waiting * worker.n_free / n_free)
            if entries := self._entries_for(worker, min(worker.n_free, BATCH, part)):
                worker.n_now += len(entries)
                self._begin(self._ask(worker, entries))
        if (
            self._queue
            and len(self._queue) < n_waiting
            and any(worker.n_free > 0 for worker in free)
        ):
            self._feed_soon()

    def _entries_for(self, worker: _Worker, n: int) -> list[_Entry]:
        """The next calls that this worker may be asked: none that failed here, as long as another
        is at work. While calls wait that may have taken workers with them, the first worker at work
        has those alone, one by one, and the others have the rest.
        """
        is_only = not any(colleague is not worker for colleague in self._hopeful())
        first = next(colleague for colleague in self._workers if colleague.state == AT_WORK)
        takes_risky = worker is first and any(entry.n_losses >= ALONE for entry in self._queue)
        if takes_risky:
            n = int(worker.n_now == 0)
        entries: list[_Entry] = []
        passed_over: list[_Entry] = []
        while self._queue and len(entries) < n:
            entry = self._queue.popleft()
            is_risky = entry.n_losses >= ALONE
            may_have = (
                is_risky
                if takes_risky
                else not is_risky and (is_only or worker not in entry.doubted)
            )
            (entries if may_have else passed_over).append(entry)
        self._queue.extendleft(reversed(passed_over))
        worker.is_alone = takes_risky and bool(entries)
        return entries

    async def _ask(self, worker: _Worker, entries: list[_Entry]) -> None:
        """One batch, from its sending to its last answer or the worker's end."""
        waiting = {entry.call.call_id: entry for entry in entries}
        try:
            async for reply in worker.link.answers([entry.call for entry in entries]):
                self._hear(worker, waiting, reply)
        except WorkerLost as error:
            self._lose(worker, str(error))
        except Exception as error:  # a fault of the worker's own code; the worker stands
            self._set_aside(worker, f"{type(error).__name__}: {error}")
        finally:
            worker.n_now -= len(waiting)
            worker.is_alone = False
            self._ask_again(waiting.values())
        if worker.state != AT_WORK and worker.n_now == 0 and worker.state != STARTING:
            self._set_aside(worker, worker.problem, worker.state)  # perhaps the last that was left

    def _hear(self, worker: _Worker, waiting: dict[str, _Entry], reply: Reply) -> None:
        worker.trouble = reply.trouble
        if reply.down and worker.state == AT_WORK:
            self._set_aside(worker, reply.down)
        for completion in reply.completions:
            entry = waiting.pop(completion.call_id, None)
            if entry is not None:
                worker.n_now -= 1
                self._take(worker, entry, completion)
        self._feed_soon()

    def _take(self, worker: _Worker, entry: _Entry, completion: Completion) -> None:
        """An answer ends its call, and so does a failure that is believed."""
        if completion.status == "ok":
            worker.n_answers, worker.n_in_row = worker.n_answers + 1, 0
            for doubted_worker in entry.doubted:
                self._speak_against(doubted_worker)
            entry.end(completion)
            return
        if self._is_halted:
            entry.end(completion)
            return
        worker.n_failures, worker.n_in_row = worker.n_failures + 1, worker.n_in_row + 1
        is_in_doubt = worker.is_in_doubt or worker.state != AT_WORK
        may_know = [
            colleague
            for colleague in self._hopeful()
            if colleague is not worker and colleague not in entry.doubted
        ]
        if may_know and is_in_doubt and (not entry.doubted or completion.n_attempts == 0):
            worker.problem = worker.problem or completion.error
            entry.doubted.append(worker)
            entry.n_lost, entry.n_attempts = (
                entry.n_lost + completion.n_lost,
                entry.n_attempts + completion.n_attempts,
            )
            self._queue.appendleft(entry)
            return
        entry.end(completion)

    def _speak_against(self, worker: _Worker) -> None:
        """A call that failed there was answered here."""
        worker.n_proofs += 1
        if worker.n_proofs >= PROOFS and worker.is_in_doubt and worker.state == AT_WORK:
            self._set_aside(
                worker, f"Its calls failed and were answered elsewhere: {worker.problem}"
            )

    def _lose(self, worker: _Worker, reason: str) -> None:
        """A worker went with its calls; its cluster starts it anew, and once it greets it is at
        work again."""
        if worker.state != AT_WORK:
            return
        worker.state, worker.problem, worker.since = LOST, reason, time.monotonic()
        worker.n_losses += 1
        if not self._is_halted:
            self._begin(self._greet(worker))

    def _ask_again(self, entries: Iterable[_Entry]) -> None:
        """Call of which nobody knows what became: to the head of the queue. Their input may have
        been billed."""
        for entry in reversed(list(entries)):
            entry.n_losses, entry.n_lost, entry.n_attempts = (
                entry.n_losses + 1,
                entry.n_lost + 1,
                entry.n_attempts + 1,
            )
            if self._is_halted or self._down:
                entry.end(_unsent(entry.call, self._down or _STOPPED))
            elif entry.n_losses >= MOST_LOSSES:
                words = f"{MOST_LOSSES} workers were lost while this call was on its way to them."
                # The last one is this completion's.
                entry.n_lost, entry.n_attempts = entry.n_lost - 1, entry.n_attempts - 1
                entry.end(Completion(entry.call.call_id, "failed", error=words, n_lost=1))
            else:
                self._queue.appendleft(entry)
        self._feed_soon()


def _unsent(call: Call, reason: str) -> Completion:
    """Return a completion that a run takes for a call that was never made."""
    return Completion(call.call_id, "failed", error=reason, n_attempts=0)
