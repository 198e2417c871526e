"""Identity: the base prompt asked again. What flips here is noise, and stands as a floor under every other axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from flipcore.axes.variants import ALL_KINDS, base


@dataclass(frozen=True)
class Identity:
    name: ClassVar[str] = "identity"
    title: ClassVar[str] = "Asked again (noise floor)"
    about: ClassVar[str] = "The same prompt, asked again as further samples: what flips here is noise, not the wording."
    applies_to: ClassVar[frozenset[str]] = ALL_KINDS

    def variants(self, item, layout, rng, material):
        return [base(item, self.name, layout)]


AXIS = Identity()
