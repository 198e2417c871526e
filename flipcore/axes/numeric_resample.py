"""Numeric resample (source 000): the same story with new numbers, and its own target from the
problem's own chain.

The steps of the solution are run again with exact fractions. A problem that cannot be resampled
with certainty is refused with a class and keeps its base prompt. Each rewriting says in its params
what was put in place of what: `operands` and `was`, pair by pair, as
flipcore.stats.memory.operand_size compares them, and `steps`, the results of the chain.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipcore.axes.numeric.draw import Resample, rewriting
from flipcore.axes.numeric.structure import structure
from flipcore.axes.variants import Refusal, rewritten_or_base, variant
from flipcore.core.contracts import Axis, Material, param
from flipcore.core.errors import BadInput
from flipcore.core.records import Item, Variant

DISPUTED = Refusal(
    "gold is disputed", "Readers of the text alone reach another answer than the published one."
)


@dataclass(frozen=True)
class NumericResample(Axis):
    """`n` rewritings of an item."""

    n: int = param(1, "how many")
    name: ClassVar[str] = "numeric_resample"
    title: ClassVar[str] = "Numbers resampled"
    about: ClassVar[str] = (
        "The same story with new numbers; the right answer is worked out again from the problem's "
        "own steps."
    )
    applies_to: ClassVar[frozenset[str]] = frozenset({"number"})
    harmless: ClassVar[bool] = False
    rewrites: ClassVar[bool] = True
    drop_gap: ClassVar[bool] = True
    past: ClassVar[str] = "numbers resampled"

    def __post_init__(self) -> None:
        if not 1 <= self.n <= 100:
            raise BadInput(
                f"Numeric resample has n = {self.n}; give a number of rewritings from 1 to 100."
            )

    def variants(
        self, item: Item, layout: str, rng: np.random.Generator, material: Material
    ) -> list[Variant]:
        problem = (
            DISPUTED
            if item.meta.get("gold") == "disputed"
            else structure(item.question, item.solution)
        )
        rewrites = (
            [problem]
            if isinstance(problem, Refusal)
            else [rewriting(item.question, problem, rng=rng) for _ in range(self.n)]
        )

        def resampled(number: int, rewritten: Resample) -> Variant:
            was = [float(old) for old, _ in rewritten.operands]
            operands = [float(new) for _, new in rewritten.operands]
            params = {"operands": operands, "was": was, "steps": list(rewritten.steps)}
            key, target = f"resample-{number}", str(rewritten.target)
            return variant(
                item,
                self.name,
                key=key,
                layout=layout,
                question=rewritten.question,
                target=target,
                params=params,
            )

        return rewritten_or_base(
            item, self.name, layout=layout, rewrites=rewrites, variant_of=resampled
        )


AXIS = NumericResample()
