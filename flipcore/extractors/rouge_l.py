"""ROUGE-L similarity (source 003): F1 of the longest common subsequence of words of continuation and reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from flipcore.core.contracts import Ask, Need
from flipcore.core.records import OK, Completion, Item, Reading, Variant
from flipcore.extractors.continuations import compared, continuation_need
from flipcore.text.similarity import rouge_l


@dataclass(frozen=True)
class RougeL:
    name: ClassVar[str] = "rouge_l"
    title: ClassVar[str] = "Similarity by words (ROUGE-L)"
    about: ClassVar[str] = "How much of the reference's sequence of words a continuation repeats."
    applies_to: ClassVar[frozenset[str]] = frozenset({"completion"})
    abilities: ClassVar[frozenset[str]] = frozenset({"generate"})
    gives: ClassVar[str] = "value"
    asks: ClassVar[str] = "continuation"

    def needs(self, item: Item, variant: Variant, ask: Ask, so_far: Sequence[Completion]) -> Sequence[Need]:
        return continuation_need(variant, ask)

    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        pair = compared(variant, completions)
        return pair if isinstance(pair, Reading) else Reading(OK, value=rouge_l(*pair))


EXTRACTOR = RougeL()
