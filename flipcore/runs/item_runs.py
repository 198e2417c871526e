"""Which items of a study were asked to their end, so that a resumed run passes them over without asking each of them again what
comes next. A study in which that is so of every item is known to be done before its items are varied.

That is known by a hash of what a plan was made from: while it stays, the same calls are planned and the same readouts read from them.
Everything that a plan reads goes in: the declaration, the items with all that is stored of them, paraphrases with what stands of
them, what is hidden from prompts, the models' revisions and abilities, and the code itself. A study with plug-ins of other packages
has no hash, because their code may change under the same version."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from flipcore.core.contracts import Backend
from flipcore.core.records import Completion, Readout, digest
from flipcore.core.study import Study
from flipcore.core.version import __version__
from flipcore.models import ModelCard, open_backend
from flipcore.runs.origins import origins
from flipcore.runs.plan import ItemPlan, PlanInputs
from flipcore.runs.progress import DONE, Progress
from flipcore.runs.truncation import CutCount
from flipcore.store.archives import check_here
from flipcore.store.connection import Store
from flipcore.store.queries import planning
from flipcore.store.queries.planning import ItemRun

UNKNOWN = ""  # no hash: nothing is passed over
_CODE = Path(__file__).resolve().parents[1]


class ItemRuns:
    """Of one study and its models, read once when a run begins. `n_ends` counts the items that came to their end, now or before."""

    def __init__(self, inputs: PlanInputs, cards: Mapping[str, ModelCard], store: Store, is_whole: bool) -> None:
        """`is_whole`: the run is to store all items of the study, not the first ones alone."""
        names = [use.name for use in inputs.study.models] + ([inputs.study.judge] if inputs.study.judge else [])
        self._inputs, self._store, self.study_id, self._is_whole = inputs, store, inputs.study.study_id, is_whole
        self._of_study = self._of_items = study_hash(inputs.study, [open_backend(name, cards) for name in dict.fromkeys(names)])
        is_known = self._of_study != UNKNOWN
        self._ends: dict[tuple[str, str], ItemRun] = planning.item_runs(store, self.study_id) if is_known else {}
        self.n_ends = 0

    def prepare(self, backends: Iterable[Backend]) -> None:
        """Once models know what will be asked: it may have changed their revision."""
        self._of_items = study_hash(self._inputs.study, list(backends))

    def of(self, item_plan: ItemPlan, model: str) -> ItemRun | None:
        """How an item ended that need not be asked again; None where it must be looked at."""
        if not self.is_ended(item_plan, model):
            return None
        self.n_ends += 1
        return self._ends[model, item_plan.item.item_id]

    def is_ended(self, item_plan: ItemPlan, model: str) -> bool:
        """Whether an item was asked to its end, as it is planned now, and nothing of that is missing."""
        run = self._ends.get((model, item_plan.item.item_id))
        return run is not None and run.plan_hash == item_hash(self._of_items, item_plan, model)

    def rows(
        self, item_plan: ItemPlan, model: str, completions: Mapping[str, Completion], readouts: list[Readout], cut: CutCount
    ) -> list[dict]:
        """What is stored of an item that has just come to its end: nothing where a call of it failed. `cut` counted it alone."""
        plan_hash = item_hash(self._of_items, item_plan, model)
        if plan_hash == UNKNOWN or any(one.status != "ok" for one in completions.values()):
            return []
        self.n_ends += 1
        counts = {
            "n_calls": len(completions),
            "n_readouts": len(readouts),
            "n_answers": cut.n_answers.total(),
            "n_cut": cut.n_cut.total(),
        }
        place = {"study_id": self.study_id, "model": model, "item_id": item_plan.item.item_id}
        return [place | {"plan_hash": plan_hash} | counts]

    def whole_hash(self, state: str) -> str:
        """Of what the study was planned from and how its items ended; `UNKNOWN` where it did not end done, or where other items
        than this plan's are stored too."""
        return self._whole_hash(self.n_ends) if state == DONE else UNKNOWN

    def _whole_hash(self, n_ends: int) -> str:
        of_inputs = inputs_hash(self._inputs, self._of_study) if self._is_whole else UNKNOWN
        n_stored, fingerprint = planning.item_runs_print(self._store, self.study_id)
        return digest(of_inputs, fingerprint) if of_inputs != UNKNOWN and n_stored == n_ends else UNKNOWN

    def progress(self, on_progress: Callable[[Progress], None] | None = None) -> Progress | None:
        """How a study stands that ended done and whose plan would be the same again, told to `on_progress`; None of any other. Raises
        BadInput for an archived study that would be asked more."""
        end = self._end(on_progress)
        if end is None and self._is_whole:
            check_here(self._store.archives, self.study_id)
        return end

    def _end(self, on_progress: Callable[[Progress], None] | None) -> Progress | None:
        state, n_calls, message, plan_hash = planning.study_end(self._store, self.study_id)
        if state != DONE or plan_hash == UNKNOWN or self._whole_hash(len(self._ends)) != plan_hash:
            return None
        cut = CutCount()
        for use in self._inputs.study.models:
            runs = [run for (model, _), run in self._ends.items() if model == use.name]
            cut.add_counts(use, sum(run.n_answers for run in runs), sum(run.n_cut for run in runs))
        end = Progress(n_calls, n_calls, 0, n_calls, state=DONE, message=message, cut=cut.sentence())
        if on_progress:
            on_progress(end)
        return end


@cache
def code_hash() -> str:
    """Of the Python files of this package, as they are on the disk when it is first asked for."""
    return _hash(line for path in sorted(_CODE.rglob("*.py")) for line in (str(path.relative_to(_CODE)), path.read_bytes()))


def study_hash(study: Study, backends: Sequence[Backend]) -> str:
    """Of the declaration, the models and the code; `UNKNOWN` where a plug-in is another package's. `backends` hold a judge too."""
    if origins(study):
        return UNKNOWN
    return digest(__version__, code_hash(), study.to_toml(), [_facts(one) for one in backends])


def inputs_hash(inputs: PlanInputs, of_study: str) -> str:
    """Of all that a plan is made from, in the order in which it is asked; `of_study` is its `study_hash`."""
    if of_study == UNKNOWN:
        return UNKNOWN
    own, paraphrases = inputs.own, inputs.material.paraphrases
    parts: list[Any] = [of_study, sorted(inputs.hidden), inputs.material.n_examples, inputs.material.has_system]
    if own is not None:
        parts += [own.own, own.layout, own.seed, own.pools.get(("", ""), ())]
    for item, role in inputs.items:
        parts += [item, role, paraphrases.get(item.item_id, ())]
    return _hash(map(repr, parts))


def item_hash(of_study: str, item_plan: ItemPlan, model: str) -> str:
    """Of what one item will be asked of one model; `UNKNOWN` where the study has none."""
    if of_study == UNKNOWN:
        return UNKNOWN
    ways = [(one.axis, one.key, one.variant_id, one.compared_with, one.target, one.params) for one in item_plan.variants]
    return digest(of_study, model, item_plan.item.item_id, item_plan.item.solution, ways)


def _facts(backend: Backend) -> list[Any]:
    return [backend.name, backend.revision, sorted(backend.abilities), sorted(backend.takes), backend.simulated]


def _hash(parts: Iterable[str | bytes]) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass"))
        whole.update(b"\0")
    return whole.hexdigest()[:20]
