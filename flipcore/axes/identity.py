"""Identity: the base prompt is asked again. Flips here are noise: the floor of all other axes."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipcore.axes.variants import ALL_KINDS, base
from flipcore.core.contracts import Axis, Material
from flipcore.core.records import Item, Variant


@dataclass(frozen=True)
class Identity(Axis):
    name: ClassVar[str] = "identity"
    title: ClassVar[str] = "Same prompt again (noise floor)"
    about: ClassVar[str] = (
        "The same prompt sent again as further samples: what flips here is noise, not the wording."
    )
    applies_to: ClassVar[frozenset[str]] = ALL_KINDS

    def variants(
        self, item: Item, layout: str, rng: np.random.Generator, material: Material
    ) -> list[Variant]:
        return [base(item, self.name, layout=layout)]


AXIS = Identity()
