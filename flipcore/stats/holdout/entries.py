"""The entries of two sets: the text that is compared, and the entries that were made from one
source and must stay together."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from flipcore.core.records import Item
from flipcore.text.same_question import item_key


def entry_text(item: Item) -> str:
    """Return the question, "?" and the options in alphabetical order, a line each (source 002,
    Appendix B).

    A question has exactly one question mark at its end, whether or not its author wrote one; a
    completion has none added.
    """
    question = item.question.strip()
    if item.kind != "completion":
        question = f"{question.rstrip('?').rstrip()}?" if question.strip("?") else ""
    return "\n".join([question, *sorted(option.strip() for option in item.options)])


def source_groups(target: Sequence[Item], retro: Sequence[Item]) -> list[str]:
    """Return a name for each item of target + retro: an entry and what was written from it, over
    any number of steps, share one."""
    above = origins(target, retro)
    return [_root(item.item_id, above) for item in (*target, *retro)]


def origins(target: Sequence[Item], retro: Sequence[Item]) -> dict[str, str]:
    """Return the entry that each goes back to: the one it was written from, or the same question
    before it.

    Equal questions within a set are one. Across the sets they stay two: an entry of the holdout
    that repeats one of the benchmark undeclared is a finding.
    """
    above = {item.item_id: item.source_id for item in (*target, *retro) if item.source_id}
    for items in (target, retro):
        first_of: dict[tuple[str, ...], str] = {}
        for item in items:
            key = item_key(item)
            if key is None:
                continue
            first = _root(first_of.setdefault(key, item.item_id), above)
            # Linked at the roots, so that chains of sources stay trees.
            root = _root(item.item_id, above)
            if root != first:
                above[root] = first
    return above


def _root(item_id: str, above: Mapping[str, str]) -> str:
    """Return the entry that another goes back to, over any number of steps."""
    chain = {item_id}
    while item_id in above and above[item_id] not in chain:
        item_id = above[item_id]
        chain.add(item_id)
    return item_id


def one_per_source(
    target: Sequence[Item], retro: Sequence[Item]
) -> tuple[tuple[Item, ...], tuple[Item, ...], str]:
    """Return both sets with the first entry of each template or source, and a sentence where that
    left entries out, else "".

    Entries made from one template are no independent entries, and a test that shuffles labels needs
    entries that are: of each family within a set the first stands for all.
    """
    groups, subsets = source_groups(target, retro), []
    for items, names in ((target, groups[: len(target)]), (retro, groups[len(target) :])):
        # Reversed, so that of equal names the first entry is the last to be written, and stays.
        first = {name: item for item, name in zip(reversed(items), reversed(names), strict=True)}
        ids = {item.item_id for item in first.values()}
        subsets.append(tuple(item for item in items if item.item_id in ids))
    n_out = len(target) + len(retro) - len(subsets[0]) - len(subsets[1])
    note = (
        f"Of entries made from one source the first is compared: {n_out:,} others were left out."
        if n_out
        else ""
    )
    return subsets[0], subsets[1], note


def paired_rows(target: Sequence[Item], retro: Sequence[Item]) -> np.ndarray | None:
    """Return the positions in target + retro of the source-paired entries, targets first and both
    in one order; None unless each holdout entry was written from another benchmark entry."""
    groups = source_groups(target, retro)
    sources, retro_groups = groups[: len(target)], groups[len(target) :]
    if (
        not retro_groups
        or max(Counter(retro_groups).values()) > 1
        or max(Counter(sources).values()) > 1
        or not set(retro_groups) <= set(sources)
    ):
        return None
    # One row of targets per holdout entry, in the holdout's order.
    place = {name: i for i, name in enumerate(sources)}
    return np.array(
        [place[name] for name in retro_groups] + [len(target) + i for i in range(len(retro_groups))]
    )
