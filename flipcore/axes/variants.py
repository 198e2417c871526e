"""Helpers of all axes: base variants, changed variants, refusals.

An item that a rewriting axis refuses has only its base variant. The base's params hold the
refusal's class and sentence, so that stored studies can count refusals. A refused item costs
coverage; a wrongly rewritten one would cost the result.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from flipcore.core.contracts import Paraphrase
from flipcore.core.records import BASE, KINDS, Item, Variant
from flipcore.text.prompts import labels_of, prompt

ALL_KINDS = frozenset(KINDS)
T = TypeVar("T")


def variant(
    item: Item,
    axis: str,
    key: str,
    layout: str,
    *,
    order=None,
    labels=None,
    question=None,
    target=None,
    **fields,
) -> Variant:
    """Return a variant of an item; settings that are not given are those of the base."""
    n = len(item.options)
    order = tuple(range(n)) if order is None else tuple(order)
    labels = labels_of("upper", n) if labels is None and n else tuple(labels or ())
    item_prompt = prompt(item, question=question, order=order, labels=labels, layout=layout)
    target = item.target if target is None else target
    return Variant(
        item.item_id,
        axis,
        key=key,
        prompt=item_prompt,
        target=target,
        order=order,
        labels=labels,
        layout=layout,
        **fields,
    )


def base(item: Item, axis: str, layout: str, **fields) -> Variant:
    """Return the base variant: the item in the study's layout."""
    return variant(item, axis, key=BASE, layout=layout, **fields)


def worded(item: Item, axis: str, prefix: str, layout: str, wording: Paraphrase) -> Variant:
    """Return a variant with a stored wording.

    Its key ends in the last part of the pair's id ("a" of ``flipscope_choice/logic-01/a``), so it
    stays the same whatever wordings are added or rejected later.
    """
    key = f"{prefix}{wording.pair_id.rpartition('/')[2][:12]}"
    return variant(
        item, axis, key=key, layout=layout, question=wording.text, material_id=wording.pair_id
    )


def collapsed(variants: Iterable[Variant]) -> list[Variant]:
    """Return the first variant of each prompt: the same words twice are no change."""
    by_prompt: dict[tuple[str, str, str], Variant] = {}
    for candidate in variants:
        # Another effort is a change, although the words of the prompt stay the same.
        effort = str(candidate.params.get("effort", ""))
        key = (candidate.prompt.system, candidate.prompt.text, effort)
        by_prompt.setdefault(key, candidate)
    return list(by_prompt.values())


@dataclass(frozen=True)
class Refusal:
    """The reason why an item could not be rewritten: a class for tables and a sentence."""

    kind: str
    reason: str


def rewritten_or_base(
    item: Item,
    axis: str,
    layout: str,
    rewrites: Sequence[T | Refusal],
    variant_of: Callable[[int, T], Variant],
) -> list[Variant]:
    """Return the base and the rewritten variants, or the base alone with the first refusal.
    `variant_of` makes a variant of a rewrite and its number, counted from 1."""
    variants = []
    for number, rewrite in enumerate(rewrites, start=1):
        if not isinstance(rewrite, Refusal):
            variants.append(variant_of(number, rewrite))
    if variants:
        return collapsed([base(item, axis, layout=layout), *variants])
    first = next(rewrite for rewrite in rewrites if isinstance(rewrite, Refusal))
    return [base(item, axis, layout=layout, params={"refusal": first.kind, "why": first.reason})]
