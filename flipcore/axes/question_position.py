"""Position of the question: it stands behind the options, not before them."""

import re
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from flipcore.axes.variants import base, collapsed
from flipcore.core.contracts import Axis, Material
from flipcore.core.records import Item, Prompt, Variant

POINTS = re.compile(r"\b(?:below|above|following|preceding|previous|next|last|first)\b", re.IGNORECASE)
WHY_NOT = "The question points to the options by their place, or its sentence goes on in them, so it is not moved."


@dataclass(frozen=True)
class QuestionPosition(Axis):
    name: ClassVar[str] = "question_position"
    title: ClassVar[str] = "Position of the question"
    about: ClassVar[str] = "The question stands behind the options, not before them."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice"})

    def variants(self, item: Item, layout: str, rng: np.random.Generator, material: Material) -> list[Variant]:
        if POINTS.search(item.question) or not item.question.rstrip().endswith("?"):
            return [base(item, self.name, layout, params={"refusal": "points", "why": WHY_NOT})]
        plain = base(item, self.name, layout)
        parts = dict(plain.prompt.parts)
        moved_parts = (("options", f"{parts['options']}\n"), ("stem", parts["stem"].rstrip("\n")), ("cue", parts["cue"]))
        changed = replace(plain, key="behind", prompt=Prompt(moved_parts, plain.prompt.system))
        return collapsed([plain, changed])


AXIS = QuestionPosition()
