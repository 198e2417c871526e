"""Single shot: all calls that the extractors need, per variant and sample, each request once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from flipcore.core.contracts import Backend, CallProtocol, Extractor, History, Need
from flipcore.core.errors import BadInput
from flipcore.core.records import (
    IDENTITY,
    SPREAD,
    Call,
    Completion,
    Item,
    Reading,
    Readout,
    Variant,
)
from flipcore.extractors import VALUES, reads
from flipcore.extractors.readings import absent

# The noise floor is the disagreement between samples of one prompt, so it needs two of them.
IDENTITY_SAMPLES = 2


@dataclass(frozen=True)
class SingleShot(CallProtocol):
    name: ClassVar[str] = "single_shot"
    title: ClassVar[str] = "Single shot"
    about: ClassVar[str] = (
        "Every variant is asked as often as the study says; the identity axis at least twice."
    )

    def next_calls(self, history: History) -> list[Call]:
        """Return the calls without a completion; [] if the item is finished."""
        open_calls: dict[Call, None] = {}
        for extractor, variant, sample in _cells(history):
            if not why_absent(extractor, history, variant=variant):
                calls, _ = _calls(extractor, variant, sample=sample, history=history)
                open_calls.update(
                    (call, None) for call in calls if not _has_completion(call, history)
                )
        # Extractors that read an item's answers together have to wait for all of them.
        if not open_calls and history.completions:
            for _, calls in _read_together(history).values():
                open_calls.update(
                    (call, None) for call in calls if not _has_completion(call, history)
                )
        return list(open_calls)

    def readouts(self, history: History) -> list[Readout]:
        """Return one readout per extractor, variant and sample.

        It is absent, with the reason, if the model cannot serve it or the study stopped before.
        """
        joint_readings = _read_together(history)
        return [
            _readout(history, extractor, variant, sample, joint_readings=joint_readings)
            for extractor, variant, sample in _cells(history)
        ]


def why_absent(extractor: Extractor, history: History, variant: Variant) -> str:
    """Return why this extractor can have no readout from this model; "" if it can."""
    backend = history.backend
    for ability in sorted(extractor.abilities):
        if ability not in backend.abilities:
            return backend.why_not(ability) or f"{backend.name} cannot do {ability}."
    settings = {
        "effort": variant.params.get("effort", history.ask.effort),
        "reasoning_budget": history.ask.reasoning_budget,
    }
    for name, value in settings.items():
        if value and "generate" in extractor.abilities and name not in backend.takes:
            return (
                f"{backend.name} takes no {name.replace('_', ' ')}, so it was not asked with "
                f"{value}."
            )
    if history.judge is None and extractor.needs_judge:
        return "The study names no model as judge."
    return ""


def _cells(history: History) -> Iterator[tuple[Extractor, Variant, int]]:
    """Yield (extractor, variant, sample) for each readout of the item."""
    for variant in history.variants:
        for extractor in history.extractors:
            if history.item.kind in extractor.applies_to and reads(extractor, variant):
                for sample in range(n_asked(extractor, variant, n_samples=history.n_samples)):
                    yield extractor, variant, sample


def n_asked(extractor: Extractor, variant: Variant, n_samples: int) -> int:
    """Return the number of samples of a variant, by its axis, else by the study (`n_samples`)."""
    # A model's score of a text is deterministic, so one is enough.
    if extractor.abilities <= {"score", SPREAD} and extractor.name in VALUES:
        return 1
    if variant.axis == IDENTITY:
        return max(n_samples, IDENTITY_SAMPLES)
    return int(variant.params.get("n_samples", n_samples))


def _calls(
    extractor: Extractor, variant: Variant, sample: int, history: History
) -> tuple[list[Call], list[Completion]]:
    """Return the calls known so far, and the completions of those that came back.

    An extractor may need further calls that depend on earlier completions.
    """
    calls: list[Call] = []
    completions_so_far: list[Completion] = []
    while True:
        needs = [
            need
            for need in extractor.needs(history.item, variant, history.ask, completions_so_far)
            if not need.optional or need.request.ability in history.backend.abilities
        ]
        for need in needs[len(calls) :]:
            # A need with `answer_at` is about an earlier output, for the sandbox or the judge.
            backend, parent = history.backend, None
            if need.answer_at is not None:
                checker = history.sandbox if extractor.needs_sandbox else history.judge
                if checker is None:
                    raise BadInput("The study names no model as judge.")
                backend, parent = checker, calls[need.answer_at].call_id
            calls.append(
                Call(
                    backend.name,
                    backend.revision,
                    request=need.request,
                    sample=sample if need.sample is None else need.sample,
                    parent_id=parent,
                )
            )
        completions = [
            history.completions[call.call_id] for call in calls if _has_completion(call, history)
        ]
        if len(completions) < len(calls) or len(calls) == len(completions_so_far):
            return calls, completions
        completions_so_far = completions


def _has_completion(call: Call, history: History) -> bool:
    """Return whether a call came back."""
    # A projection of costs has no completions, and computing an id takes as long as all the rest.
    return bool(history.completions) and call.call_id in history.completions


CellKey = tuple[str, str, str, int]  # extractor, axis, key of the variant, sample
JointReadings = dict[CellKey, tuple[Reading, list[Call]]]


def _read_together(history: History) -> JointReadings:
    """Return the readings of extractors that compare an item's answers, with the judge's calls."""
    joint_readings: JointReadings = {}
    for extractor in history.extractors:
        if not extractor.reads_together or not history.judge:
            continue
        answers: dict[CellKey, tuple[Variant, Completion]] = {}
        for cell_extractor, variant, sample in _cells(history):
            if cell_extractor is not extractor or why_absent(extractor, history, variant=variant):
                continue
            _, completions = _calls(extractor, variant, sample=sample, history=history)
            if completions:
                key = (extractor.name, variant.axis, variant.key, sample)
                answers[key] = (variant, completions[0])
        readings = read_by_judge(
            extractor,
            history.item,
            answers=list(answers.values()),
            judge=history.judge,
            completions=history.completions,
        )
        joint_readings |= dict(zip(answers, readings, strict=True))
    return joint_readings


def read_by_judge(
    extractor: Extractor,
    item: Item,
    answers: Sequence[tuple[Variant, Completion]],
    judge: Backend,
    completions: Mapping[str, Completion],
) -> list[tuple[Reading, list[Call]]]:
    """Read an item's answers together; return each reading with the judge's calls that it needs.

    `completions` maps call ids to the judge's replies so far. A call to the judge has the call of
    the answer that it is about as its parent.
    """

    def judge_call(need: Need) -> Call:
        # Only the type allows None: extractors that read together set `answer_at`.
        _, answer = answers[need.answer_at or 0]
        return Call(judge.name, judge.revision, request=need.request, parent_id=answer.call_id)

    def reply_to(need: Need) -> Completion | None:
        return completions.get(judge_call(need).call_id)

    readings = extractor.read_together(item, answers, reply_to)
    return [(reading, [judge_call(need) for need in needs]) for reading, needs in readings]


def _readout(
    history: History,
    extractor: Extractor,
    variant: Variant,
    sample: int,
    joint_readings: JointReadings,
) -> Readout:
    reason = why_absent(extractor, history, variant=variant)
    if reason:
        return history.readout(variant, sample, extractor.name, absent(reason), ())
    calls, completions = _calls(extractor, variant, sample=sample, history=history)
    key = (extractor.name, variant.axis, variant.key, sample)
    if len(completions) < len(calls):
        reading = absent("It was not asked: the study stopped before.")
    elif key in joint_readings:
        reading, judge_calls = joint_readings[key]
        calls = [*calls, *judge_calls]
    else:
        reading = extractor.read(history.item, variant, completions)
    sources = tuple(call.call_id for call in calls if call.call_id in history.completions)
    return history.readout(variant, sample, extractor.name, reading, sources)


PROTOCOL = SingleShot()
