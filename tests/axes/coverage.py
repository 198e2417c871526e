"""The coverage of a set of items by an axis that rewrites, and its refusals by class."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from flipcore.core.contracts import Axis, Material
from flipcore.core.randomness import generator
from flipcore.core.records import Item

COVERED = ""


@dataclass(frozen=True)
class Coverage:
    """`refusal` is the class, COVERED (empty) for an item that was rewritten; `why` its sentence."""

    item_id: str
    refusal: str
    why: str = ""

    @property
    def is_covered(self) -> bool:
        return self.refusal == COVERED


def coverage(axis: Axis, items: Iterable[Item], seed: int) -> list[Coverage]:
    """What the axis makes of each item that it applies to, with the random numbers that a study of this seed uses."""
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
