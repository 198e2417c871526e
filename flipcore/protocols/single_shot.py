"""Single shot: every variant, every sample, whatever the extractors ask for, each distinct request
once."""

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

# the floor is a disagreement between samples of one prompt, so one sample would measure nothing
IDENTITY_SAMPLES = 2


@dataclass(frozen=True)
class SingleShot(CallProtocol):
    name: ClassVar[str] = "single_shot"
    title: ClassVar[str] = "Single shot"
    about: ClassVar[str] = (
        "Every variant is asked as often as the study says; the identity axis at least twice."
    )

    def next_calls(self, history: History) -> list[Call]:
        """Calls whose completions are not there yet; none when the item is finished."""
        open_calls: dict[Call, None] = {}
        for extractor, variant, sample in _cells(history):
            if not why_absent(extractor, history, variant=variant):
                calls, _ = _calls(extractor, variant, sample=sample, history=history)
                open_calls.update((call, None) for call in calls if not _is_there(call, history))
        # what is read together waits until all of it is there
        if not open_calls and history.completions:
            for _, calls in _read_together(history).values():
                open_calls.update((call, None) for call in calls if not _is_there(call, history))
        return list(open_calls)

    def readouts(self, history: History) -> list[Readout]:
        """A readout for each cell: absent with the reason where the model cannot serve it or it was
        not asked."""
        together = _read_together(history)
        return [
            _readout(history, extractor, variant=variant, sample=sample, together=together)
            for extractor, variant, sample in _cells(history)
        ]


def why_absent(extractor: Extractor, history: History, variant: Variant) -> str:
    """The reason for which this extractor can have no readout from this model: an ability that it
    lacks, an effort that it does not take, or no judge. Empty when it can."""
    for ability in sorted(extractor.abilities):
        if ability not in history.backend.abilities:
            return (
                history.backend.why_not(ability) or f"{history.backend.name} cannot do {ability}."
            )
    asked_for = {
        "effort": variant.params.get("effort", history.ask.effort),
        "reasoning_budget": history.ask.reasoning_budget,
    }
    for name, value in asked_for.items():
        if value and "generate" in extractor.abilities and name not in history.backend.takes:
            return (
                f"{history.backend.name} takes no {name.replace('_', ' ')}, so it was not asked "
                f"with {value}."
            )
    if history.judge is None and extractor.needs_judge:
        return "The study names no model as judge."
    return ""


def _cells(history: History) -> Iterator[tuple[Extractor, Variant, int]]:
    for variant in history.variants:
        for extractor in history.extractors:
            if history.item.kind in extractor.applies_to and reads(extractor, variant):
                for sample in range(n_asked(extractor, variant, n_samples=history.n_samples)):
                    yield extractor, variant, sample


def n_asked(extractor: Extractor, variant: Variant, n_samples: int) -> int:
    """The number of times that a variant is read: as the study says, or its axis; a score has no
    chance in it and is taken once."""
    if extractor.abilities <= {"score", SPREAD} and extractor.name in VALUES:
        return 1
    if variant.axis == IDENTITY:
        return max(n_samples, IDENTITY_SAMPLES)
    return int(variant.params.get("n_samples", n_samples))


def _calls(
    extractor: Extractor, variant: Variant, sample: int, history: History
) -> tuple[list[Call], list[Completion]]:
    """The calls known so far, and the completions of as many as came back in order."""
    calls: list[Call] = []
    so_far: list[Completion] = []
    while True:
        needs = [
            need
            for need in extractor.needs(history.item, variant, history.ask, so_far)
            if not need.optional or need.request.ability in history.backend.abilities
        ]
        for need in needs[len(calls) :]:
            backend, parent = history.backend, None
            if need.answer_at is not None:
                reader = history.sandbox if extractor.needs_sandbox else history.judge
                if reader is None:
                    raise BadInput("The study names no model as judge.")
                backend, parent = reader, calls[need.answer_at].call_id
            calls.append(
                Call(
                    backend.name,
                    backend.revision,
                    request=need.request,
                    sample=sample if need.sample is None else need.sample,
                    parent_id=parent,
                )
            )
        came = [history.completions[call.call_id] for call in calls if _is_there(call, history)]
        if len(came) < len(calls) or len(calls) == len(so_far):
            return calls, came
        so_far = came


def _is_there(call: Call, history: History) -> bool:
    """Tell whether a call came back; before anything has, no call needs its id, which takes as long
    as all else that a price is made of."""
    return bool(history.completions) and call.call_id in history.completions


Together = dict[tuple[str, str, str, int], tuple[Reading, list[Call]]]


def _read_together(history: History) -> Together:
    """Map (extractor, axis, variant's key, sample) to what is read there in view of the item's
    other answers, and the calls of the judge that it takes, asked or not."""
    together: Together = {}
    for extractor in history.extractors:
        if extractor.reads_together and history.judge:
            answers: dict[tuple[str, str, str, int], tuple[Variant, Completion]] = {}
            for cell_extractor, variant, sample in _cells(history):
                if cell_extractor is extractor and not why_absent(
                    extractor, history, variant=variant
                ):
                    came = _calls(extractor, variant, sample=sample, history=history)[1]
                    if came:
                        place = (extractor.name, variant.axis, variant.key, sample)
                        answers[place] = (variant, came[0])
            read = read_by_judge(
                extractor,
                history.item,
                answers=list(answers.values()),
                judge=history.judge,
                completions=history.completions,
            )
            together |= dict(zip(answers, read, strict=True))
    return together


def read_by_judge(
    extractor: Extractor,
    item: Item,
    answers: Sequence[tuple[Variant, Completion]],
    judge: Backend,
    completions: Mapping[str, Completion],
) -> list[tuple[Reading, list[Call]]]:
    """Read an item's answers together, each with the judge's calls that it takes.

    `completions` are the judge's replies so far. A call is a child of the answer that it is about.
    """

    def call(need: Need) -> Call:
        parent_id = answers[need.answer_at or 0][1].call_id
        return Call(judge.name, judge.revision, request=need.request, parent_id=parent_id)

    read = extractor.read_together(item, answers, lambda need: completions.get(call(need).call_id))
    return [(reading, list(map(call, needs))) for reading, needs in read]


def _readout(
    history: History, extractor: Extractor, variant: Variant, sample: int, together: Together
) -> Readout:
    reason = why_absent(extractor, history, variant=variant)
    calls, so_far = (
        ([], []) if reason else _calls(extractor, variant, sample=sample, history=history)
    )
    place = (extractor.name, variant.axis, variant.key, sample)
    if reason:
        reading = absent(reason)
    elif len(so_far) < len(calls):
        reading = absent("It was not asked: the study stopped before.")
    elif place in together:
        reading, more = together[place]
        calls = [*calls, *more]
    else:
        reading = extractor.read(history.item, variant, so_far)
    came = tuple(call.call_id for call in calls if call.call_id in history.completions)
    return history.readout(variant, sample, extractor.name, reading, came)


PROTOCOL = SingleShot()
