"""What every axis needs: the base variant, and variants with identical prompts collapsed."""

from __future__ import annotations

from collections.abc import Iterable

from flipcore.core.records import BASE, Item, Variant
from flipcore.text.prompts import labels_of, prompt

ALL_KINDS = frozenset({"choice", "number", "text", "completion"})


def variant(
    item: Item, axis: str, key: str, layout: str, *, order=None, labels=None, question=None, target=None, **rest
) -> Variant:
    """A variant of an item; what is not given is as in the base."""
    n = len(item.options)
    order = tuple(range(n)) if order is None else tuple(order)
    labels = labels_of("upper", n) if labels is None and n else tuple(labels or ())
    item_prompt = prompt(item, question=question, order=order, labels=labels, layout=layout)
    target = item.target if target is None else target
    return Variant(item.item_id, axis, key, item_prompt, target, order, labels, layout, **rest)


def base(item: Item, axis: str, layout: str, **rest) -> Variant:
    """The item as the study's layout shows it."""
    return variant(item, axis, BASE, layout, **rest)


def collapsed(variants: Iterable[Variant]) -> list[Variant]:
    """The first variant of each prompt: asking the same words twice is no change."""
    by_prompt: dict[tuple[str, str], Variant] = {}
    for one in variants:
        by_prompt.setdefault((one.prompt.system, one.prompt.text), one)
    return list(by_prompt.values())
