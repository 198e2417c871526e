"""First token, but only where the labels hold enough of its probability; below that it is no answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from flipcore.extractors.first_token import FirstToken
from flipcore.records import OK, UNREADABLE


@dataclass(frozen=True)
class GatedFirstToken(FirstToken):
    """`least_mass`: the share of first-token probability that the labels must hold (statistics.md, section 15)."""

    least_mass: float = 0.5
    name: ClassVar[str] = "first_token_gated"
    title: ClassVar[str] = "First token, gated"
    about: ClassVar[str] = "The same, counted as no answer where the labels hold too little of the first token's probability."

    def read(self, item, variant, completions):
        reading = super().read(item, variant, completions)
        if reading.status != OK or reading.label_mass >= self.least_mass:
            return reading
        return replace(reading, status=UNREADABLE, answer=None,
                       reason=f"The labels hold {reading.label_mass:.2f} of the first token's probability, less than "
                              f"{self.least_mass:.2f}.")


EXTRACTOR = GatedFirstToken()
