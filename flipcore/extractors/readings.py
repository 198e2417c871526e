"""Helpers of all extractors: the shared request for a text, and readings without an answer."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from flipcore.core.contracts import Ask, Extractor, Need
from flipcore.core.errors import BadInput
from flipcore.core.finish import REFUSAL, cut_reason
from flipcore.core.records import (
    ABSENT,
    CUT,
    UNREADABLE,
    Completion,
    Item,
    Reading,
    Request,
    Variant,
)


def text_request(variant: Variant, ask: Ask) -> Request:
    """Return the request for a written answer; extractors share it, so that it is sent once."""
    return Request(
        "generate",
        variant.prompt.text,
        system=variant.prompt.system,
        max_tokens=ask.max_tokens,
        temperature=ask.temperature,
        top_p=ask.top_p,
        seed=ask.seed,
        stop=tuple(ask.stop),
        effort=str(variant.params.get("effort", ask.effort)),
        reasoning_budget=ask.reasoning_budget,
        turns=variant.prompt.turns,
    )


class TextExtractor(Extractor):
    """Base of extractors that need only the written answer; BadInput where `why_not` says so."""

    abilities: ClassVar[frozenset[str]] = frozenset({"generate"})

    def needs(
        self, item: Item, variant: Variant, ask: Ask, so_far: Sequence[Completion]
    ) -> Sequence[Need]:
        self._check()
        return [Need(text_request(variant, ask))]

    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        self._check()
        return no_answer(completions) or self.read_text(item, variant, completions[0].text)

    @abstractmethod
    def read_text(self, item: Item, variant: Variant, text: str) -> Reading:
        """Read the answer from a text that was not cut off."""

    def _check(self) -> None:
        if reason := self.why_not():
            raise BadInput(reason)


def asked_question(item: Item, variant: Variant) -> str:
    """Return the question in the variant's wording, or the item's if the prompt has no stem."""
    stem = dict(variant.prompt.parts).get("stem", item.question)
    return stem.strip().removeprefix("Question:").strip()


def absent(reason: str) -> Reading:
    """Return the reading for missing data: no output came, or no log-probabilities."""
    return Reading(ABSENT, reason=reason)


def unreadable(reason: str, **fields) -> Reading:
    """Return the reading for a complete output that states no answer."""
    return Reading(UNREADABLE, reason=reason, **fields)


def failure(completions: Sequence[Completion], n_wanted: int = 1) -> Reading | None:
    """Return the absent reading for a failed or missing completion; None if all came."""
    for completion in completions:
        if completion.status != "ok":
            return absent(completion.error or "The call failed, and the server gave no reason.")
    return absent("The completion has not come back yet.") if len(completions) < n_wanted else None


def unfinished(completion: Completion, *, length_counts: bool = True) -> Reading | None:
    """Return a cut reading for an output that ended early, unreadable for a refusal, else None."""
    reason = cut_reason(completion, length_counts=length_counts)
    if reason:
        return Reading(CUT, reason=reason)
    return unreadable(REFUSAL) if completion.finish_reason == REFUSAL else None


def no_answer(completions: Sequence[Completion]) -> Reading | None:
    """Return the reading for a first completion that failed, was cut off or refused, else None."""
    return failure(completions) or unfinished(completions[0])
