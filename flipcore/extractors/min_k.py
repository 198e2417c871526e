"""Min-k % (Shi et al. 2024): the mean log-probability of a text's least likely tokens; high where nothing surprises."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from flipcore.core.contracts import Ask, Need
from flipcore.core.errors import BadInput
from flipcore.core.records import OK, Completion, Item, Reading, Variant
from flipcore.extractors.losses import nats, question_need


@dataclass(frozen=True)
class MinK:
    """`pct`: the share of tokens, in percent, that counts as the least likely; at least one token."""

    pct: float = 20.0
    name: ClassVar[str] = "min_k"
    title: ClassVar[str] = "Min-k % (nats a token)"
    about: ClassVar[str] = "The mean log-probability of the wording's least likely tokens; it needs no second wording."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice", "number", "completion"})
    abilities: ClassVar[frozenset[str]] = frozenset({"score"})
    gives: ClassVar[str] = "value"

    def __post_init__(self) -> None:
        if not 0 < self.pct <= 100:
            raise BadInput(f"Min-k has pct = {self.pct}; give a share above 0 and up to 100 percent.")

    def needs(self, item: Item, variant: Variant, ask: Ask, so_far: Sequence[Completion]) -> Sequence[Need]:
        return [question_need(variant)]

    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        values = nats(completions, "the question")
        if isinstance(values, Reading):
            return values
        n_lowest = max(1, int(len(values) * self.pct / 100))
        return Reading(OK, value=math.fsum(sorted(values)[:n_lowest]) / n_lowest)


EXTRACTOR = MinK()
