"""What a classifier offers that is to tell two sets apart, and the entries that must stay together while it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from flipcore.core.records import Item
from flipcore.stats.base.separability import FitPredict

N_FOLDS = 5


@dataclass(frozen=True)
class Giveaway:
    """A token that speaks for one set. `weight` is its mean pull on held-out entries, above 0 towards the retro-holdout;
    `lowest` and `highest` are its extremes over the folds; `n_target` and `n_retro` count the entries that contain it."""

    token: str
    weight: float
    lowest: float
    highest: float
    n_target: int
    n_retro: int


class Classifier(Protocol):
    """`n_permutations` of the whole cross-validation are usual, and for one that `is_slow` the most that is affordable.
    `needs_vectors`: it reads embeddings."""

    name: str
    title: str
    about: str
    needs_vectors: bool
    n_permutations: int
    is_slow: bool

    def why_not(self) -> str: ...

    def prepared(self, texts: Sequence[str], vectors: np.ndarray | None) -> FitPredict:
        """(train rows, their labels, test rows) -> scores of label 1. Rows are positions in `texts`."""

    def giveaways(self, texts: Sequence[str], labels: np.ndarray, folds: np.ndarray) -> list[Giveaway]:
        """Tokens in order of their pull, measured on entries that the classifier was not trained on."""


def around_the_median(decisions: np.ndarray) -> np.ndarray:
    """Decisions (n,) as scores that the fold's own median divides at 0.5.

    A fold's median needs no labels, so permutations stay exact. At a trained threshold every held-out entry of a small set
    lands in the large one: 50 against 1,319 read .50 balanced accuracy at an AUC of .67, and .60 this way.
    """
    return 1 / (1 + np.exp(-np.clip(decisions - np.median(decisions), -30, 30)))


def source_groups(target: Sequence[Item], retro: Sequence[Item]) -> list[str]:
    """A name for each item of target + retro: an entry and what was written from it, over any number of steps, share one."""
    above = {item.item_id: item.source_id for item in (*target, *retro) if item.source_id}

    def root(item_id: str) -> str:
        chain = {item_id}
        while item_id in above and above[item_id] not in chain:
            item_id = above[item_id]
            chain.add(item_id)
        return item_id

    return [root(item.item_id) for item in (*target, *retro)]


def one_per_source(target: Sequence[Item], retro: Sequence[Item]) -> tuple[tuple[Item, ...], tuple[Item, ...], str]:
    """Both sets with the first entry of each template or source, and a sentence where that left entries out, else "".

    Entries made from one template are no independent entries, and a test that shuffles labels needs
    entries that are: of each family within a set the first stands for all.
    """
    groups, subsets = source_groups(target, retro), []
    for items, names in ((target, groups[: len(target)]), (retro, groups[len(target) :])):
        first = {name: item for item, name in zip(reversed(items), reversed(names), strict=True)}
        ids = {item.item_id for item in first.values()}
        subsets.append(tuple(item for item in items if item.item_id in ids))
    n_out = len(target) + len(retro) - len(subsets[0]) - len(subsets[1])
    note = f"Of entries made from one source the first is compared: {n_out:,} others were left out." if n_out else ""
    return subsets[0], subsets[1], note


def paired_rows(target: Sequence[Item], retro: Sequence[Item]) -> np.ndarray | None:
    """Positions in target + retro of the source-paired entries, targets first and both in one order; None unless every retro
    entry was written from a target entry of its own."""
    groups = source_groups(target, retro)
    sources, retro_groups = groups[: len(target)], groups[len(target) :]
    if (
        not retro_groups
        or max(Counter(retro_groups).values()) > 1
        or max(Counter(sources).values()) > 1
        or not set(retro_groups) <= set(sources)
    ):
        return None
    place = {name: i for i, name in enumerate(sources)}
    return np.array([place[name] for name in retro_groups] + [len(target) + i for i in range(len(retro_groups))])
