"""First token, gated: no answer where the labels together hold too little of the first token's probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from flipcore.core.errors import BadInput
from flipcore.core.records import OK, UNREADABLE, Completion, Item, Reading, Variant
from flipcore.extractors.first_token import FirstToken


@dataclass(frozen=True)
class FirstTokenGated(FirstToken):
    """`least_mass` in 0 … 1: below it the model was not about to name a label, and an argmax would only guess."""

    least_mass: float = 0.5
    name: ClassVar[str] = "first_token_gated"
    title: ClassVar[str] = "First token, gated"
    about: ClassVar[str] = "The first token's label, but no answer where the labels hold less than half its probability."

    def __post_init__(self) -> None:
        if not 0 <= self.least_mass <= 1:
            raise BadInput(f"The least label mass is {self.least_mass}; it is a share between 0 and 1.")

    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        reading = super().read(item, variant, completions)
        if reading.status != OK or reading.label_mass is None or reading.label_mass >= self.least_mass:
            return reading
        return replace(
            reading,
            status=UNREADABLE,
            answer=None,
            reason=f"The labels hold {reading.label_mass:.3f} of the first token's probability, less than "
            f"{self.least_mass:g}: the model was about to say something else.",
        )


EXTRACTOR = FirstTokenGated()
