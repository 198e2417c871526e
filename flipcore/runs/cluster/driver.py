"""The driver's side of a cluster: a model whose calls are spread over workers.

To a run it is a model like any other: `complete` returns the answer. The driver holds a call until
it is answered. Where a worker is lost, the calls on their way to it are sent to another worker, so
only these may be asked twice.

A call may fail because of itself or because of its worker. A worker is in doubt if it has answered
nothing yet, or failed more than `FAILURES_IN_DOUBT` times in a row. A call that it failed is then
sent to one other worker. If that one fails as well, the call has failed. If it answers, this counts
against the first worker, which is set aside after `N_CONTRADICTIONS` such calls.
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

GATHER_S = 0.005  # calls that arrive within this time are sent in one message
BATCH = 64  # most calls in one message
FAILURES_IN_DOUBT = 5
N_CONTRADICTIONS = 3
RISKY_LOSSES = 3  # a call on its way to so many lost workers is sent alone, in case it is the cause
MAX_LOSSES = 5  # then the call has failed
GIVE_UP_S = 120.0  # a worker that stays away longer is missing
_STOPPED = "The run was stopped."


@dataclass
class _PendingCall:
    """A call that waits for its answer."""

    call: Call
    future: asyncio.Future[Completion]
    # Of attempts whose completion did not count, added to the final one:
    n_lost: int = 0
    n_attempts: int = 0
    n_losses: int = 0  # workers that were lost with this call
    # Workers in doubt that failed this call.
    doubted_workers: "list[_Worker]" = field(default_factory=list)

    def end(self, completion: Completion) -> None:
        """Return the completion to the run, with the earlier attempts added. A completion without
        attempts means that the call was never sent, and stays as it is."""
        if completion.n_attempts:
            completion = replace(
                completion,
                n_lost=completion.n_lost + self.n_lost,
                n_attempts=completion.n_attempts + self.n_attempts,
            )
        if not self.future.done():
            self.future.set_result(completion)


@dataclass
class _Worker:
    """A worker as the driver sees it."""

    link: Link
    state: str = STARTING
    problem: str = ""  # why it is not at work
    trouble: str = ""  # what its model reports, such as a server that fails
    n_on_way: int = 0
    n_answers: int = 0
    n_failures: int = 0
    n_losses: int = 0  # how often its process was lost
    n_failures_in_row: int = 0
    n_contradictions: int = 0  # calls that failed here and were answered elsewhere
    away_since: float = field(default_factory=time.monotonic)
    is_alone: bool = False  # has a risky call, so it gets no other

    @property
    def n_free(self) -> int:
        if self.state != AT_WORK or self.is_alone:
            return 0
        return self.link.n_at_once - self.n_on_way

    @property
    def is_in_doubt(self) -> bool:
        return self.n_answers == 0 or self.n_failures_in_row > FAILURES_IN_DOUBT


class Driver(Backend):
    """A model on a cluster. `local` is the same model opened in this process, for its revision and
    abilities. `start` starts the `n_workers` workers at the first call. `address` is the cluster's,
    for messages."""

    def __init__(
        self,
        local: Backend,
        card: ModelCard | None,
        start: Callable[[Setup], list[Link]],
        n_workers: int,
        address: str,
    ) -> None:
        self._local, self._card = local, card
        self._start_workers, self._n_workers = start, n_workers
        self._address = address
        self.name, self.simulated = local.name, local.simulated
        self.abilities, self.takes = local.abilities, local.takes
        self._material: Material | None = None
        self._workers: list[_Worker] = []
        self._queue: deque[_PendingCall] = deque()
        self._tasks: set[asyncio.Task] = set()
        self._is_feeding = self._is_halted = False
        self._down = ""

    @property
    def revision(self) -> str:  # type: ignore[override]
        """The local model's revision, which `prepare` may change."""
        return self._local.revision

    @property
    def down(self) -> str:
        return self._down

    @property
    def trouble(self) -> str:
        """Sentences on trouble with the model and on workers that are not at work; "" without."""
        sentences = []
        for worker in self._workers:
            if worker.state == AT_WORK and worker.trouble:
                sentences.append(f"{worker.link.name}: {worker.trouble}")
        return " ".join(filter(None, [*sentences[:1], missing_workers(self.workers())]))

    def workers(self) -> tuple[WorkerState, ...]:
        """Return the state of each worker of this model."""
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
        """Prepare the local model, and keep the material for the workers."""
        if type(self._local).prepare is Backend.prepare:
            return
        self._material = Material(tuple(items), tuple(variants), dict(roles or {}))
        self._local.prepare(self._material.items, self._material.variants, self._material.roles)

    async def complete(self, call: Call) -> Completion:
        if self._is_halted or self._down:
            return _unsent(call, self._down or _STOPPED)
        if not self._workers:
            self._start()
        pending = _PendingCall(call, asyncio.get_running_loop().create_future())
        self._queue.append(pending)
        self._feed_soon()
        return await pending.future

    def halt(self) -> None:
        """Send no more calls; those on their way are still received."""
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
        """Start the workers; calls wait until the first worker greets."""
        setup = Setup(self.name, self._card, self.revision, self._material, 1.0 / self._n_workers)
        self._workers = [_Worker(link) for link in self._start_workers(setup)]
        for worker in self._workers:
            self._begin(self._greet(worker))

    def _begin(self, work) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _greet(self, worker: _Worker) -> None:
        """Wait until a worker is at work; it is missing after GIVE_UP_S. The cluster restarts lost
        workers, so a failed attempt is repeated."""
        wait_s, worker.away_since = 0.2, time.monotonic()
        problem, state = "", SET_ASIDE
        while worker.state in (STARTING, LOST):
            remaining_s = GIVE_UP_S - (time.monotonic() - worker.away_since)
            try:
                greeting = await asyncio.wait_for(worker.link.hello(), max(remaining_s, 0.1))
            except (WorkerLost, TimeoutError) as error:
                no_answer = "It does not answer; check that Flipscope is installed there."
                problem, state = str(error) or no_answer, MISSING
                worker.problem = problem
                if remaining_s <= 0:
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
        """Send the worker nothing more. If no worker is left, the model is down. The message is
        that of the first worker that was set aside."""
        worker.state, worker.problem = state, reason
        if self._usable_workers() or any(colleague.n_on_way for colleague in self._workers):
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

    def _usable_workers(self) -> list[_Worker]:
        """Return workers that are at work or may still come up."""
        return [worker for worker in self._workers if worker.state in (AT_WORK, STARTING, LOST)]

    def _empty_queue(self, reason: str) -> None:
        while self._queue:
            pending = self._queue.popleft()
            pending.end(_unsent(pending.call, reason))

    def _feed_soon(self) -> None:
        if not self._is_feeding:
            self._is_feeding = True
            asyncio.get_running_loop().call_later(GATHER_S, self._feed)

    def _feed(self) -> None:
        """Send waiting calls to free workers, in proportion to their free slots."""
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
            if pending_calls := self._calls_for(worker, min(worker.n_free, BATCH, part)):
                worker.n_on_way += len(pending_calls)
                self._begin(self._ask(worker, pending_calls))
        if (
            self._queue
            and len(self._queue) < n_waiting
            and any(worker.n_free > 0 for worker in free)
        ):
            self._feed_soon()

    def _calls_for(self, worker: _Worker, n: int) -> list[_PendingCall]:
        """Take the next `n` calls from the queue that this worker may be asked.

        A call that failed here goes elsewhere as long as another worker is usable. A risky call was
        on its way to several lost workers. The first worker at work gets only these, one by one,
        so that no other calls are lost with it. The other workers get the rest.
        """
        is_only = not any(colleague is not worker for colleague in self._usable_workers())
        first = next(colleague for colleague in self._workers if colleague.state == AT_WORK)
        takes_risky = worker is first and any(
            pending.n_losses >= RISKY_LOSSES for pending in self._queue
        )
        if takes_risky:
            n = 1 if worker.n_on_way == 0 else 0
        pending_calls: list[_PendingCall] = []
        passed_over: list[_PendingCall] = []
        while self._queue and len(pending_calls) < n:
            pending = self._queue.popleft()
            is_risky = pending.n_losses >= RISKY_LOSSES
            if takes_risky:
                is_suitable = is_risky
            else:
                has_not_failed_here = is_only or worker not in pending.doubted_workers
                is_suitable = not is_risky and has_not_failed_here
            if is_suitable:
                pending_calls.append(pending)
            else:
                passed_over.append(pending)
        self._queue.extendleft(reversed(passed_over))
        worker.is_alone = takes_risky and bool(pending_calls)
        return pending_calls

    async def _ask(self, worker: _Worker, pending_calls: list[_PendingCall]) -> None:
        """Send one batch, and receive its answers until the last one or the worker's end."""
        waiting = {pending.call.call_id: pending for pending in pending_calls}
        try:
            async for reply in worker.link.answers([pending.call for pending in pending_calls]):
                self._take_reply(worker, waiting, reply)
        except WorkerLost as error:
            self._lose(worker, str(error))
        except Exception as error:  # an error in the worker's own code; its process still runs
            self._set_aside(worker, f"{type(error).__name__}: {error}")
        finally:
            worker.n_on_way -= len(waiting)
            worker.is_alone = False
            self._ask_again(waiting.values())
        if worker.state not in (AT_WORK, STARTING) and worker.n_on_way == 0:
            # Without it the model may have no worker left.
            self._set_aside(worker, worker.problem, worker.state)

    def _take_reply(self, worker: _Worker, waiting: dict[str, _PendingCall], reply: Reply) -> None:
        worker.trouble = reply.trouble
        if reply.down and worker.state == AT_WORK:
            self._set_aside(worker, reply.down)
        for completion in reply.completions:
            pending = waiting.pop(completion.call_id, None)
            if pending is not None:
                worker.n_on_way -= 1
                self._take_completion(worker, pending, completion)
        self._feed_soon()

    def _take_completion(
        self, worker: _Worker, pending: _PendingCall, completion: Completion
    ) -> None:
        """End a call by its completion, unless a failure may be the worker's fault."""
        if completion.status == "ok":
            worker.n_answers, worker.n_failures_in_row = worker.n_answers + 1, 0
            for doubted_worker in pending.doubted_workers:
                self._contradict(doubted_worker)
            pending.end(completion)
            return
        if self._is_halted:
            pending.end(completion)
            return
        worker.n_failures += 1
        worker.n_failures_in_row += 1
        is_in_doubt = worker.is_in_doubt or worker.state != AT_WORK
        colleagues = [
            colleague
            for colleague in self._usable_workers()
            if colleague is not worker and colleague not in pending.doubted_workers
        ]
        if (
            colleagues
            and is_in_doubt
            and (not pending.doubted_workers or completion.n_attempts == 0)
        ):
            worker.problem = worker.problem or completion.error
            pending.doubted_workers.append(worker)
            pending.n_lost += completion.n_lost
            pending.n_attempts += completion.n_attempts
            self._queue.appendleft(pending)
            return
        pending.end(completion)

    def _contradict(self, worker: _Worker) -> None:
        """Count a call that failed at `worker` and was answered elsewhere."""
        worker.n_contradictions += 1
        if (
            worker.n_contradictions >= N_CONTRADICTIONS
            and worker.is_in_doubt
            and worker.state == AT_WORK
        ):
            self._set_aside(
                worker, f"Its calls failed and were answered elsewhere: {worker.problem}"
            )

    def _lose(self, worker: _Worker, reason: str) -> None:
        """Mark a worker as lost, and wait until its cluster has restarted it."""
        if worker.state != AT_WORK:
            return
        worker.state, worker.problem, worker.away_since = LOST, reason, time.monotonic()
        worker.n_losses += 1
        if not self._is_halted:
            self._begin(self._greet(worker))

    def _ask_again(self, pending_calls: Iterable[_PendingCall]) -> None:
        """Put calls with an unknown fate at the head of the queue; their input may be billed."""
        for pending in reversed(list(pending_calls)):
            pending.n_losses += 1
            pending.n_lost += 1
            pending.n_attempts += 1
            if self._is_halted or self._down:
                pending.end(_unsent(pending.call, self._down or _STOPPED))
            elif pending.n_losses >= MAX_LOSSES:
                reason = f"{MAX_LOSSES} workers were lost while this call was on its way to them."
                # The completion itself counts the last attempt.
                pending.n_lost -= 1
                pending.n_attempts -= 1
                pending.end(Completion(pending.call.call_id, "failed", error=reason, n_lost=1))
            else:
                self._queue.appendleft(pending)
        self._feed_soon()


def _unsent(call: Call, reason: str) -> Completion:
    """Return the completion of a call that was never sent: it has no attempts."""
    return Completion(call.call_id, "failed", error=reason, n_attempts=0)
