"""Single shot: every variant, every sample, whatever the extractors ask for, each distinct request once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from flipcore.contracts import Extractor, History
from flipcore.extractors.readings import absent
from flipcore.records import Call, Completion, Reading, Readout, Variant, correctness

_IDENTITY_SAMPLES = 2  # the floor is a disagreement between samples of one prompt, so one sample would measure nothing


@dataclass(frozen=True)
class SingleShot:
    name: ClassVar[str] = "single_shot"
    title: ClassVar[str] = "Single shot"
    about: ClassVar[str] = "Every variant is asked as often as the study says; the identity axis at least twice."

    def next_calls(self, history: History) -> list[Call]:
        """Calls whose completions are not there yet; none when the item is finished."""
        wanted: dict[str, Call] = {}
        for extractor, variant, sample in _cells(history):
            if why_absent(extractor, history) is None:
                calls, _ = _asked(extractor, variant, sample, history)
                wanted.update((call.call_id, call) for call in calls if call.call_id not in history.completions)
        return list(wanted.values())

    def readouts(self, history: History) -> list[Readout]:
        """A readout for each cell whose completions are all there, and for each that can never have one."""
        rows = []
        for extractor, variant, sample in _cells(history):
            why = why_absent(extractor, history)
            if why is not None:
                rows.append(_row(history, extractor, variant, sample, absent(why), ()))
                continue
            calls, so_far = _asked(extractor, variant, sample, history)
            if len(so_far) == len(calls):
                reading = extractor.read(history.item, variant, so_far)
                rows.append(_row(history, extractor, variant, sample, reading, tuple(call.call_id for call in calls)))
        return rows


def why_absent(extractor: Extractor, history: History) -> str | None:
    """Why this extractor can have no readout from this model: an ability that it, or the judge, lacks."""
    for ability in sorted(extractor.abilities):
        if ability not in history.backend.abilities:
            return history.backend.why_not(ability)
    if history.judge is None and extractor.name.startswith("judge"):
        return "The study names no model as judge."
    return None


def _cells(history: History) -> Iterator[tuple[Extractor, Variant, int]]:
    for variant in history.variants:
        n = max(history.n_samples, _IDENTITY_SAMPLES) if variant.axis == "identity" else history.n_samples
        for sample in range(n):
            for extractor in history.extractors:
                if history.item.kind in extractor.applies_to:
                    yield extractor, variant, sample


def _asked(extractor: Extractor, variant: Variant, sample: int, history: History) -> tuple[list[Call], list[Completion]]:
    """The calls known so far, and the completions of as many as came back in order."""
    calls: list[Call] = []
    so_far: list[Completion] = []
    while True:
        needs = extractor.needs(history.item, variant, history.ask, so_far)
        for need in needs[len(calls):]:
            asked, parent = history.backend, None
            if need.judged is not None:
                asked, parent = history.judge, calls[need.judged].call_id
            calls.append(Call(asked.name, asked.revision, need.request, sample, parent))
        came = [history.completions[call.call_id] for call in calls if call.call_id in history.completions]
        if len(came) < len(calls) or len(calls) == len(so_far):
            return calls, came
        so_far = came


def _row(history: History, extractor: Extractor, variant: Variant, sample: int, reading: Reading,
         source_ids: tuple[str, ...]) -> Readout:
    return Readout(history.backend.name, history.item.item_id, variant.axis, variant.variant_id, sample, extractor.name,
                   reading, correctness(reading, variant.target), source_ids)


PROTOCOL = SingleShot()
