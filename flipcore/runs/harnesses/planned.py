"""The prompts of a declared study that another harness can ask: each with the names by which its answer is known again."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from flipcore.core.contracts import Backend, History
from flipcore.core.errors import BadInput
from flipcore.core.records import Call, Completion, Request, Variant
from flipcore.core.study import ModelUse, Study
from flipcore.runs.plan import ItemPlan, Plan, plan
from flipcore.store.connection import Store
from flipcore.store.queries import locks

ONE_TURN = "single_shot"  # the protocol whose prompts are all known beforehand


class Elsewhere(Backend):
    """A model that another harness asks: it writes answers and nothing else."""

    simulated = False
    abilities = frozenset({"generate"})

    def __init__(self, name: str, revision: str = "") -> None:
        self.name, self.revision = name, revision

    def why_not(self, ability: str) -> str:
        return "Another harness asked the prompts, and such a log holds written answers only."

    async def complete(self, call: Call) -> Completion:
        raise AssertionError("nothing is asked here")

    async def close(self) -> None:
        pass


@dataclass(frozen=True)
class PlannedPrompt:
    """One request of one sample. `right` are the right answers as the prompt names them: labels for a choice, else words."""

    study_id: str
    model: str
    item_id: str
    variant_id: str
    sample: int
    request: Request
    right: tuple[str, ...]

    @property
    def prompt_id(self) -> str:
        return f"{self.variant_id}-{self.sample}"

    @property
    def marks(self) -> dict[str, str | int]:
        """What goes into the metadata of the harness, and comes back in its log."""
        return {
            "flipscope_study": self.study_id,
            "flipscope_model": self.model,
            "flipscope_variant": self.variant_id,
            "flipscope_sample": self.sample,
        }


def use_of(study: Study, model: str = "") -> ModelUse:
    """The model of the study that is meant. Raises BadInput where the name is wrong, or missing among several."""
    uses = [use for use in study.models if use.name == model or (not model and len(study.models) == 1)]
    if not uses:
        names = ", ".join(use.name for use in study.models)
        why = f"has no model {model!r}" if model else "has several models"
        raise BadInput(f"The study {why}; choose one of {names} with --model.")
    return uses[0]


def history_of(
    study_plan: Plan,
    item_plan: ItemPlan,
    use: ModelUse,
    backend: Elsewhere,
    completions: Mapping[str, Completion] | None = None,
) -> History:
    """What the protocol may look at: the completions of this item so far."""
    return study_plan.history(item_plan, use, backend, completions or {}, None)


def planned_calls(study_plan: Plan, item_plan: ItemPlan, use: ModelUse, backend: Elsewhere) -> dict[tuple[str, int], Call]:
    """(variant, sample) -> the call whose completion its extractors read. One prompt under several axes is one variant."""
    by_text: dict[tuple[str, str], Variant] = {}
    for variant in item_plan.variants:
        by_text.setdefault((variant.prompt.text, variant.prompt.system), variant)
    calls = study_plan.protocol.next_calls(history_of(study_plan, item_plan, use, backend))
    return {
        (by_text[one.request.prompt, one.request.system].variant_id, one.sample): one
        for one in calls
        if one.request.kind == "generate"
    }


def planned_of(study: Study, store: Store | None) -> Plan:
    """The study's plan. Raises BadInput where its prompts follow from earlier answers, or no extractor reads a written answer."""
    if study.is_recorded:
        raise BadInput(
            f"{study.name!r} was imported, so it planned no prompts. Press Ask again on Audit, and write the prompts of that study."
        )
    if study.protocol.name != ONE_TURN:
        raise BadInput(
            f"The protocol {study.protocol.name} chooses each prompt by the answers before it, so it cannot be written out. "
            f"Use {ONE_TURN}."
        )
    study_plan = plan(study, store)
    if not any(one.reads_text_alone for one in study_plan.extractors):
        names = ", ".join(one.name for one in study_plan.extractors)
        raise BadInput(f"Another harness returns written answers, and {names} read none. Add the extractor regex to the study.")
    return study_plan


def shown_items(study_plan: Plan, store: Store | None) -> list[ItemPlan]:
    """Without the items that are set aside for confirmation, unless the study has a lock."""
    opened = store is not None and bool(locks.locks(store, study_plan.study.study_id))
    return [one for one in study_plan.items if opened or not one.confirmatory]


def prompts(study_plan: Plan, use: ModelUse, items: list[ItemPlan]) -> Iterator[PlannedPrompt]:
    """Every request of one model, item by item in the plan's order."""
    backend = Elsewhere(use.name)
    for item_plan in items:
        variants = {one.variant_id: one for one in item_plan.variants}
        for (variant_id, sample), call in planned_calls(study_plan, item_plan, use, backend).items():
            right = _right(variants[variant_id])
            yield PlannedPrompt(
                study_plan.study.study_id, use.name, item_plan.item.item_id, variant_id, sample, call.request, right
            )


def _right(variant: Variant) -> tuple[str, ...]:
    if variant.target is None:
        return ()
    answers = variant.target.split("\n")
    if not variant.labels:
        return tuple(answers)
    return tuple(variant.labels[variant.order.index(int(one))] for one in answers)
