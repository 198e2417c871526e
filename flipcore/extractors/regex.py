"""Generated text, read by rules: the answer that the model wrote. The default reference readout (seed 004's e*)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from flipcore.contracts import Ask, Need
from flipcore.extractors.reading import stated_label, stated_number
from flipcore.records import ABSENT, OK, UNREADABLE, Reading, Request


def text_request(variant, ask: Ask) -> Request:
    """The one generation that all readouts of generated text share."""
    return Request("generate", variant.prompt.text, variant.prompt.system, max_tokens=ask.max_tokens,
                   temperature=ask.temperature, top_p=ask.top_p, seed=ask.seed, stop=ask.stop)


def read_text(item, variant, text: str) -> Reading:
    """A canonical answer from text, or the reason for none."""
    if item.kind == "choice":
        found = stated_label(text, variant.labels, [item.options[i] for i in variant.order])
        answer = None if found.answer is None else str(variant.order[found.answer])
    else:
        found = stated_number(text)
        answer = found.answer
    return Reading(UNREADABLE if answer is None else OK, answer, span=found.span, reason=found.reason)


@dataclass(frozen=True)
class Regex:
    name: ClassVar[str] = "regex"
    title: ClassVar[str] = "Generated text"
    about: ClassVar[str] = "The answer that the model wrote, read by rules that abstain when it states several."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice", "number"})
    abilities: ClassVar[frozenset[str]] = frozenset({"generate"})

    def needs(self, item, variant, ask, so_far):
        return (Need(text_request(variant, ask)),)

    def read(self, item, variant, completions):
        completion = completions[0]
        if completion.status != "ok":
            return Reading(ABSENT, reason=completion.error)
        return read_text(item, variant, completion.text)


EXTRACTOR = Regex()
