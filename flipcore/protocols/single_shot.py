"""Single shot: every variant, every sample, every extractor's requests, each once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from flipcore.contracts import Extractor, History
from flipcore.records import ABSENT, Call, Completion, Reading, Readout, Variant, correctness


@dataclass(frozen=True)
class SingleShot:
    name: ClassVar[str] = "single_shot"
    title: ClassVar[str] = "Single shot"
    about: ClassVar[str] = "Each variant is asked once per sample and read as it is."

    def next_calls(self, history: History) -> list[Call]:
        """All calls that are needed and neither answered nor failed; empty when the readouts can be derived."""
        missing: dict[str, Call] = {}
        for extractor, variant, sample in _cells(history):
            if _lacking(history, extractor):
                continue
            calls, completions = _calls(history, extractor, variant, sample)
            for call in calls[len(completions):]:
                missing.setdefault(call.call_id, call)
        return list(missing.values())

    def readouts(self, history: History) -> list[Readout]:
        return [_readout(history, extractor, variant, sample) for extractor, variant, sample in _cells(history)]


def _cells(history: History) -> Iterator[tuple[Extractor, Variant, int]]:
    for extractor in history.extractors:
        if history.item.kind in extractor.applies_to:
            for variant in history.variants:
                # identity is the floor itself: with one sample there would be nothing to compare
                n_samples = max(history.n_samples, 2) if variant.axis == "identity" else history.n_samples
                yield from ((extractor, variant, sample) for sample in range(n_samples))


def _lacking(history: History, extractor: Extractor) -> str:
    """Why this model cannot serve the extractor; empty when it can."""
    for ability in sorted(extractor.abilities):
        if ability not in history.backend.abilities:
            return history.backend.why_not(ability)
    if extractor.name == "judge" and history.judge is None:
        return "No judge was chosen for this study."
    return ""


def _calls(history: History, extractor, variant: Variant, sample: int) -> tuple[list[Call], list[Completion]]:
    """The calls that an extractor reads, and the completions of the first of them up to the first gap."""
    calls: list[Call] = []
    completions: list[Completion] = []
    while True:
        needs = extractor.needs(history.item, variant, history.ask, completions)
        calls = []
        for need in needs:
            backend = history.backend if need.judged is None else history.judge
            parent = None if need.judged is None else calls[need.judged].call_id
            calls.append(Call(backend.name, backend.revision, need.request, sample, parent))
        found = []
        for call in calls:
            if call.call_id not in history.completions:
                break
            found.append(history.completions[call.call_id])
        if len(found) == len(completions) or len(found) < len(calls):
            return calls, found
        completions = found


def _readout(history: History, extractor, variant: Variant, sample: int) -> Readout:
    lacking = _lacking(history, extractor)
    calls, completions = ([], []) if lacking else _calls(history, extractor, variant, sample)
    if lacking:
        reading = Reading(ABSENT, reason=lacking)
    elif len(completions) < len(calls):
        reading = Reading(ABSENT, reason="It was not asked: the study stopped before.")
    else:
        reading = extractor.read(history.item, variant, completions)
    return Readout(history.backend.name, history.item.item_id, variant.axis, variant.variant_id, sample, extractor.name,
                   reading, correctness(reading, variant.target), tuple(call.call_id for call in calls[:len(completions)]))


PROTOCOL = SingleShot()
