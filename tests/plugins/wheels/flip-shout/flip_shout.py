"""An axis: the same question in capital letters."""

from dataclasses import dataclass
from typing import ClassVar

from flipcore.axes.variants import base, collapsed, variant
from flipcore.core.contracts import Axis, param


@dataclass(frozen=True)
class Shout(Axis):
    """`marks` exclamation marks stand behind the question."""

    marks: int = param(0, "exclamation marks")
    name: ClassVar[str] = "shout"
    title: ClassVar[str] = "Shouted question"
    about: ClassVar[str] = "The same question in capital letters."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice"})

    def variants(self, item, layout, rng, material):
        question = item.question.upper() + self.marks * "!"
        return collapsed([base(item, self.name, layout), variant(item, self.name, "shout", layout, question=question)])


AXIS = Shout()
