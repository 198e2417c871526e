"""Label set: A/B/C/D becomes a/b/c/d or 1/2/3/4; content and order stay."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipcore.axes.referring import referring
from flipcore.axes.variants import base, collapsed, variant
from flipcore.core.contracts import Axis, Material, param
from flipcore.core.records import Item, Variant
from flipcore.text.prompts import LABEL_SETS, labels_of


@dataclass(frozen=True)
class LabelSet(Axis):
    sets: tuple[str, ...] = param(("lower", "digits"), "label sets", tuple(LABEL_SETS))
    name: ClassVar[str] = "label_set"
    title: ClassVar[str] = "Label set"
    about: ClassVar[str] = "The same options in the same order under other labels."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice"})

    def __post_init__(self) -> None:
        for one in self.sets:
            labels_of(one, 0)

    def variants(self, item: Item, layout: str, rng: np.random.Generator, material: Material) -> list[Variant]:
        size, why = len(item.options), referring(item.options).why_not_relabelled
        if why:
            return [base(item, self.name, layout, params={"refusal": "refers", "why": why})]
        changed = [variant(item, self.name, one, layout, labels=labels_of(one, size)) for one in self.sets]
        return collapsed([base(item, self.name, layout), *changed])


AXIS = LabelSet()
