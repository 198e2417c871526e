"""The entries of two sets: their compared text, and the groups of entries written from one source,
which must stay together."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from flipcore.core.records import Item
from flipcore.text.same_question import item_key


def entry_text(item: Item) -> str:
    """Return the question and the options in alphabetical order, one line each (source 002,
    Appendix B).

    A question gets exactly one question mark at its end, whatever its author wrote; a completion
    gets none.
    """
    question = item.question.strip()
    if item.kind != "completion":
        question = f"{question.rstrip('?').rstrip()}?" if question.strip("?") else ""
    return "\n".join([question, *sorted(option.strip() for option in item.options)])


def source_groups(target: Sequence[Item], retro: Sequence[Item]) -> list[str]:
    """Return the name of the group of each item of target + retro. An entry and the entries written
    from it, over any number of steps, are a group."""
    source_of = origins(target, retro)
    return [root_of(item.item_id, source_of) for item in (*target, *retro)]


def origins(target: Sequence[Item], retro: Sequence[Item]) -> dict[str, str]:
    """Map each entry's id to that of its source: the entry it was written from, or an earlier entry
    with the same question.

    Equal questions within a set are one entry. Across the sets they stay two, because a holdout
    entry that repeats a benchmark entry without declaring it is a finding.
    """
    source_of = {item.item_id: item.source_id for item in (*target, *retro) if item.source_id}
    for items in (target, retro):
        first_of: dict[tuple[str, ...], str] = {}
        for item in items:
            key = item_key(item)
            if key is None:
                continue
            first_root = root_of(first_of.setdefault(key, item.item_id), source_of)
            # Linked at the roots, so that chains of sources stay trees.
            root = root_of(item.item_id, source_of)
            if root != first_root:
                source_of[root] = first_root
    return source_of


def root_of(item_id: str, source_of: Mapping[str, str] | Mapping[str, str | None]) -> str:
    """Return the entry that `item_id` was originally written from, over any number of steps."""
    # Entries that name each other as sources would make an endless loop.
    seen = {item_id}
    while (source := source_of.get(item_id)) and source not in seen:
        item_id = source
        seen.add(item_id)
    return item_id


def one_per_source(
    target: Sequence[Item], retro: Sequence[Item]
) -> tuple[tuple[Item, ...], tuple[Item, ...], str]:
    """Return both sets with only the first entry per template or source, and a sentence about the
    entries left out, else "".

    A test that shuffles labels needs independent entries, which those of one template are not.
    """
    groups, subsets = source_groups(target, retro), []
    for items, names in ((target, groups[: len(target)]), (retro, groups[len(target) :])):
        first_of: dict[str, Item] = {}
        for item, name in zip(items, names, strict=True):
            first_of.setdefault(name, item)
        ids = {item.item_id for item in first_of.values()}
        subsets.append(tuple(item for item in items if item.item_id in ids))
    n_out = len(target) + len(retro) - len(subsets[0]) - len(subsets[1])
    note = (
        f"Of entries made from one source the first is compared: {n_out:,} others were left out."
        if n_out
        else ""
    )
    return subsets[0], subsets[1], note


def paired_rows(target: Sequence[Item], retro: Sequence[Item]) -> np.ndarray | None:
    """Return the positions in target + retro of the source-paired entries: all targets, then their
    holdout entries in the same order. None unless each holdout entry has its own benchmark entry.
    """
    groups = source_groups(target, retro)
    sources, retro_groups = groups[: len(target)], groups[len(target) :]
    if (
        not retro_groups
        or max(Counter(retro_groups).values()) > 1
        or max(Counter(sources).values()) > 1
        or not set(retro_groups) <= set(sources)
    ):
        return None
    position_of = {name: i for i, name in enumerate(sources)}
    target_rows = [position_of[name] for name in retro_groups]
    return np.array([*target_rows, *range(len(target), len(target) + len(retro_groups))])
