"""Effort: the same prompt with a reasoning effort other than the study's."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipcore.axes.variants import ALL_KINDS, base, collapsed, variant
from flipcore.core.contracts import Axis, Material, param
from flipcore.core.errors import BadInput
from flipcore.core.records import EFFORTS, Item, Variant


@dataclass(frozen=True)
class Effort(Axis):
    """Other reasoning efforts; the base has the study's own.

    Only written answers can be read, because the first token comes before any reasoning. A model
    that accepts no effort gets absent readouts, not the base's answer again.
    """

    levels: tuple[str, ...] = param(("low", "high"), choices=EFFORTS)
    name: ClassVar[str] = "effort"
    title: ClassVar[str] = "Reasoning effort"
    about: ClassVar[str] = "The same prompt, with less or more reasoning before the answer."
    applies_to: ClassVar[frozenset[str]] = ALL_KINDS

    def __post_init__(self) -> None:
        unknown = [level for level in self.levels if level not in EFFORTS]
        if unknown or not self.levels:
            raise BadInput(
                f"An effort is one of {', '.join(EFFORTS)}, not "
                f"{unknown[0] if unknown else 'nothing'!r}."
            )

    def variants(
        self, item: Item, layout: str, rng: np.random.Generator, material: Material
    ) -> list[Variant]:
        changed = [
            variant(item, self.name, key=level, layout=layout, params={"effort": level})
            for level in self.levels
        ]
        return collapsed([base(item, self.name, layout=layout), *changed])


AXIS = Effort()
