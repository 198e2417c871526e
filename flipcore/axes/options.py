"""The same options in other places, under other labels, or before their question.

An option that means the others ("none of these") keeps its place at the end; see `referring`. Cyclic shifts visit every position; random
permutations mix more.
"""

import math
import re
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from flipcore.axes.referring import referring
from flipcore.axes.variants import base, collapsed, variant
from flipcore.core.contracts import Axis, Material, param
from flipcore.core.errors import BadInput
from flipcore.core.records import Item, Prompt, Variant
from flipcore.text.prompts import LABEL_SETS, labels_of


@dataclass(frozen=True)
class OptionOrder(Axis):
    """`n` variants in all, the base included: at most as many as there are rotations, or permutations."""

    kind: str = param("cyclic", "orders", ("cyclic", "random"))
    n: int = param(4, "how many")
    name: ClassVar[str] = "option_order"
    title: ClassVar[str] = "Option order"
    about: ClassVar[str] = "The same options in another order; answers are compared as options, not as letters."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice"})

    def __post_init__(self) -> None:
        if self.kind not in ("cyclic", "random") or not 2 <= self.n <= 1000:
            raise BadInput(
                f"Option order has kind {self.kind!r} and n = {self.n}; it takes cyclic or random, and n from 2 to 1000."
            )

    def variants(self, item: Item, layout: str, rng: np.random.Generator, material: Material) -> list[Variant]:
        refers = referring(item.options)
        if refers.why_not_reordered:
            return [base(item, self.name, layout, params={"refusal": "refers", "why": refers.why_not_reordered})]
        size = len(refers.movable)
        if self.kind == "cyclic":
            orders = [tuple((i + shift) % size for i in range(size)) for shift in _spread(size, self.n)]
            keys = [f"rotate-{shift}" for shift in _spread(size, self.n)]
        else:
            orders = _shuffled(size, self.n, rng)
            keys = [f"shuffle-{i + 1}" for i in range(len(orders))]
        params = {"kept_last": [item.options[i] for i in refers.others]} if refers.others else {}
        changed = [
            variant(item, self.name, key, layout, order=(*order, *refers.others), params=params)
            for key, order in zip(keys, orders, strict=True)
        ]
        return collapsed([base(item, self.name, layout), *changed])


def _spread(size: int, n: int) -> list[int]:
    """Up to n - 1 distinct shifts, evenly spread over 1 … size - 1."""
    n_shifts = min(n - 1, size - 1)
    return [1 + (i * (size - 1)) // n_shifts for i in range(n_shifts)] if n_shifts > 0 else []


def _shuffled(size: int, n: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Up to n - 1 distinct permutations in the order drawn, none of them the item's own."""
    n_orders = min(n, math.factorial(size))
    orders = {tuple(range(size)): None}
    while len(orders) < n_orders:
        orders[tuple(int(i) for i in rng.permutation(size))] = None
    return list(orders)[1:]


@dataclass(frozen=True)
class LabelSet(Axis):
    sets: tuple[str, ...] = param(("lower", "digits"), "label sets", tuple(LABEL_SETS))
    name: ClassVar[str] = "label_set"
    title: ClassVar[str] = "Label set"
    about: ClassVar[str] = "The same options in the same order under other labels."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice"})

    def __post_init__(self) -> None:
        for one in self.sets:
            labels_of(one, 0)

    def variants(self, item: Item, layout: str, rng: np.random.Generator, material: Material) -> list[Variant]:
        size, why = len(item.options), referring(item.options).why_not_relabelled
        if why:
            return [base(item, self.name, layout, params={"refusal": "refers", "why": why})]
        changed = [variant(item, self.name, one, layout, labels=labels_of(one, size)) for one in self.sets]
        return collapsed([base(item, self.name, layout), *changed])


POINTS = re.compile(r"\b(?:below|above|following|preceding|previous|next|last|first)\b", re.IGNORECASE)
WHY_NOT = "The question points to the options by their place, or its sentence goes on in them, so it is not moved."


@dataclass(frozen=True)
class QuestionPosition(Axis):
    name: ClassVar[str] = "question_position"
    title: ClassVar[str] = "Position of the question"
    about: ClassVar[str] = "The question stands behind the options, not before them."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice"})

    def variants(self, item: Item, layout: str, rng: np.random.Generator, material: Material) -> list[Variant]:
        if POINTS.search(item.question) or not item.question.rstrip().endswith("?"):
            return [base(item, self.name, layout, params={"refusal": "points", "why": WHY_NOT})]
        plain = base(item, self.name, layout)
        parts = dict(plain.prompt.parts)
        moved_parts = (("options", f"{parts['options']}\n"), ("stem", parts["stem"].rstrip("\n")), ("cue", parts["cue"]))
        changed = replace(plain, key="behind", prompt=Prompt(moved_parts, plain.prompt.system))
        return collapsed([plain, changed])


AXES = (OptionOrder(), LabelSet(), QuestionPosition())
