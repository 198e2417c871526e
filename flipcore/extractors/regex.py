"""Generated text, read by rules that abstain: the answer that the model wrote. The default reference readout (source 004)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from flipcore.core.contracts import Need
from flipcore.core.records import OK, Item, Reading, Variant
from flipcore.extractors.readings import no_answer, text_request, unreadable
from flipcore.extractors.written.scope import answer_end
from flipcore.extractors.written.stated_choice import ChoiceText
from flipcore.extractors.written.stated_number import stated_number


def read_text(item: Item, variant: Variant, text: str) -> Reading:
    """What `text` answers: an option by label or words, or a number."""
    if not text.strip():
        return unreadable("The answer is empty.")
    text = text[: answer_end(text, item.question)]
    if item.kind == "number":
        answer, span, reason = stated_number(text)
        return Reading(OK, answer=answer, span=span) if answer is not None else unreadable(reason)
    found = ChoiceText(variant.labels, [item.options[i] for i in variant.order]).named(text)
    if found.position is None:
        return unreadable(found.reason)
    return Reading(OK, answer=str(variant.order[found.position]), span=found.span)


@dataclass(frozen=True)
class Regex:
    name: ClassVar[str] = "regex"
    title: ClassVar[str] = "Written answer"
    about: ClassVar[str] = "The label, option or number that the generated text states; none if it states several."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice", "number"})
    abilities: ClassVar[frozenset[str]] = frozenset({"generate"})

    def needs(self, item, variant, ask, so_far):
        return [Need(text_request(variant, ask))]

    def read(self, item, variant, completions):
        return no_answer(completions) or read_text(item, variant, completions[0].text)


EXTRACTOR = Regex()
