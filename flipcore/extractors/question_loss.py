"""Question loss: how surprising the wording of the item itself is, in nats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from flipcore.core.contracts import Ask, Need
from flipcore.core.records import Completion, Item, Reading, Variant
from flipcore.extractors.losses import NORMS, checked_norm, loss, nats, question_need


@dataclass(frozen=True)
class QuestionLoss:
    """`norm`: the total over the prompt's tokens or the mean a token."""

    norm: str = field(default="sum", metadata={"choices": NORMS})
    name: ClassVar[str] = "question_loss"
    title: ClassVar[str] = "Question loss (nats)"
    about: ClassVar[str] = (
        "How surprising the wording itself is; a text that was trained on is less so than a paraphrase of it."
    )
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice", "number", "completion"})
    abilities: ClassVar[frozenset[str]] = frozenset({"score"})
    gives: ClassVar[str] = "value"

    def __post_init__(self) -> None:
        checked_norm("Question loss", self.norm)

    def needs(self, item: Item, variant: Variant, ask: Ask, so_far: Sequence[Completion]) -> Sequence[Need]:
        return [question_need(variant)]

    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        values = nats(completions, "the question")
        return values if isinstance(values, Reading) else loss(values, self.norm)


EXTRACTOR = QuestionLoss()
