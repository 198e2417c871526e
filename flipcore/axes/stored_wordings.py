"""The question as the store of reviewed wordings has it: in other words, or in another language; options and cues stay as they are.

Only accepted paraphrases are asked by default, and a rejected one never. Items that were made from templates carry their other wordings
with them (`meta["paraphrases"]`): those mean the same by construction, so they need no reviewer and are asked too.

A translation asks the same only where somebody verified it. So accepted ones are asked, and an unreviewed one, where a study asks for
those too, is in no flip until it is accepted.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipcore.axes.variants import ALL_KINDS, base, collapsed, variant, worded
from flipcore.core.contracts import Axis, Material, param
from flipcore.core.records import Item, Variant
from flipcore.core.wordings import LANGUAGE, PARAPHRASE, axis_of_change, language_of


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


@dataclass(frozen=True)
class ParaphraseAxis(Axis):
    """`unreviewed` also asks paraphrases that no reviewer has judged yet (the page then says so)."""

    unreviewed: bool = param(False, "also unreviewed ones")
    name: ClassVar[str] = "paraphrase"
    title: ClassVar[str] = "Paraphrase"
    about: ClassVar[str] = "A stored paraphrase of the question that reviewers accepted, or that is the same by construction."
    applies_to: ClassVar[frozenset[str]] = ALL_KINDS
    drop_gap: ClassVar[bool] = True
    past: ClassVar[str] = "paraphrased"

    def variants(self, item: Item, layout: str, rng: np.random.Generator, material: Material) -> list[Variant]:
        changed = [
            worded(item, self.name, "reworded-", layout, one)
            for one in material.wordings(item, self.unreviewed)
            if one.change == PARAPHRASE
        ]
        wordings = [
            variant(item, self.name, f"wording-{i + 1}", layout, question=text)
            for i, text in enumerate(item.meta.get("paraphrases", ()))
        ]
        return collapsed([base(item, self.name, layout), *changed, *wordings])


AXES = (Language(), ParaphraseAxis())
