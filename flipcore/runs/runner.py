"""Make the missing calls of a study, within its budget. A run can be stopped and resumed.

Stored answers are never asked for again.
"""

import asyncio
import hashlib
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from flipcore.access.acting import Permission, require
from flipcore.core.contracts import Backend, History
from flipcore.core.errors import OverBudget
from flipcore.core.records import SANDBOX, Completion, Readout, digest
from flipcore.core.study import ModelUse, Study
from flipcore.core.version import __version__
from flipcore.models import ModelCard, model_cards, open_backend
from flipcore.runs.asking import Asking
from flipcore.runs.cluster.place import Place
from flipcore.runs.cluster.states import missing_workers
from flipcore.runs.cost import refusal
from flipcore.runs.embargo import check_judge
from flipcore.runs.origins import origins, study_row
from flipcore.runs.plan import (
    ItemPlan,
    Plan,
    PlanInputs,
    declared_rows,
    plan_inputs,
    plan_of,
    projection,
    remaining,
)
from flipcore.runs.progress import (
    DONE,
    FAILED,
    INCOMPLETE,
    OVER_BUDGET,
    Pace,
    Progress,
    end_message,
)
from flipcore.runs.truncation import CutCount, UnreadableCount
from flipcore.store import rows
from flipcore.store.archives import refuse_archived
from flipcore.store.connection import Store
from flipcore.store.queries import budgets, planning
from flipcore.store.queries.planning import ItemRun

# The store keeps which items of a study are complete: nothing is left to ask about them. A resumed
# run skips them without working out their calls. Where all items are complete, the run ends before
# it makes the variants of any item.

UNKNOWN = ""  # in place of a hash: then no item is skipped
_CODE = Path(__file__).resolve().parents[1]


class ItemRuns:
    """The complete items of a study, as stored when a run begins. `n_complete` counts the pairs of
    item and model that are complete, by this run or an earlier one."""

    def __init__(
        self, inputs: PlanInputs, cards: Mapping[str, ModelCard], store: Store, *, is_whole: bool
    ) -> None:
        """`is_whole`: the run stores all items of the study, not only the first ones."""
        names = [use.name for use in inputs.study.models]
        if inputs.study.judge:
            names.append(inputs.study.judge)
        if any(extractor.needs_sandbox for extractor in inputs.extractors):
            names.append(SANDBOX)
        self._inputs, self._store, self._is_whole = inputs, store, is_whole
        self.study_id = inputs.study.study_id
        backends = [open_backend(name, cards) for name in dict.fromkeys(names)]
        self._study_hash = self._prepared_hash = study_hash(inputs.study, backends)
        is_known = self._study_hash != UNKNOWN
        self._stored_runs: dict[tuple[str, str], ItemRun] = (
            planning.item_runs(store, self.study_id) if is_known else {}
        )
        self.n_complete = 0

    def prepare(self, backends: Iterable[Backend]) -> None:
        """Hash the study again: preparing a model for the prompts may have changed its revision."""
        self._prepared_hash = study_hash(self._inputs.study, list(backends))

    def skip(self, item_plan: ItemPlan, model: str) -> ItemRun | None:
        """Count and return a complete item's run; None if the item must be asked."""
        if not self.is_ended(item_plan, model):
            return None
        self.n_complete += 1
        return self._stored_runs[model, item_plan.item.item_id]

    def is_ended(self, item_plan: ItemPlan, model: str) -> bool:
        """Return whether the item is complete as it is planned now."""
        run = self._stored_runs.get((model, item_plan.item.item_id))
        return run is not None and run.plan_hash == item_hash(self._prepared_hash, item_plan, model)

    def rows(
        self,
        item_plan: ItemPlan,
        model: str,
        completions: Mapping[str, Completion],
        readouts: list[Readout],
        cut: CutCount,
    ) -> list[dict]:
        """Return the row to store for an item that is now complete; none where a call failed. `cut`
        holds the counts of this item only."""
        plan_hash = item_hash(self._prepared_hash, item_plan, model)
        if plan_hash == UNKNOWN or any(
            completion.status != "ok" for completion in completions.values()
        ):
            return []
        self.n_complete += 1
        counts = {
            "n_calls": len(completions),
            "n_readouts": len(readouts),
            "n_answers": cut.n_answers.total(),
            "n_cut": cut.n_cut.total(),
        }
        key = {"study_id": self.study_id, "model": model, "item_id": item_plan.item.item_id}
        return [key | {"plan_hash": plan_hash} | counts]

    def whole_hash(self, state: str) -> str:
        """Hash the plan's inputs and the ends of all items. `UNKNOWN` for a study that is not done,
        and where the store holds more items than the plan."""
        return self._whole_hash(self.n_complete) if state == DONE else UNKNOWN

    def _whole_hash(self, n_complete: int) -> str:
        hash_of_inputs = inputs_hash(self._inputs, self._study_hash) if self._is_whole else UNKNOWN
        n_stored, fingerprint = planning.item_runs_fingerprint(self._store, self.study_id)
        if hash_of_inputs == UNKNOWN or n_stored != n_complete:
            return UNKNOWN
        return digest(hash_of_inputs, fingerprint)

    def stored_end(self, on_progress: Callable[[Progress], None] | None = None) -> Progress | None:
        """Return, and pass to `on_progress`, the end of a study that is done. None for a study that
        is not done or would be planned differently now. Raises BadInput if such a study is
        archived."""
        end = self._read_end(on_progress)
        if end is None and self._is_whole:
            refuse_archived(self._store.archives, self.study_id)
        return end

    def _read_end(self, on_progress: Callable[[Progress], None] | None) -> Progress | None:
        state, n_calls, message, plan_hash = planning.study_end(self._store, self.study_id)
        if state != DONE or plan_hash == UNKNOWN:
            return None
        if self._whole_hash(len(self._stored_runs)) != plan_hash:
            return None
        cut = CutCount()
        for use in self._inputs.study.models:
            runs = [run for (model, _), run in self._stored_runs.items() if model == use.name]
            cut.add_counts(use, sum(run.n_answers for run in runs), sum(run.n_cut for run in runs))
        end = Progress(
            n_calls=n_calls,
            n_done=n_calls,
            n_reused=n_calls,
            state=DONE,
            message=message,
            cut=cut.sentence(),
        )
        if on_progress:
            on_progress(end)
        return end


@cache
def code_hash() -> str:
    """Hash this package's code and word lists, as they are on the disk at the first call."""
    parts: list[str | bytes] = []
    for path in sorted(_CODE.rglob("*")):
        if path.suffix in (".py", ".toml", ".txt", ".yaml"):
            parts += [str(path.relative_to(_CODE)), path.read_bytes()]
    return _hash(parts)


def study_hash(study: Study, backends: Sequence[Backend]) -> str:
    """Hash the declaration, the models (a judge included) and the code. `UNKNOWN` where another
    package provides a plug-in, because its code is not hashed."""
    if origins(study):
        return UNKNOWN
    model_facts = [
        [
            backend.name,
            backend.revision,
            sorted(backend.abilities),
            sorted(backend.takes),
            backend.simulated,
        ]
        for backend in backends
    ]
    return digest(__version__, code_hash(), study.to_toml(), model_facts)


def inputs_hash(inputs: PlanInputs, hash_of_study: str) -> str:
    """Hash everything that a plan is made from, items in the order in which they are asked."""
    if hash_of_study == UNKNOWN:
        return UNKNOWN
    own_prompt, paraphrases = inputs.own_prompt, inputs.material.paraphrases
    parts: list[Any] = [
        hash_of_study,
        sorted(inputs.hidden),
        inputs.material.n_examples,
        inputs.material.has_system,
    ]
    if own_prompt is not None:
        examples = own_prompt.pools.get(("", ""), ())
        parts += [own_prompt.prompt, own_prompt.layout, own_prompt.seed, examples]
    for item, role in inputs.items:
        parts += [item, role, paraphrases.get(item.item_id, ())]
    return _hash(map(repr, parts))


def item_hash(hash_of_study: str, item_plan: ItemPlan, model: str) -> str:
    """Hash everything that one model is asked about one item; `UNKNOWN` for an unknown study."""
    if hash_of_study == UNKNOWN:
        return UNKNOWN
    hashed_variants = [
        (
            variant.axis,
            variant.key,
            variant.variant_id,
            variant.compared_with,
            variant.target,
            variant.params,
        )
        for variant in item_plan.variants
    ]
    item = item_plan.item
    return digest(hash_of_study, model, item.item_id, item.solution, hashed_variants)


def _hash(parts: Iterable[str | bytes]) -> str:
    content_hash = hashlib.sha256()
    for part in parts:
        encoded = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        content_hash.update(encoded + b"\0")
    return content_hash.hexdigest()[:20]  # as long as a `digest`


def run(
    study: Study,
    store: Store,
    *,
    on_progress: Callable[[Progress], None] | None = None,
    cancel: threading.Event | None = None,
    items_limit: int | None = None,
    record: bool = True,
    place: Place | None = None,
) -> Progress:
    """Run a study to its end, its cap or its cancellation, and return the last progress.

    A pilot (`record=False`) asks the first `items_limit` items, and stores only completions and
    their price. `place` is where calls are answered, this process by default; the caller closes it.
    Raises OverBudget before the first call where the missing calls would exceed the cap.
    """
    require(Permission.RUN)
    inputs, cards = plan_inputs(study, store), model_cards()
    runs = ItemRuns(inputs, cards, store, is_whole=record and items_limit is None)
    if stored_end := runs.stored_end(on_progress):
        return stored_end
    study_plan = check_judge(plan_of(inputs, items_limit), store)
    cap, spent = budgets.budget_usd(store, study), budgets.spent_usd(store, study.study_id)
    names = [use.name for use in study.models]
    if study.judge:
        names.append(study.judge)
    if study_plan.n_programs:
        names.append(SANDBOX)
    cards_of_models = {name: cards.get(name) for name in names}
    is_paid = any(card and (card.price_in or card.price_out) for card in cards_of_models.values())
    expected = remaining(study_plan, store, runs.is_ended) if is_paid else projection(study_plan)
    if reason := refusal(expected, cap, cards_of_models, spent):
        if record:
            store.writer.add("studies", [study_row(study, OVER_BUDGET, reason)]).result()
        raise OverBudget(reason)
    study_run = _Run(study_plan, store, runs, on_progress, record=record)
    study_run.asking = Asking(
        store,
        study.study_id,
        cards_of_models,
        cards,
        cap,
        spent,
        links_calls=record,
        cancel=cancel,
        place=place,
        on_report=study_run.report,
        resume_hint="Resume makes only the missing calls.",
    )
    study_run.asking.progress.n_calls = projection(study_plan).n_calls
    return asyncio.run(study_run.go())


class _Run:
    asking: Asking

    def __init__(
        self, study_plan: Plan, store: Store, runs: ItemRuns, on_progress, *, record: bool
    ) -> None:
        self.plan, self.store, self.runs = study_plan, store, runs
        self.on_progress, self.record = on_progress, record
        self.study, self.study_id = study_plan.study, study_plan.study.study_id
        self.pace, self.cut, self.unreadable = Pace(), CutCount(), UnreadableCount()

    async def go(self) -> Progress:
        try:
            async with self.asking:
                await self._begin()
                await self._ask_all_items()
        except Exception as error:
            self.asking.fault(error)
        self._finish()
        return self.asking.progress

    async def _begin(self) -> None:
        """Store the declared items and variants, and prepare the models for the prompts."""
        for backend in self.asking.backends.values():
            self.plan.prepare(backend)
        self.runs.prepare(self.asking.backends.values())
        if not self.record:
            return
        n_calls = self.asking.progress.n_calls
        started = study_row(self.study, "running", "", n_calls=n_calls, started_at=rows.now())
        self.asking.storing.add([*declared_rows(self.plan), ("studies", [started])])
        await self.asking.storing.until_stored()

    async def _ask_all_items(self) -> None:
        jobs = product(self.plan.items, self.study.models)
        n_calls_per_item = self.asking.progress.n_calls / len(self.plan.items)
        n_workers = self.asking.place.n_items_at_once(
            self.study.models, self.asking.cards, n_calls_per_item
        )
        await self.asking.do_each(jobs, self._ask_or_skip, n_workers)

    async def _ask_or_skip(self, job: tuple[ItemPlan, ModelUse]) -> None:
        """Ask an item, or count and skip it where it is complete."""
        item_plan, use = job
        if run := self.runs.skip(item_plan, use.name):
            self.asking.count(None, n_reused=run.n_calls)
            self.cut.add_counts(use, run.n_answers, run.n_cut)
        else:
            await self._ask_item(item_plan, use)

    async def _ask_item(self, item_plan: ItemPlan, use: ModelUse) -> None:
        completions: dict[str, Completion] = {}
        is_complete = False
        while not self.asking.check_stopped():
            calls = self.plan.protocol.next_calls(self._history(item_plan, use, completions))
            if not calls:
                is_complete = True
                break
            completions |= await self.asking.replies(calls)
        if completions:
            self._read(item_plan, use, completions, is_complete=is_complete)
        await self.asking.storing.until_room()

    def _history(
        self, item_plan: ItemPlan, use: ModelUse, completions: dict[str, Completion]
    ) -> History:
        backends = self.asking.backends
        judge = backends.get(self.study.judge) if self.study.judge else None
        return self.plan.history(item_plan, use, backends[use.name], completions, judge)

    def _read(
        self,
        item_plan: ItemPlan,
        use: ModelUse,
        completions: dict[str, Completion],
        *,
        is_complete: bool,
    ) -> None:
        """Read the item's completions; store the readouts and whether the item is complete. A pilot
        stores none, and counts the unreadable ones."""
        readouts = self.plan.protocol.readouts(self._history(item_plan, use, completions))
        cut = CutCount()
        cut.add(use, self.plan.extractors, readouts)
        self.cut.add_counts(use, cut.n_answers.total(), cut.n_cut.total())
        if self.record:
            item_runs = (
                self.runs.rows(item_plan, use.name, completions, readouts, cut)
                if is_complete
                else []
            )
            readout_rows, source_rows = rows.readout_rows(self.study_id, readouts)
            self.asking.storing.add(
                [
                    ("readouts", readout_rows),
                    ("readout_sources", source_rows),
                    ("item_runs", item_runs),
                ]
            )
        else:
            self.unreadable.add(use.name, self.plan.extractors, readouts)

    def report(self) -> None:
        self._measure()
        if self.on_progress:
            self.on_progress(replace(self.asking.progress))

    def _measure(self) -> None:
        progress = self.asking.progress
        # The plan counts no calls that only the answers ask for, such as those after a blank token.
        progress.n_calls = max(progress.n_calls, progress.n_done)
        self.pace.measure(progress, time.monotonic())
        stopping = (
            " The run is stopping: calls that are on their way come in."
            if self.asking.ending
            else ""
        )
        progress.trouble = (
            " ".join(backend.trouble for backend in self.asking.backends.values()).strip()
            + stopping
        )
        progress.workers = self.asking.place.workers()

    def _finish(self) -> None:
        """Set and store the final state and message; FAILED where they cannot be stored."""
        self._measure()
        progress, spending = self.asking.progress, self.asking.spending
        progress.state = self.asking.ending or (INCOMPLETE if progress.n_failed else DONE)
        progress.eta_s, progress.trouble = None, ""
        sentence = progress.message or end_message(
            progress, spending.cap_usd, spending.spent_usd, self.asking.first_error
        )
        progress.cut, progress.unreadable = self.cut.sentence(), tuple(self.unreadable.sentences())
        sentences = [
            sentence,
            progress.cut,
            self.asking.other_models_sentence(),
            missing_workers(progress.workers),
            *self.plan.warnings,
        ]
        progress.message = " ".join(filter(None, sentences))
        n_calls = progress.n_done if progress.state in (DONE, INCOMPLETE) else progress.n_calls
        try:
            if self.record:
                row = study_row(
                    self.study,
                    progress.state,
                    progress.message,
                    n_calls=n_calls,
                    ended_at=rows.now(),
                    plan_hash=self.runs.whole_hash(progress.state),
                )
                self.store.writer.add("studies", [row]).result(60)
            self.store.writer.flush()
        except Exception as error:
            if progress.state in (DONE, INCOMPLETE):
                progress.state, progress.message = FAILED, str(error)
        if self.on_progress:
            self.on_progress(replace(progress))
