"""Helpers of all axes: the base variant, and variants with identical prompts collapsed.

An item that a rewriting axis refuses keeps its base variant and nothing else; the class and a
sentence stand in the base's params, so a stored study can be counted too. An item that is refused
costs coverage, one that is rewritten wrongly costs the result.
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
    """A variant of an item; what is not given is as in the base."""
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
    """The item as the study's layout shows it."""
    return variant(item, axis, key=BASE, layout=layout, **fields)


def worded(item: Item, axis: str, prefix: str, layout: str, wording: Paraphrase) -> Variant:
    """The item as a stored wording words it. The key names the pair by what tells it from the
    others of its item (``flipscope_choice/logic-01/a`` is a), so that it means the same whatever
    else is stored, struck or proposed later."""
    key = f"{prefix}{wording.pair_id.rpartition('/')[2][:12]}"
    return variant(
        item, axis, key=key, layout=layout, question=wording.text, material_id=wording.pair_id
    )


def collapsed(variants: Iterable[Variant]) -> list[Variant]:
    """The first variant of each prompt: asking the same words twice is no change."""
    by_prompt: dict[tuple[str, str, str], Variant] = {}
    for candidate in variants:
        prompt_shown = candidate.prompt
        # An effort changes no word of the prompt, and is a change all the same.
        effort = str(candidate.params.get("effort", ""))
        by_prompt.setdefault((prompt_shown.system, prompt_shown.text, effort), candidate)
    return list(by_prompt.values())


@dataclass(frozen=True)
class Refusal:
    """Reason for which an item could not be rewritten: a class for the table and a sentence."""

    kind: str
    reason: str


def rewritten_or_base(
    item: Item,
    axis: str,
    layout: str,
    rewrites: Sequence[T | Refusal],
    variant_of: Callable[[int, T], Variant],
) -> list[Variant]:
    """The base with the rewritings, each as `variant_of` its number from 1 makes it; or the base
    alone with the first refusal in its params."""
    variants = []
    for number, rewrite in enumerate(rewrites, start=1):
        if not isinstance(rewrite, Refusal):
            variants.append(variant_of(number, rewrite))
    if variants:
        return collapsed([base(item, axis, layout=layout), *variants])
    first = next(rewrite for rewrite in rewrites if isinstance(rewrite, Refusal))
    return [base(item, axis, layout=layout, params={"refusal": first.kind, "why": first.reason})]
