"""Makes the missing calls of a study: bounded, resumable, capped. What is stored is never asked again."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from flipcore.access.acting import require
from flipcore.access.levels import Permission
from flipcore.core.contracts import Backend, History
from flipcore.core.errors import FlipscopeError, OverBudget
from flipcore.core.records import Call, Completion
from flipcore.core.study import ModelUse, Study
from flipcore.models import model_cards
from flipcore.runs.asking import InFlight, NotAsked, StoredCalls, Storing
from flipcore.runs.cluster.place import Place, Slot, ThisProcess
from flipcore.runs.cluster.states import missing_workers
from flipcore.runs.cost import refusal
from flipcore.runs.declaration import declared_rows
from flipcore.runs.embargo import check_judge
from flipcore.runs.item_runs import ItemRuns
from flipcore.runs.plan import ItemPlan, Plan, plan_inputs, plan_of, projection
from flipcore.runs.progress import CANCELLED, DONE, FAILED, INCOMPLETE, OVER_BUDGET, Progress, Speed, end_message
from flipcore.runs.remaining import remaining
from flipcore.runs.spending import Spending
from flipcore.runs.truncation import CutCount
from flipcore.store import rows
from flipcore.store.connection import Store
from flipcore.store.queries import budgets, planning

REPORT_S = 0.5
_POLL_S = 0.02


def run(
    study: Study,
    store: Store,
    *,
    on_progress: Callable[[Progress], None] | None = None,
    cancel: threading.Event | None = None,
    items_limit: int | None = None,
    in_flight: InFlight | None = None,
    record: bool = True,
    place: Place | None = None,
) -> Progress:
    """Runs a study to its end, its cap or its cancellation: how far it came. Raises OverBudget before the first call when what is
    missing would pass the cap. A pilot (`record=False`) stores only completions and their price. `place` is where calls are
    answered, this process by default; whoever opened it closes it."""
    require(Permission.RUN)
    inputs, cards = plan_inputs(study, store), model_cards()
    runs = ItemRuns(inputs, cards, store, record and items_limit is None)
    if end := runs.progress(on_progress):
        return end
    study_plan = check_judge(plan_of(inputs, items_limit), store)
    cap, spent = budgets.budget_usd(store, study), budgets.spent_usd(store, study.study_id)
    cards_of_models = {name: cards.get(name) for name in (*(use.name for use in study.models), study.judge) if name}
    is_paid = any(card and (card.price_in or card.price_out) for card in cards_of_models.values())
    expected = remaining(study_plan, store, runs.is_ended) if is_paid else projection(study_plan)
    if reason := refusal(expected, cap, cards_of_models, spent):
        if record:
            store.writer.add("studies", [rows.study_row(study, OVER_BUDGET, reason)]).result()
        raise OverBudget(reason)
    spending = Spending(cap, spent, cards, budgets.overbilling(store))
    run = _Run(study_plan, store, spending, cancel or threading.Event(), on_progress, in_flight or InFlight(), record)
    run.place, run.runs, run.progress.n_calls = place or run.place, runs, projection(study_plan).n_calls
    return asyncio.run(run.go())


class _Run:
    runs: ItemRuns

    def __init__(
        self, study_plan: Plan, store: Store, spending: Spending, cancel, on_progress, in_flight: InFlight, record: bool
    ) -> None:
        self.plan, self.store, self.spending, self.cancel = study_plan, store, spending, cancel
        self.study, self.study_id, self.cards = study_plan.study, study_plan.study.study_id, spending.cards
        self.on_progress, self.in_flight, self.record = on_progress, in_flight, record
        self.progress, self.speed = Progress(), Speed()
        self.storing, self.stored_calls = Storing(store.writer), StoredCalls(store, self._names())
        self.stopping, self.first_error, self.cut = "", "", CutCount()
        self.slots: dict[str, Slot] = {}
        self.backends: dict[str, Backend] = {}
        self.place: Place = ThisProcess()
        self.counting = threading.Lock()

    async def go(self) -> Progress:
        reporter = asyncio.create_task(self._report())
        try:
            for name in self._names():
                self.backends[name] = self.place.open(name, self.cards)
            await self._begin()
            await self._all_items()
            await self.storing.safe()
        except Exception as error:
            self._fault(error)
        finally:
            reporter.cancel()
            for backend in self.backends.values():
                await self._close(backend)
        self._finish()
        return self.progress

    def _names(self) -> list[str]:
        names = [use.name for use in self.study.models]
        return list(dict.fromkeys([*names, self.study.judge] if self.study.judge else names))

    async def _close(self, backend: Backend) -> None:
        try:
            await backend.close()
        except Exception as error:
            self._fault(error)

    async def _begin(self) -> None:
        """Stores what will be asked, tells models that need it what the prompts mean, opens the slots."""
        for name, backend in self.backends.items():
            self.slots[name] = self.place.slots(name, self.cards)
            self.plan.prepare(backend)
        self.runs.prepare(self.backends.values())
        if not self.record:
            return
        started = rows.study_row(self.study, "running", "", n_calls=self.progress.n_calls, started_at=rows.now())
        self.storing.add([*declared_rows(self.plan), ("studies", [started])])
        await self.storing.safe()

    async def _all_items(self) -> None:
        """Workers take items in the plan's order; every one ends when the run stops, whatever it waits for."""
        jobs = ((item_plan, use) for item_plan in self.plan.items for use in self.study.models)
        n_open = self.place.n_open(self.study.models, self.cards, self.progress.n_calls / len(self.plan.items))
        await asyncio.gather(*(self._worker(jobs) for _ in range(n_open)))

    async def _worker(self, jobs: Iterator[tuple[ItemPlan, ModelUse]]) -> None:
        for item_plan, use in jobs:
            if self._stopped():
                return
            try:
                if not self._passes_over(item_plan, use):
                    await self._item(item_plan, use)
            except Exception as error:  # calls on their way come in; nothing new is begun
                self._fault(error)

    def _passes_over(self, item_plan: ItemPlan, use: ModelUse) -> bool:
        """Whether the item was asked to its end before; it is counted then."""
        if run := self.runs.of(item_plan, use.name):
            self._count(None, n_reused=run.n_calls)
            self.cut.add_counts(use, run.n_answers, run.n_cut)
        return run is not None

    def _fault(self, error: BaseException) -> None:
        """Ends the run with a sentence; a fault of ours is logged with its place."""
        if isinstance(error, FlipscopeError):
            self._stop(FAILED, str(error))
            return
        logging.getLogger(__name__).error("A run stopped on an internal fault", exc_info=error)
        self._stop(
            FAILED,
            f"The run stopped on an internal fault ({type(error).__name__}: {error}). Nothing stored is lost; Resume makes "
            "only the missing calls.",
        )

    def _stop(self, state: str, message: str = "") -> None:
        """The first reason counts. Calls that wait for another attempt end; calls on their way come in."""
        if self.stopping:
            return
        self.stopping, self.progress.message = state, message
        for backend in self.backends.values():
            backend.halt()

    def _stopped(self) -> bool:
        if self.cancel.is_set():
            self._stop(CANCELLED)
        if self.storing.problem:
            self._fault(self.storing.problem)
        return bool(self.stopping)

    async def _item(self, item_plan: ItemPlan, use: ModelUse) -> None:
        """All calls of one item for one model, then its readouts."""
        completions: dict[str, Completion] = {}
        at_end = False
        while not self._stopped():
            calls = self.plan.protocol.next_calls(self._history(item_plan, use, completions))
            if not calls:
                at_end = True
                break
            stored_completions = self._stored_completions([call for call in calls if call.call_id in self.stored_calls])
            completions |= stored_completions
            missing = [call for call in calls if call.call_id not in stored_completions]
            replies = await asyncio.gather(*(self._ask(call) for call in missing), return_exceptions=True)
            for one in replies:
                if isinstance(one, BaseException):
                    raise one
                if one is not None:
                    completions[one.call_id] = one
        if completions:
            self._read(item_plan, use, completions, at_end)
        await self.storing.room()

    def _history(self, item_plan: ItemPlan, use: ModelUse, completions: dict[str, Completion]) -> History:
        judge = self.backends.get(self.study.judge) if self.study.judge else None
        return self.plan.history(item_plan, use, self.backends[use.name], completions, judge)

    def _stored_completions(self, calls: list[Call]) -> dict[str, Completion]:
        """Completions that are there already; a failed one is asked again."""
        completion_rows = planning.completions(self.store, [call.call_id for call in calls]) if calls else []
        if completion_rows:
            call_ids = [row["call_id"] for row in completion_rows]
            self.storing.add(self._memberships(call_ids), partial(self._count, n_reused=len(completion_rows)))
        return {row["call_id"]: rows.completion_of(row) for row in completion_rows}

    def _memberships(self, call_ids: list[str]) -> list:
        mine = [{"study_id": self.study_id, "call_id": call_id} for call_id in call_ids] if self.record else []
        return [("study_calls", mine)]

    def _count(self, error: BaseException | None, n_reused: int = 0, completion: Completion | None = None) -> None:
        """Counts what is safe; called in the writer's thread."""
        if error is not None:
            return
        with self.counting:
            self.progress.n_reused += n_reused
            self.progress.n_done += n_reused + (completion is not None)
            if completion is not None and completion.status != "ok":
                self.progress.n_failed += 1
                self.first_error = self.first_error or completion.error

    async def _ask(self, call: Call) -> Completion | None:
        """One call, unless the run is stopping; None then. Another run that is asking it already is waited for."""
        backend = self.backends[call.model]
        async with self.slots[backend.name]:
            while not self._stopped():
                mine, other = self.in_flight.begin(call.call_id)
                if mine is not None:
                    return await self._bought(call, backend)
                if other is None:  # another run has stored it meanwhile
                    return self._stored_completions([call]).get(call.call_id)
                completion = await self._of_another_run(other)
                if completion is not None:
                    self.storing.add(self._memberships([call.call_id]), partial(self._count, completion=completion))
                    return completion
        return None

    async def _of_another_run(self, other) -> Completion | None:
        """What another run got for a call; None when it got nothing or this run stops."""
        while not other.done() and not self._stopped():
            await asyncio.sleep(_POLL_S)
        return other.result() if other.done() and other.exception() is None else None

    async def _bought(self, call: Call, backend: Backend) -> Completion | None:
        """The call, paid for and handed to the store; others that wait for it are told once it is safe."""
        reserved = await self._reserved(call)
        if reserved is None:
            self.in_flight.give_up(call.call_id, NotAsked())
            return None
        try:
            completion = await backend.complete(call)
        except BaseException as error:
            self.in_flight.give_up(call.call_id, error)
            raise
        finally:
            self.spending.release(call, reserved)
        self._stop_if_down(backend)
        if completion.n_attempts == 0:  # the run stopped before it was sent
            self.in_flight.give_up(call.call_id, NotAsked())
            return None
        self._hand_over(call, completion, backend)
        return completion

    def _hand_over(self, call: Call, completion: Completion, backend: Backend) -> None:
        """The completion, its price and its membership, stored together."""
        cost = self.spending.settle(call, completion)
        self.progress.cost_usd += cost
        bound = self.spending.bound(call) + self.spending.lost(call, completion)
        paid = [budgets.purchase_row(self.study_id, call, completion, cost, bound)] if cost else []

        def safe(error: BaseException | None) -> None:
            self._count(error, 0, completion)
            self.in_flight.end(call.call_id, completion, error)

        completion_rows = [rows.completion_row(call, completion, backend.simulated)]
        self.storing.add([("completions", completion_rows), ("purchases", paid), *self._memberships([call.call_id])], safe)

    def _stop_if_down(self, backend: Backend) -> None:
        """A server that is gone ends the run, which can be resumed; the calls that it never saw are not asked in vain."""
        if backend.down:
            self._stop(FAILED, f"{backend.down} The run stopped here. Resume makes only the missing calls.")

    async def _reserved(self, call: Call) -> float | None:
        """The most that the call can cost, set aside within the cap; None once the run stops or there is no room for it."""
        while not self._stopped():
            reserved = self.spending.reserve(call)
            if reserved is not None:
                return reserved
            if not self.spending.can_wait():
                self._stop(OVER_BUDGET)
                return None
            await asyncio.sleep(_POLL_S)
        return None

    def _read(self, item_plan: ItemPlan, use: ModelUse, completions: dict[str, Completion], at_end: bool) -> None:
        """The item's readouts: counted where they were cut off, and stored unless this is a pilot; and that it came to its end."""
        read, cut = self.plan.protocol.readouts(self._history(item_plan, use, completions)), CutCount()
        cut.add(use, self.plan.extractors, read)
        self.cut.add_counts(use, cut.n_answers.total(), cut.n_cut.total())
        if self.record:
            ends = self.runs.rows(item_plan, use.name, completions, read, cut) if at_end else []
            readouts, sources = rows.readout_rows(self.study_id, read)
            self.storing.add([("readouts", readouts), ("readout_sources", sources), ("item_runs", ends)])

    async def _report(self) -> None:
        while True:
            self._stopped()  # a cancellation reaches calls that wait for another attempt
            self._measure()
            if self.on_progress:
                self.on_progress(replace(self.progress))
            await asyncio.sleep(REPORT_S)

    def _measure(self) -> None:
        p = self.progress
        p.rate_per_s = self.speed.at(time.monotonic(), p.n_done - p.n_reused)
        p.eta_s = (p.n_calls - p.n_done) / p.rate_per_s if p.rate_per_s > 0 and p.n_calls > p.n_done else None
        waiting = " The run is stopping: calls that are on their way come in." if self.stopping else ""
        p.trouble = " ".join(one.trouble for one in self.backends.values()).strip() + waiting
        p.workers = self.place.workers()

    def _finish(self) -> None:
        """Measures, says how it ended, and stores that; a state that cannot be stored is a failure of its own."""
        self._measure()
        p = self.progress
        p.state = self.stopping or (INCOMPLETE if p.n_failed else DONE)
        p.eta_s, p.trouble = None, ""
        sentence = p.message or end_message(p, self.spending.cap_usd, self.spending.spent_usd, self.first_error)
        p.cut = self.cut.sentence()
        p.message = " ".join(filter(None, [sentence, p.cut, missing_workers(p.workers), *self.plan.warnings]))
        n_calls = p.n_done if p.state in (DONE, INCOMPLETE) else p.n_calls
        try:
            if self.record:
                ends = {"ended_at": rows.now(), "plan_hash": self.runs.whole_hash(p.state)}
                row = rows.study_row(self.study, p.state, p.message, n_calls=n_calls, **ends)
                self.store.writer.add("studies", [row]).result(60)
            self.store.writer.flush()
        except Exception as error:
            if p.state in (DONE, INCOMPLETE):
                p.state, p.message = FAILED, str(error)
        if self.on_progress:
            self.on_progress(replace(p))
