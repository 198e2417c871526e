"""Do entries of one set stand for entries of the other? A holdout that was copied from its target, paraphrased or lightly edited,
differs in nothing that a classifier could learn: each copy lies next to its original, and looks like the same set.

Counted is the share of entries whose nearest neighbour lies in the other set, beside the same share under permuted labels. Entries of
one source are no neighbours of one another: what is declared is no finding. Those of one side are relabelled together, among families
of their size, and the two sides of one source swap. Families of another size are no alternative: relabelled freely, thirty of five
beside sixty single entries were "copies" in .16-.17 of worlds without any, and in .45-.53 of a few large ones beside many small.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flipcore.core.randomness import generator
from flipcore.stats.base.intervals import z_quantile
from flipcore.stats.base.resample import N_PERMUTATIONS
from flipcore.stats.holdout.neighbours import nearest

N_GRAM = 5
_WORD = re.compile(r"\w+")
_ROWS = 512


@dataclass(frozen=True)
class CrossNeighbours:
    """`share` of the entries whose nearest neighbour lies in the other set, `chance` its mean under permuted labels, `p` one-sided
    for more than that; `at_most` of the holdout entries are copies that lie next to their original (one-sided 95%)."""

    share: float
    chance: float
    p: float
    at_most: float = math.nan


@dataclass(frozen=True)
class _Families:
    """Entries of one source on one side, `of` each entry its number; by family: `label`, `size`, `source`, and whether that source
    has entries on both sides (`is_linked`)."""

    of: np.ndarray
    label: np.ndarray
    size: np.ndarray
    source: np.ndarray
    is_linked: np.ndarray

    @classmethod
    def make(cls, labels: np.ndarray, sources: np.ndarray | None) -> _Families:
        names = np.arange(len(labels)) if sources is None else np.unique(sources, return_inverse=True)[1]
        pairs, of, size = np.unique(2 * names + labels, return_inverse=True, return_counts=True)
        source, label = pairs // 2, pairs % 2
        return cls(of, label, size, source, np.bincount(source)[source] > 1)

    @cached_property
    def strata(self) -> list[np.ndarray]:
        """Families of one size without a side of their source in the other set: each is as well labelled like another."""
        alone = ~self.is_linked
        return [np.flatnonzero(alone & (self.size == size)) for size in np.unique(self.size[alone])]

    @cached_property
    def is_swapped(self) -> np.ndarray:
        """Of the families of a source on both sides: whether both are of one size."""
        total, n = np.bincount(self.source, self.size)[self.source], 2 * self.size
        return self.is_linked & (total == n)

    @property
    def share_free(self) -> float:
        """The share of entries whose label another draw may change."""
        free = self.is_swapped.copy()
        for family in self.strata:
            free[family] = len(set(self.label[family].tolist())) > 1
        return float(self.size[free].sum() / self.size.sum())

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Another label of each entry."""
        label = self.label.copy()
        for family in self.strata:
            label[family] = rng.permutation(label[family])
        coin = rng.integers(0, 2, self.source.max() + 1)
        return np.where(self.is_swapped, label ^ coin[self.source], label)[self.of]


def compared_rows(labels: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """(n,) which entries are compared: all, or the first of each source and side where fewer than half could change their label."""
    families = _Families.make(labels, sources)
    if families.share_free >= 0.5:
        return np.ones(len(labels), dtype=bool)
    first = np.zeros(len(labels), dtype=bool)
    first[np.unique(families.of, return_index=True)[1]] = True
    return first


def cross_neighbours(
    neighbour: np.ndarray, labels: np.ndarray, sources: np.ndarray | None = None, seed: int = 0, m: int = N_PERMUTATIONS
) -> CrossNeighbours:
    """From each entry's nearest one of another source (row numbers; negative: it has none), the labels 0 and 1, and what each entry was
    made from (names or numbers; default: each from its own)."""
    row = np.flatnonzero(neighbour >= 0)
    if not len(row):
        return CrossNeighbours(math.nan, math.nan, 1.0)
    near, rng, families = neighbour[row], generator(seed), _Families.make(labels, sources)
    share = float((labels[row] != labels[near]).mean())
    draws = np.array([(mixed[row] != mixed[near]).mean() for mixed in (families.draw(rng) for _ in range(m))])
    p = (1 + int((draws >= share - 1e-12).sum())) / (m + 1)
    beyond = float((share - draws.mean() + z_quantile(0.95) * draws.std()) * len(row))
    most = _most_copies(beyond, *np.bincount(labels[row], minlength=2).tolist()) / max(1, int((labels == 1).sum()))
    return CrossNeighbours(share, float(draws.mean()), p, most)


def _most_copies(beyond: float, n_target: int, n_retro: int) -> float:
    """The largest number of copies that are expected to bring no more than `beyond` entries with their neighbour across beyond those by
    chance; all holdout entries where the smaller set has no more. A copy and its original are each other's neighbour, and stand in one
    place for all others, of which each set then draws half (counted as two places, bounds were too low in .11 at 400 v 50)."""
    k = np.arange(min(n_target, n_retro) + 1)
    retro = (n_retro - k / 2) / (n_target + n_retro - k)
    across = 2 * k + (n_target - k) * retro + (n_retro - k) * (1 - retro)
    within = np.flatnonzero(across - across[0] <= beyond)
    most = int(within[-1]) if len(within) else 0
    return float(n_retro if most == k[-1] else most)


def nearest_by_vector(units: np.ndarray, sources: np.ndarray | None = None) -> np.ndarray:
    """(n,) the entry of another source of largest cosine to each of the unit rows (n, d); -1 where there is none."""
    rows, cosines = nearest(units, units, 1, skip_self=True, sources=sources)
    return np.where(np.isfinite(cosines[:, 0]), rows[:, 0], -1)


def nearest_by_words(texts: Sequence[str], sources: np.ndarray | None = None) -> np.ndarray:
    """(n,) the entry of another source that shares the largest part of its runs of five words with each (Jaccard); -1 where none
    shares any."""
    from scipy.sparse import csr_array

    names = np.arange(len(texts)) if sources is None else np.asarray(sources)
    columns: dict[tuple[str, ...], int] = {}
    rows, cols = [], []
    for i, text in enumerate(texts):
        words = _WORD.findall(text.lower())
        for run in {tuple(words[start : start + N_GRAM]) for start in range(len(words) - N_GRAM + 1)}:
            rows.append(i)
            cols.append(columns.setdefault(run, len(columns)))
    n = len(texts)
    runs = csr_array((np.ones(len(rows)), (rows, cols)), shape=(n, max(1, len(columns))))
    sizes = np.bincount(rows, minlength=n) if rows else np.zeros(n)
    result = np.full(n, -1)
    for start in range(0, n, _ROWS):
        common = (runs[start : start + _ROWS] @ runs.T).toarray()
        common[names[start : start + len(common), None] == names[None, :]] = 0
        union = sizes[start : start + _ROWS, None] + sizes[None, :] - common
        alike = common / np.maximum(union, 1)
        best = alike.argmax(axis=1)
        result[start : start + _ROWS] = np.where(alike.max(axis=1) > 0, best, -1)
    return result
