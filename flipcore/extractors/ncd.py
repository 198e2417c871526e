"""NCD similarity (source 003): 1 minus the normalised compression distance of the continuation to the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from flipcore.core.contracts import Ask, Need
from flipcore.core.errors import BadInput
from flipcore.core.records import OK, Completion, Item, Reading, Variant
from flipcore.extractors.continuations import compared, continuation_need
from flipcore.text.similarity import COMPRESSORS, ncd


@dataclass(frozen=True)
class Ncd:
    """`compressor` is part of the metric: xz by default, zlib for texts below 200 characters; never compare across."""

    compressor: str = field(default="xz", metadata={"choices": tuple(COMPRESSORS)})
    name: ClassVar[str] = "ncd"
    title: ClassVar[str] = "Similarity by compression (1 − NCD)"
    about: ClassVar[str] = "How much of the reference a continuation repeats, by how well the two compress together."
    applies_to: ClassVar[frozenset[str]] = frozenset({"completion"})
    abilities: ClassVar[frozenset[str]] = frozenset({"generate"})
    gives: ClassVar[str] = "value"
    asks: ClassVar[str] = "continuation"

    def __post_init__(self) -> None:
        if self.compressor not in COMPRESSORS:
            raise BadInput(f"NCD has the compressor {self.compressor!r}; choose one of {', '.join(COMPRESSORS)}.")

    def needs(self, item: Item, variant: Variant, ask: Ask, so_far: Sequence[Completion]) -> Sequence[Need]:
        return continuation_need(variant, ask)

    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        pair = compared(variant, completions)
        if isinstance(pair, Reading):
            return pair
        reference, text = pair
        return Reading(OK, value=1 - ncd(reference, text.strip(), self.compressor))


EXTRACTOR = Ncd()
