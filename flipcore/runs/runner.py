"""Makes the missing calls of a study: bounded, resumable, capped. What is stored is never asked again."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace

from flipcore.core.contracts import Backend
from flipcore.core.errors import FlipscopeError, OverBudget
from flipcore.core.records import Call, Completion
from flipcore.core.study import ModelUse, Study
from flipcore.models import ModelCard, model_cards, open_backend
from flipcore.runs.cost import call_price, refusal
from flipcore.runs.plan import Asked, Plan, plan, projection
from flipcore.store import rows
from flipcore.store.connection import Store
from flipcore.store.queries import studies

REPORT_S = 0.5
WINDOW = 16  # items open at once per model: enough to keep every slot busy, few enough to finish what was begun


@dataclass
class Progress:
    """How far a run is. `n_reused` calls were answered by the store; `eta_s` is None until there is a rate."""

    n_calls: int = 0
    n_done: int = 0
    n_failed: int = 0
    n_reused: int = 0
    cost_usd: float = 0.0
    rate_per_s: float = 0.0
    eta_s: float | None = None
    state: str = "running"
    message: str = ""


@dataclass
class InFlight:
    """Calls that some run of this process has sent, so that two studies never buy the same one."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    calls: dict[str, Future] = field(default_factory=dict)


def run(
    study: Study,
    store: Store,
    *,
    on_progress: Callable[[Progress], None] | None = None,
    cancel: threading.Event | None = None,
    items_limit: int | None = None,
    in_flight: InFlight | None = None,
    record: bool = True,
) -> Progress:
    """Runs a study to its end, its cap or its cancellation, and returns how far it came. Raises OverBudget before the first
    call when the projection is over the cap. With `record=False` (a pilot) only completions are stored."""
    made = plan(study, store, items_limit)
    cards = model_cards()
    expected = projection(made)
    names = {use.name for use in study.models} | ({study.judge} if study.judge else set())
    refused = refusal(expected, study.budget_usd, {name: cards.get(name) for name in names})
    if refused:
        if record:
            store.writer.add("studies", [rows.study_row(study, "over_budget", refused)]).result()
        raise OverBudget(refused)
    run = _Run(made, store, cards, cancel or threading.Event(), on_progress, in_flight or InFlight(), record)
    run.progress.n_calls = expected.n_calls
    return asyncio.run(run.go())


class _Run:
    def __init__(self, made: Plan, store: Store, cards: dict[str, ModelCard], cancel, on_progress, in_flight, record):
        self.plan, self.store, self.cards, self.cancel = made, store, cards, cancel
        self.study = made.study
        self.on_progress, self.in_flight, self.record = on_progress, in_flight, record
        self.progress, self.started = Progress(), time.monotonic()
        self.reserved_usd, self.stopping = 0.0, ""
        self.slots: dict[str, asyncio.Semaphore] = {}

    async def go(self) -> Progress:
        backends: dict[str, Backend] = {}
        try:
            backends = {name: open_backend(name, self.cards) for name in self._names()}
            self._begin(backends)
            await self._all_items(backends)
        except FlipscopeError as error:
            self.stopping, self.progress.message = "failed", str(error)
        finally:
            for backend in backends.values():
                await backend.close()
        self._finish()
        return self.progress

    def _names(self) -> list[str]:
        names = [use.name for use in self.study.models]
        return list(dict.fromkeys([*names, self.study.judge] if self.study.judge else names))

    def _begin(self, backends: dict[str, Backend]) -> None:
        """Stores what will be asked, tells models that need it what the prompts mean, opens the slots."""
        items = [asked.item for asked in self.plan.items]
        variants = [variant for asked in self.plan.items for variant in asked.variants]
        for name, backend in backends.items():
            card = self.cards.get(name)
            self.slots[name] = asyncio.Semaphore(card.n_in_flight if card else 4)
            self.plan.prepare(backend)
        write, study_id = self.store.writer.add, self.study.study_id
        if not self.record:
            return
        write("items", [rows.item_row(item) for item in items])
        write(
            "study_items",
            [
                {
                    "study_id": study_id,
                    "item_id": asked.item.item_id,
                    "role": asked.role,
                    "position": i,
                    "confirmatory": asked.confirmatory,
                }
                for i, asked in enumerate(self.plan.items)
            ],
        )
        write("variants", [rows.variant_row(v) for v in {v.variant_id: v for v in variants}.values()])
        write("study_variants", [row for asked in self.plan.items for row in rows.study_variant_rows(study_id, asked.variants)])
        write(
            "studies", [rows.study_row(self.study, "running", "", n_calls=self.progress.n_calls, started_at=rows.now())]
        ).result()

    async def _all_items(self, backends: dict[str, Backend]) -> None:
        reporter = asyncio.create_task(self._report())
        window = asyncio.Semaphore(WINDOW * len(self.study.models))
        tasks: set[asyncio.Task] = set()
        try:
            for asked in self.plan.items:
                for use in self.study.models:
                    await window.acquire()
                    if self._stopped():
                        break
                    task = asyncio.create_task(self._item(asked, use, backends))
                    tasks.add(task)
                    task.add_done_callback(lambda done: (tasks.discard(done), window.release()))
            while tasks:
                for done in (await asyncio.wait(tasks))[0]:
                    done.result()
        finally:
            reporter.cancel()

    def _stopped(self) -> bool:
        if self.cancel.is_set() and not self.stopping:
            self.stopping = "cancelled"
        return bool(self.stopping)

    async def _item(self, asked: Asked, use: ModelUse, backends: dict[str, Backend]) -> None:
        """All calls of one item for one model, then its readouts."""
        known: dict[str, Completion] = {}
        judge = backends.get(self.study.judge) if self.study.judge else None
        by_name = {backend.name: backend for backend in backends.values()}
        while not self._stopped():
            history = self.plan.history(asked, use, backends[use.name], known, judge)
            calls = self.plan.protocol.next_calls(history)
            if not calls:
                break
            stored = self._stored(calls)
            known |= stored
            self.progress.n_reused += len(stored)
            self.progress.n_done += len(stored)
            made = await asyncio.gather(*(self._ask(call, by_name[call.model]) for call in calls if call.call_id not in stored))
            known |= {completion.call_id: completion for completion in made if completion is not None}
        if self.record and known:
            self._save_readouts(self.plan.history(asked, use, backends[use.name], known, judge))

    def _stored(self, calls: list[Call]) -> dict[str, Completion]:
        """Completions that are there already; a failed one is asked again."""
        found = studies.completions(self.store, [call.call_id for call in calls])
        if found and self.record:
            study_id = self.study.study_id
            self.store.writer.add("study_calls", [{"study_id": study_id, "call_id": row["call_id"]} for row in found])
        return {row["call_id"]: rows.completion_of(row) for row in found}

    async def _ask(self, call: Call, backend: Backend) -> Completion | None:
        """One call, unless the run is stopping; None then. Another run that is asking it already is waited for."""
        async with self.slots[backend.name]:
            if self._stopped() or not self._affordable(call):
                return None
            with self.in_flight.lock:
                other = self.in_flight.calls.get(call.call_id)
                mine = None if other else self.in_flight.calls.setdefault(call.call_id, Future())
            if other:
                completion = await asyncio.wrap_future(other)
            else:
                completion = await self._bought(call, backend, mine)
        self.progress.n_done += 1
        self.progress.n_failed += completion.status != "ok"
        if self.record:
            self.store.writer.add("study_calls", [{"study_id": self.study.study_id, "call_id": call.call_id}])
        return completion

    async def _bought(self, call: Call, backend: Backend, mine: Future) -> Completion:
        price = call_price(call, self.cards.get(backend.name)) or 0.0
        self.reserved_usd += price
        try:
            completion = await backend.complete(call)
        except BaseException as error:
            mine.set_exception(error if isinstance(error, Exception) else FlipscopeError("The run was stopped."))
            raise
        finally:
            self.reserved_usd -= price
            with self.in_flight.lock:
                self.in_flight.calls.pop(call.call_id, None)
        # a priced reply without token counts is taken at the most it can have cost, so that the cap holds
        self.progress.cost_usd += price if completion.cost_usd is None else completion.cost_usd
        self._stop_if_down(backend)
        self.store.writer.add("completions", [rows.completion_row(call, completion, backend.simulated)])
        mine.set_result(completion)
        return completion

    def _stop_if_down(self, backend: Backend) -> None:
        """A server that is gone ends the run, which can be resumed; the calls that it never saw are not asked in vain."""
        down = getattr(backend, "down", "")
        if down and not self.stopping:
            self.stopping = "failed"
            self.progress.message = f"{down} The run stopped here; resume makes only the missing calls."

    def _affordable(self, call: Call) -> bool:
        """False once what is spent, on its way, and this call's most could pass the cap."""
        cap = self.study.budget_usd
        price = call_price(call, self.cards.get(call.model)) or 0.0
        if cap is None or self.progress.cost_usd + self.reserved_usd + price <= cap or price == 0:
            return True
        self.stopping = self.stopping or "over_budget"
        return False

    def _save_readouts(self, history) -> None:
        readouts, sources = rows.readout_rows(self.study.study_id, self.plan.protocol.readouts(history))
        self.store.writer.add("readouts", readouts)
        self.store.writer.add("readout_sources", sources)

    async def _report(self) -> None:
        while True:
            self._measure()
            if self.on_progress:
                self.on_progress(replace(self.progress))
            await asyncio.sleep(REPORT_S)

    def _measure(self) -> None:
        p, seconds = self.progress, time.monotonic() - self.started
        p.rate_per_s = p.n_done / seconds if seconds > 0 else 0.0
        p.eta_s = (p.n_calls - p.n_done) / p.rate_per_s if p.rate_per_s > 0 and p.n_calls > p.n_done else None

    def _finish(self) -> None:
        self._measure()
        p = self.progress
        p.state, p.eta_s = self.stopping or "done", None
        p.message = " ".join([p.message or _message(p, self.study.budget_usd), *self.plan.warnings]).strip()
        if self.record:
            self.store.writer.add(
                "studies",
                [
                    rows.study_row(
                        self.study,
                        p.state,
                        p.message,
                        n_calls=p.n_done if p.state == "done" else p.n_calls,
                        ended_at=rows.now(),
                    )
                ],
            )
        self.store.writer.flush()
        if self.on_progress:
            self.on_progress(replace(p))


def _message(p: Progress, budget_usd: float | None) -> str:
    failed = f" {p.n_failed:,} calls failed; resume asks them again." if p.n_failed else ""
    if p.state == "cancelled":
        return f"Cancelled after {p.n_done:,} of about {p.n_calls:,} calls; resume goes on from here.{failed}"
    if p.state == "over_budget":
        return f"Stopped at its budget of ${budget_usd:,.2f} after {p.n_done:,} calls: ${p.cost_usd:,.2f} spent.{failed}"
    return f"{p.n_failed:,} of {p.n_done:,} calls failed; resume asks them again." if p.n_failed else ""
