"""Prompt format: the same words set out differently."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipcore.axes.variants import base, collapsed, variant
from flipcore.core.contracts import Axis, Material, param
from flipcore.core.records import CODE, Item, Variant
from flipcore.text.prompts import LAYOUTS, layout_by_name


@dataclass(frozen=True)
class PromptFormat(Axis):
    layouts: tuple[str, ...] = param(("paren", "bare"), choices=tuple(LAYOUTS))
    name: ClassVar[str] = "prompt_format"
    title: ClassVar[str] = "Prompt format"
    about: ClassVar[str] = "The same words with other brackets, line breaks and cues."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice", "number", "text", CODE})

    def __post_init__(self) -> None:
        for one in self.layouts:
            layout_by_name(one)

    def variants(self, item: Item, layout: str, rng: np.random.Generator, material: Material) -> list[Variant]:
        changed = [variant(item, self.name, one, one) for one in self.layouts]
        return collapsed([base(item, self.name, layout), *changed])


AXIS = PromptFormat()
