"""Plan a declared study: its items with roles, their variants by axis, and its cost."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from flipcore import axes, extractors, protocols
from flipcore.axes import AXES
from flipcore.core import bounds, randomness
from flipcore.core.contracts import (
    Ask,
    Axis,
    Backend,
    CallProtocol,
    Extractor,
    History,
    Material,
    Paraphrase,
)
from flipcore.core.errors import BadInput
from flipcore.core.records import BASE, SANDBOX, Call, Item, Variant, digest
from flipcore.core.study import ModelUse, Study
from flipcore.core.wordings import LANGUAGE, PARAPHRASE
from flipcore.models import model_cards, open_backend
from flipcore.models.cards import ModelCard
from flipcore.runs import cost, own_prompts
from flipcore.store import rows
from flipcore.store.connection import Store
from flipcore.store.queries import planning, studies
from flipcore.text.counts import count_of
from flipcore.text.prompts import layout_by_name

# The most examples that an axis shows (10), and one more in case the item itself is among them.
N_EXAMPLES = 11
PROGRAMS_PER_SECOND = 4.0  # a sandbox's rate on few processors
COUNTED_ITEMS = 60  # calls are counted on this many items and scaled up


@dataclass(frozen=True)
class ItemPlan:
    """An item in its role, with its variants under every axis that applies to it."""

    item: Item
    role: str
    confirmatory: bool  # set aside for confirmation
    variants: tuple[Variant, ...]


@dataclass(frozen=True)
class PlanInputs:
    """Everything that a plan is made from, before the items are varied."""

    study: Study
    items: tuple[tuple[Item, str], ...]  # (item, role), in the order in which they will be asked
    axes: tuple[Axis, ...]
    extractors: tuple[Extractor, ...]
    protocol: CallProtocol
    own_prompt: own_prompts.PromptPlan | None
    material: Material  # paraphrases and examples for the axes
    hidden: frozenset[str]  # ids of items that this study or an earlier one sets aside
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """Everything that is decided before the first call. `items` have the order of asking. `notes`
    include the `warnings`, which say what will be missing."""

    study: Study
    items: tuple[ItemPlan, ...]
    extractors: tuple[Extractor, ...]
    protocol: CallProtocol
    notes: tuple[str, ...] = field(default=())
    warnings: tuple[str, ...] = field(default=())

    def prepare(self, backend: Backend) -> None:
        """Tell the backend the items, their variants and roles. A simulated model needs them,
        because it cannot read the prompts."""
        items, variants, roles = [], [], {}
        for item_plan in self.items:
            items.append(item_plan.item)
            roles[item_plan.item.item_id] = item_plan.role
            # A protocol may add prompts of its own.
            variants += self.protocol.variants(item_plan.item, item_plan.variants[0].layout)
            variants += item_plan.variants
        backend.prepare(items, variants, roles)

    def history(
        self,
        item_plan: ItemPlan,
        use: ModelUse,
        backend: Backend,
        completions,
        judge: Backend | None,
    ) -> History:
        """Return what a protocol needs to choose the next calls on an item: the item with its
        variants, the settings of the model, and its `completions` so far, by call id."""
        ask = Ask(
            temperature=use.temperature,
            top_p=use.top_p,
            max_tokens=use.max_tokens,
            seed=use.seed,
            stop=use.stop,
            judge=self.study.judge,
            effort=use.effort,
            reasoning_budget=use.reasoning_budget,
        )
        return History(
            item=item_plan.item,
            variants=item_plan.variants,
            extractors=self.extractors,
            backend=backend,
            ask=ask,
            n_samples=use.n_samples,
            completions=completions,
            judge=judge,
            sandbox=self.sandbox,
        )

    @cached_property
    def sandbox(self) -> Backend | None:
        """The backend that runs code, if an extractor asks for it."""
        return open_backend(SANDBOX, {}) if self.n_programs else None

    @property
    def n_programs(self) -> int:
        """The number of programs that are run per written answer."""
        return sum(extractor.needs_sandbox for extractor in self.extractors)


def material(store) -> Material:
    """Return the stored paraphrases by item, with the present state of their reviews; none without
    a store."""
    by_item: dict[str, list[Paraphrase]] = {}
    for row in planning.paraphrases(store) if store is not None else ():
        paraphrase = Paraphrase(
            row["pair_id"], row["paraphrase"], row["state"], row["generator"], row["change"]
        )
        by_item.setdefault(row["item_id"], []).append(paraphrase)
    return Material(by_item)


def parts(study: Study) -> tuple[list[Axis], tuple[Extractor, ...], CallProtocol]:
    """Return the study's axes, extractors and protocol. Raises BadInput for an unknown name or
    parameter of any of them, and for an unknown layout."""
    layout_by_name(study.layout)
    return (
        [axes.axis_of(part.name, part.params) for part in study.axes],
        tuple(extractors.extractor_of(part.name, part.params) for part in study.extractors),
        protocols.protocol_of(study.protocol.name, study.protocol.params),
    )


def plan_inputs(study: Study, store=None) -> PlanInputs:
    """Load and order everything that a plan is made from. Raises BadInput for a recorded study, and
    for a name in the study that nothing provides."""
    if study.is_recorded:
        raise BadInput(
            f"{study.name!r} was imported: recorded outputs cannot be asked again. Open it under"
            " Studies, or declare a new study on the same items."
        )
    study.checked()
    chosen_axes, chosen_extractors, protocol = parts(study)
    items, notes, warnings = _load_items(study)
    order = randomness.generator(study.seed, "order").permutation(len(items))
    items = [items[i] for i in order]
    hidden = _hidden_ids(study, items, store)
    own_prompt = own_prompts.prompt_plan(study, items, hidden)
    axis_material = replace(
        material(store),
        examples=_examples(items, hidden),
        axes={axis.name: axis for axis in chosen_axes},
        **(own_prompt.material if own_prompt else {}),
    )
    return PlanInputs(
        study=study,
        items=tuple(items),
        axes=tuple(chosen_axes),
        extractors=chosen_extractors,
        protocol=protocol,
        own_prompt=own_prompt,
        material=axis_material,
        hidden=hidden,
        notes=tuple(notes),
        warnings=tuple(warnings),
    )


def plan(study: Study, store=None, items_limit: int | None = None, only: str | None = None) -> Plan:
    """Load the study's items, order them, and make their variants.

    `items_limit` keeps the first items only. `only` keeps just the item with that id, varied as in
    the whole plan. Raises BadInput for a name in the study that nothing provides.
    """
    return plan_of(plan_inputs(study, store), items_limit, only)


def plan_of(inputs: PlanInputs, items_limit: int | None = None, only: str | None = None) -> Plan:
    """Make the variants of loaded items as `plan` does. Raises BadInput if no axis applies to
    any item, and for a study with too many variants."""
    study, notes, warnings = inputs.study, list(inputs.notes), list(inputs.warnings)
    item_plans, refusals, n_variants = [], [], 0
    selection = [(item, role) for item, role in inputs.items if only in (None, item.item_id)]
    for item, role in selection[:items_limit]:
        variants: list[Variant] = []
        try:
            for axis in inputs.axes:
                if item.kind in axis.applies_to:
                    variants += _vary(axis, item, study, inputs.material, inputs.own_prompt)
        except BadInput as error:
            refusals.append(str(error))
            continue
        n_variants += len(variants) * len(study.models)
        if n_variants > bounds.MAX_VARIANTS:
            raise BadInput(
                f"The study asks more than {bounds.MAX_VARIANTS:,} variants of its items. Take"
                " fewer items, variants or models."
            )
        if variants:
            is_confirmatory = is_set_aside(study, item)
            item_plans.append(
                ItemPlan(item, role, confirmatory=is_confirmatory, variants=tuple(variants))
            )
    if not item_plans:
        raise BadInput(
            refusals[0] if refusals else "None of the study's axes applies to any of its items."
        )
    if refusals:
        warnings.append(f"Items that are left out: {len(refusals):,}. The first: {refusals[0]}")
    for note, is_warning in (
        *_option_notes(item_plans),
        *_paraphrase_notes(study, item_plans),
        *_comparison_notes(study),
    ):
        (warnings if is_warning else notes).append(note)
    return Plan(
        study=study,
        items=tuple(item_plans),
        extractors=inputs.extractors,
        protocol=inputs.protocol,
        notes=(*notes, *warnings),
        warnings=tuple(warnings),
    )


def _vary(
    axis: Axis,
    item: Item,
    study: Study,
    axis_material: Material,
    own_prompt: own_prompts.PromptPlan | None,
) -> list[Variant]:
    """Return the variants of an item under one axis; those of a harmful change are marked."""
    rng = randomness.generator(study.seed, item.item_id, axis.name)
    try:
        variants = axis.variants(item, study.layout, rng, axis_material)
        variants = own_prompt.write_variants(variants, item) if own_prompt else variants
    except BadInput:
        raise
    except Exception as error:  # an axis of another package may raise anything
        raise BadInput(AXES.failure(axis.name, error)) from error
    if axis.harmless:
        return variants
    marked = []
    for variant in variants:
        params = {**variant.params, "harmless": False}
        marked.append(variant if variant.key == BASE else replace(variant, params=params))
    return marked


def _hidden_ids(study: Study, items: Sequence[tuple[Item, str]], store) -> frozenset[str]:
    """Return ids of items that this study or an earlier one sets aside. Items with the same
    question under another id are included."""
    questions: set[str] = set()
    if store is not None:
        questions |= planning.questions_set_aside_before(store, study.study_id)
    questions |= {item.question for item, _ in items if is_set_aside(study, item)}
    hidden_questions = {_normalized(question) for question in questions}
    return frozenset(
        item.item_id for item, _ in items if _normalized(item.question) in hidden_questions
    )


def _normalized(question: str) -> str:
    """Return a question without case and extra spaces, to recognize it under another id."""
    return " ".join(question.lower().split())


def _examples(
    items: Sequence[tuple[Item, str]], hidden: frozenset[str]
) -> dict[str, tuple[Item, ...]]:
    """Return item id -> examples that an axis may show before the item, of its own role and kind.

    Items of another role may not be shown, because benchmark items would teach the questions of the
    retro-holdout. Nor may hidden items, because they would stand in the prompts of open items.
    """
    first_items: dict[tuple[str, str], list[Item]] = {}
    for item, role in items:
        if item.target is not None and item.item_id not in hidden:
            first_items.setdefault((role, item.kind), []).append(item)
    pools = {key: tuple(candidates[:N_EXAMPLES]) for key, candidates in first_items.items()}
    return {item.item_id: pools.get((role, item.kind), ()) for item, role in items}


def _load_items(study: Study) -> tuple[list[tuple[Item, str]], list[str], list[str]]:
    """Return ((item, role) pairs, notes, warnings). Raises BadInput for an item with two roles."""
    from flipcore.datasets import load_report

    by_id: dict[str, tuple[Item, str]] = {}
    notes: list[str] = []
    warnings: list[str] = []
    for source in study.items:
        report = load_report(source)
        notes += list(report.notes)
        if report.refusals:
            warnings.append(
                f"Rows of {source.dataset} that were refused: {len(report.refusals):,}. The first:"
                f" {report.refusals[0][1]}"
            )
        for item in report.items:
            _, earlier_role = by_id.get(item.item_id, (item, source.role))
            if earlier_role != source.role:
                raise BadInput(
                    f"{item.item_id} is named as {earlier_role} and as {source.role}; an"
                    " item can have one role in a study."
                )
            by_id[item.item_id] = (item, source.role)
    if not by_id:
        raise BadInput("The study has no items: its sources are empty after filtering.")
    return list(by_id.values()), notes, warnings


def is_set_aside(study: Study, item: Item) -> bool:
    """Return whether the study sets an item aside for confirmation. A hash of its id decides, so
    that items which are added later move none between the two parts."""
    uniform = int(digest(study.seed, "confirmatory", item.item_id)[:8], 16) / 16**8
    return uniform < study.confirmatory_share


def _comparison_notes(study: Study) -> list[tuple[str, bool]]:
    """Return (sentence, whether it is a warning) on extractors that compare answers."""
    notes = []
    for part in study.extractors:
        if extractors.EXTRACTORS[part.name].reads_together:
            note = (
                f"{extractors.title_of(part.name)} compares answers in pairs, both ways round: the"
                " calls are an upper bound, as if no two answers were alike."
            )
            notes.append((note, False))
    return notes


def _option_notes(item_plans: Sequence[ItemPlan]) -> list[tuple[str, bool]]:
    """Return notes on items whose options name other options, as "both A and B" does. The False of
    each says that it is no warning."""
    notes = []
    for axis, verb in (("option_order", "reordered"), ("label_set", "relabelled")):
        n_refused = _count_items(item_plans, partial(_is_refused_for_others, axis=axis))
        if n_refused:
            note = (
                f"{n_refused:,} of {len(item_plans):,} items are not {verb}: one of their options"
                " names other options."
            )
            notes.append((note, False))
    n_kept = _count_items(item_plans, lambda variant: "kept_last" in variant.params)
    if n_kept:
        keep = count_of(n_kept, "item keeps", "items keep")
        notes.append(
            (f"{keep} an option such as “none of the above” last while the others move.", False)
        )
    return notes


def _is_refused_for_others(variant: Variant, axis: str) -> bool:
    return variant.axis == axis and variant.params.get("refusal") == "refers"


def _is_version(variant: Variant, axis: str) -> bool:
    return variant.axis == axis and variant.key != BASE


def _count_items(item_plans: Sequence[ItemPlan], condition: Callable[[Variant], bool]) -> int:
    """Count the items with at least one variant that meets the condition."""
    return sum(any(map(condition, item_plan.variants)) for item_plan in item_plans)


def _paraphrase_notes(study: Study, item_plans: Sequence[ItemPlan]) -> list[tuple[str, bool]]:
    """Return (note, whether it is a warning) on stored paraphrases and translations."""
    notes = []
    for axis, noun in ((PARAPHRASE, "paraphrase"), (LANGUAGE, "translation")):
        if all(part.name != axis for part in study.axes):
            continue
        n_reworded = _count_items(item_plans, partial(_is_version, axis=axis))
        note = f"{n_reworded:,} of {len(item_plans):,} items have a {noun} that may be asked."
        if not n_reworded:
            note = (
                f"No item has an accepted {noun}: the {axis} axis will be empty. Propose and review"
                " some first."
            )
        notes.append((note, not n_reworded))
    return notes


def projection(study_plan: Plan) -> cost.Projection:
    """Return an upper bound on calls, tokens and price.

    The calls on each data set's first COUNTED_ITEMS items are scaled up to all of its items. An
    adaptive protocol chooses calls by earlier replies, so the most that it can make are counted. A
    judge is shown the outputs that extractors read, never the votes that a protocol takes itself.
    """
    sets: dict[str, list[ItemPlan]] = {}
    for item_plan in study_plan.items:
        sets.setdefault(item_plan.item.dataset, []).append(item_plan)
    judge = open_backend(study_plan.study.judge, model_cards()) if study_plan.study.judge else None
    total = cost.NOTHING
    for item_plans in sets.values():
        first_items = item_plans[:COUNTED_ITEMS]
        factor = len(item_plans) / len(first_items)
        total += _project(study_plan, first_items, judge).scaled(factor)
    return total


def _project(study_plan: Plan, item_plans: Sequence[ItemPlan], judge) -> cost.Projection:
    """Return an upper bound on what models, judge and sandbox are asked about these items."""
    cards, single_shot = model_cards(), protocols.PROTOCOLS["single_shot"]
    total = cost.NOTHING
    for use in study_plan.study.models:
        backend = open_backend(use.name, cards)
        histories = [
            study_plan.history(item_plan, use, backend, {}, judge) for item_plan in item_plans
        ]
        calls: list[Call] = []
        for history in histories:
            calls += study_plan.protocol.most_calls(history)
        total = total + priced(calls, backend, cards.get(use.name))
        for history in histories if judge else ():
            # Extractors read the outputs of single-shot calls, whatever the protocol is.
            first_requests = [call.request for call in single_shot.next_calls(history)]
            requests = [request for request in first_requests if request.kind == "generate"]
            judge_calls: list[Call] = []
            for extractor in history.extractors:
                if history.item.kind in extractor.applies_to:
                    judge_requests = extractor.judge_requests(history.item, requests)
                    judge_calls += [Call("", "", request) for request in judge_requests]
            total = total + cost.projected(judge_calls, cards.get(study_plan.study.judge or ""))
        n_programs = study_plan.n_programs * sum(call.request.kind == "generate" for call in calls)
        total = total + cost.Projection(
            n_programs, 0, 0, cost_usd=0.0, seconds=n_programs / PROGRAMS_PER_SECOND
        )
    return total


def priced(calls: Sequence[Call], backend: Backend, card: ModelCard | None) -> cost.Projection:
    """Return the projection of `calls`, with the second calls that they may need. Where a model
    begins its answer with a space, a first-token call is repeated after that space."""
    second_calls = []
    if "score" in backend.abilities:
        for call in calls:
            if call.request.kind == "first_token" and not call.request.continuation:
                second_calls.append(replace(call, request=replace(call.request, continuation=" ")))
    second = cost.projected(second_calls, card)
    # They are counted apart from the calls, because only models that begin with a space need them.
    second = replace(second, n_calls=0, seconds=0.0, n_more=second.n_calls)
    return cost.projected(calls, card) + second


def remaining(
    study_plan: Plan,
    store: Store,
    is_ended: Callable[[ItemPlan, str], bool] = lambda item_plan, model: False,
) -> cost.Projection:
    """Return an upper bound on the calls that are not stored yet.

    Where some are stored, every item is examined: the first items are the ones that were asked, so
    they cannot stand for the others. `is_ended(item_plan, model)` is True if nothing is missing.
    Such items are skipped. With a judge they are examined too, because the number of its calls
    follows from the number of all calls.
    """
    study_id, cards, all_calls = study_plan.study.study_id, model_cards(), projection(study_plan)
    if not studies.n_answers_of(store, [use.name for use in study_plan.study.models]):
        return all_calls
    judge = open_backend(study_plan.study.judge, cards) if study_plan.study.judge else None
    total, priced_calls = cost.NOTHING, cost.NOTHING
    for use in study_plan.study.models:
        backend = open_backend(use.name, cards)
        study_plan.prepare(backend)
        calls: dict[str, Call] = {}
        for item_plan in study_plan.items:
            if judge is None and is_ended(item_plan, use.name):
                continue
            history = study_plan.history(item_plan, use, backend, {}, judge)
            calls |= {call.call_id: call for call in study_plan.protocol.most_calls(history)}
        stored_ids = studies.stored_ids(store, list(calls)) if calls else set()
        priced_calls = priced_calls + priced(list(calls.values()), backend, cards.get(use.name))
        missing = [call for call_id, call in calls.items() if call_id not in stored_ids]
        total = total + priced(missing, backend, cards.get(use.name))
    if judge is None:
        return total
    # The outputs that the judge will be shown do not exist yet, so its calls cannot be looked up.
    # Their number is that of all calls less the models' own.
    judge_name = study_plan.study.judge or ""
    n_judged = max(1, all_calls.n_calls - priced_calls.n_calls)
    judge_usd = None
    if all_calls.cost_usd is not None and priced_calls.cost_usd is not None:
        judge_usd = max(0.0, all_calls.cost_usd - priced_calls.cost_usd)
    judge_calls = cost.Projection(
        n_calls=n_judged,
        n_tokens_in=max(0, all_calls.n_tokens_in - priced_calls.n_tokens_in),
        n_tokens_out=max(0, all_calls.n_tokens_out - priced_calls.n_tokens_out),
        cost_usd=judge_usd,
        seconds=n_judged / cost.rate(cards.get(judge_name)),
    )
    n_stored = studies.n_stored_of(store, study_id, judge_name)
    return total + judge_calls.scaled(max(0.0, 1 - n_stored / n_judged))


def declared_rows(study_plan: Plan) -> list:
    """Return the plan's items, their places in the study and their variants, as (table, rows) for
    the writer. They are stored before the first call, and before prompts go to another harness."""
    study_id = study_plan.study.study_id
    items, members, study_variants = [], [], []
    variants: dict[str, Variant] = {}
    for position, item_plan in enumerate(study_plan.items):
        items.append(rows.item_row(item_plan.item))
        member = {"study_id": study_id, "item_id": item_plan.item.item_id, "role": item_plan.role}
        members.append(member | {"position": position, "confirmatory": item_plan.confirmatory})
        study_variants += rows.study_variant_rows(study_id, item_plan.variants)
        # A prompt under several axes has one variant id, and is stored once.
        variants |= {variant.variant_id: variant for variant in item_plan.variants}
    return [
        ("items", items),
        ("study_items", members),
        ("variants", [rows.variant_row(variant) for variant in variants.values()]),
        ("study_variants", study_variants),
    ]
