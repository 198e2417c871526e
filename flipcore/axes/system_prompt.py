"""System prompt: the same question behind other words in the system message, or behind none."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from flipcore.axes.variants import ALL_KINDS, base, collapsed
from flipcore.core.contracts import Axis, Material, param
from flipcore.core.errors import BadInput
from flipcore.core.records import Item, Variant

MOST_TEXTS = 10


@dataclass(frozen=True)
class SystemPrompt(Axis):
    """The base has the study's own system prompt, which is none unless it says one; `params["system"]` then stands in its place."""

    texts: tuple[str, ...] = param(("You are a helpful assistant.",), "system prompts")
    name: ClassVar[str] = "system_prompt"
    title: ClassVar[str] = "System prompt"
    about: ClassVar[str] = "The same question behind another system prompt, or behind none where the study has its own."
    applies_to: ClassVar[frozenset[str]] = ALL_KINDS

    def __post_init__(self) -> None:
        if not 1 <= len(self.texts) <= MOST_TEXTS or not all(one.strip() for one in self.texts):
            raise BadInput(f"System prompts: give from 1 to {MOST_TEXTS} texts, none of them empty.")

    def variants(self, item: Item, layout: str, rng: np.random.Generator, material: Material) -> list[Variant]:
        plain = base(item, self.name, layout)
        texts = {f"system-{i}": text for i, text in enumerate(self.texts, start=1)} | (
            {"none": ""} if material.has_system else {}
        )
        changed = [
            replace(plain, key=key, prompt=replace(plain.prompt, system=text), params={"system": text})
            for key, text in texts.items()
        ]
        return [plain, *changed] if material.has_system else collapsed([plain, *changed])


AXIS = SystemPrompt()
