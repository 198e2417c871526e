"""Language: the question in another language, from the store of reviewed wordings; options and cues stay as they are.

A translation asks the same only where somebody verified it. So accepted ones are asked, and an unreviewed one, where a study asks for
those too, is in no flip until it is accepted.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipcore.axes.variants import ALL_KINDS, base, collapsed, worded
from flipcore.core.contracts import Axis, Material, param
from flipcore.core.records import Item, Variant
from flipcore.core.wordings import LANGUAGE, axis_of_change, language_of


@dataclass(frozen=True)
class Language(Axis):
    """`language` asks translations into that one alone; `unreviewed` also those that nobody has judged yet, which are in no flip."""

    language: str = param("", "language (empty: every one)")
    unreviewed: bool = param(False, "also unreviewed ones")
    name: ClassVar[str] = LANGUAGE
    title: ClassVar[str] = "Language"
    about: ClassVar[str] = (
        "The question in another language, as a stored translation that reviewers accepted; options stay as they are."
    )
    applies_to: ClassVar[frozenset[str]] = ALL_KINDS

    def variants(self, item: Item, layout: str, rng: np.random.Generator, material: Material) -> list[Variant]:
        only = " ".join(self.language.split()).casefold()
        changed = [
            worded(item, self.name, f"{language_of(one.change).lower().replace(' ', '-')}-", layout, one)
            for one in material.wordings(item, self.unreviewed)
            if axis_of_change(one.change) == LANGUAGE and only in ("", language_of(one.change).casefold())
        ]
        return collapsed([base(item, self.name, layout), *changed])


AXIS = Language()
