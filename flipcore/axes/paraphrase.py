"""Paraphrase: a stored paraphrase of the question. Only accepted ones by default; a rejected one is never asked.

Items that were made from templates carry their other wordings with them (`meta["paraphrases"]`): those mean the same by
construction, so they need no reviewer and are asked too.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipcore.axes.variants import ALL_KINDS, base, collapsed, variant, worded
from flipcore.core.contracts import Axis, Material, param
from flipcore.core.records import Item, Variant
from flipcore.core.wordings import PARAPHRASE


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


AXIS = ParaphraseAxis()
