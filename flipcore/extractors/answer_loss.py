"""Answer loss (source 001): how surprising the published answer is after this wording, in nats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from flipcore.core.contracts import Ask, Need
from flipcore.core.records import Completion, Item, Reading, Request, Variant
from flipcore.extractors.losses import NORMS, checked_norm, loss, nats, reference_answer
from flipcore.extractors.readings import absent


@dataclass(frozen=True)
class AnswerLoss:
    """`norm`: the total over the answer's tokens (the source's) or the mean a token."""

    norm: str = field(default="sum", metadata={"choices": NORMS})
    name: ClassVar[str] = "answer_loss"
    title: ClassVar[str] = "Answer loss (nats)"
    about: ClassVar[str] = "How surprising the published answer is; compared between the published wording and another."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice", "number", "completion"})
    abilities: ClassVar[frozenset[str]] = frozenset({"score"})
    gives: ClassVar[str] = "value"

    def __post_init__(self) -> None:
        checked_norm("Answer loss", self.norm)

    def needs(self, item: Item, variant: Variant, ask: Ask, so_far: Sequence[Completion]) -> Sequence[Need]:
        answer = reference_answer(item, variant)
        return [Need(Request("score", variant.prompt.text, variant.prompt.system, continuation=answer))] if answer else []

    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        if not reference_answer(item, variant):
            return absent("There is no published answer to this wording of the item.")
        values = nats(completions, "the answer")
        return values if isinstance(values, Reading) else loss(values, self.norm)


EXTRACTOR = AnswerLoss()
