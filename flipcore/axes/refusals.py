"""What a rewriting axis says of an item that it leaves alone, and the coverage of a set of items by class.

A refused item keeps its base variant and nothing else; the class and a sentence stand in the base's params, so a stored
study can be counted too. An item that is refused costs coverage, one that is rewritten wrongly costs the result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from flipcore.axes.variants import base, collapsed
from flipcore.core.contracts import Axis, Material
from flipcore.core.records import Item, Variant

COVERED = ""


@dataclass(frozen=True)
class Refusal:
    """Why an item could not be rewritten: a class for the table and a sentence."""

    kind: str
    why: str


@dataclass(frozen=True)
class Coverage:
    """`refusal` is the class, COVERED (empty) for an item that was rewritten; `why` its sentence."""

    item_id: str
    refusal: str
    why: str = ""

    @property
    def is_covered(self) -> bool:
        return self.refusal == COVERED


def rewritten_or_base(item: Item, axis: str, layout: str, rewrites: Iterable[Variant | Refusal]) -> list[Variant]:
    """The base with the rewritings, or the base alone with the first refusal in its params."""
    rewrites = list(rewrites)
    variants = [one for one in rewrites if isinstance(one, Variant)]
    if variants:
        return collapsed([base(item, axis, layout), *variants])
    first = next(one for one in rewrites if isinstance(one, Refusal))
    return [base(item, axis, layout, params={"refusal": first.kind, "why": first.why})]


def coverage(axis: Axis, items: Iterable[Item], seed: int) -> list[Coverage]:
    """What the axis makes of each item that it applies to, with the random numbers that a study of this seed uses."""
    from flipcore.core.randomness import generator

    coverages = []
    for item in items:
        if item.kind in axis.applies_to:
            first = axis.variants(item, "plain", generator(seed, item.item_id, axis.name), Material())[0]
            coverages.append(covered(item.item_id, first.params))
    return coverages


def covered(item_id: str, params: Mapping) -> Coverage:
    """Coverage as a base variant's params tell it."""
    return Coverage(item_id, params.get("refusal", COVERED), params.get("why", ""))


def refusal_table(coverages: Iterable[Coverage]) -> list[tuple[str, int]]:
    """(class, number of items) of the refused, the largest first."""
    return Counter(one.refusal for one in coverages if not one.is_covered).most_common()
