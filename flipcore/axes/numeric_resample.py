"""Numeric resample (source 000): the same story with new numbers and a newly computed target.

The steps of the solution are computed again with exact fractions. A problem that cannot be
resampled with certainty is refused and keeps its base prompt. The params of a rewriting hold the
new numbers `operands`, the numbers `was` that they replace, pair by pair, and the results of its
`steps`.
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
        is_disputed = item.meta.get("gold") == "disputed"
        problem = DISPUTED if is_disputed else structure(item.question, item.solution)
        rewrites: list[Resample | Refusal] = []
        if isinstance(problem, Refusal):
            rewrites.append(problem)
        else:
            rewrites += [rewriting(item.question, problem, rng=rng) for _ in range(self.n)]

        def resampled(number: int, rewrite: Resample) -> Variant:
            return variant(
                item,
                self.name,
                key=f"resample-{number}",
                layout=layout,
                question=rewrite.question,
                target=str(rewrite.target),
                params={
                    "operands": [float(new) for _, new in rewrite.operands],
                    "was": [float(old) for old, _ in rewrite.operands],
                    "steps": list(rewrite.steps),
                },
            )

        return rewritten_or_base(
            item, self.name, layout=layout, rewrites=rewrites, variant_of=resampled
        )


AXIS = NumericResample()
