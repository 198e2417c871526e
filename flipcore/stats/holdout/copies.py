"""Copies: entries of one set that stand for entries of the other. A holdout that was copied from
its benchmark, paraphrased or lightly edited, differs in nothing that a classifier could learn: each
copy lies next to its original, and looks like the same set.

A copy lies next to its original unless that has a twin in its own set, which then lies as near:
with two twins in five the bound on copies was false in .9 of worlds. For the bound, twins within a
set are therefore one cluster and no neighbours of one another.

The statistic is the share of entries whose nearest neighbour lies in the other set, beside the same
share under permuted labels. Entries of one source are no neighbours of one another: a declared copy
is no finding. Those of one side are relabelled together, among families of their size, and the two
sides of one source swap. Families of another size are no alternative: relabelled freely, thirty of
five beside sixty single entries were "copies" in .16-.17 of worlds without any, and in .45-.53 of a
few large ones beside many small.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from flipcore.core.randomness import generator
from flipcore.stats.base.intervals import z_quantile
from flipcore.stats.base.resample import N_PERMUTATIONS

N_GRAM = 5
TWIN_GAP = 0.6  # of the distance to the next nearest, below which the nearest is a twin
MOST_OF_TWINS = 4  # of one entry
MOST_TWINS = 0.6  # of all entries, from which no bound on copies can be told
_WORD = re.compile(r"\w+")
_ROWS = 512


# Yields a block of rows at a time: (first row, likeness of each of its entries to all, at most 1).
Blocks = Callable[[], Iterator[tuple[int, np.ndarray]]]


@dataclass(frozen=True)
class CrossNeighbours:
    """`share` of the entries whose nearest neighbour lies in the other set, `chance` its mean under
    permuted labels, `p` one-sided for more than that; `at_most` of the holdout entries are copies
    that lie next to their original (one-sided 95%). `has_many_twins`: so many entries have twins in
    their own set that no such bound can be told; `at_most` is NaN then."""

    share: float
    chance: float
    p: float
    at_most: float = math.nan
    has_many_twins: bool = False


@dataclass(frozen=True)
class _Families:
    """Families: entries of one source on one side. `number` (entries,) is the family of each entry.
    By family: `label`, `size`, `source`, and `is_linked` where that source has entries on both
    sides."""

    number: np.ndarray
    label: np.ndarray
    size: np.ndarray
    source: np.ndarray
    is_linked: np.ndarray

    @classmethod
    def make(cls, labels: np.ndarray, sources: np.ndarray | None) -> _Families:
        if sources is None:
            names = np.arange(len(labels))
        else:
            names = np.unique(sources, return_inverse=True)[1]
        # Source and side in one number, so that one sort finds the families.
        sides, number, size = np.unique(2 * names + labels, return_inverse=True, return_counts=True)
        source, label = sides // 2, sides % 2
        return cls(number, label, size, source, np.bincount(source)[source] > 1)

    @cached_property
    def strata(self) -> list[np.ndarray]:
        """Families of one size without a side of their source in the other set: each is as well
        labelled like another."""
        is_single = ~self.is_linked
        return [
            np.flatnonzero(is_single & (self.size == size))
            for size in np.unique(self.size[is_single])
        ]

    @cached_property
    def is_swapped(self) -> np.ndarray:
        """True for the families of a source on both sides that are of one size."""
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
        """Draw another label for each entry."""
        label = self.label.copy()
        for family in self.strata:
            label[family] = rng.permutation(label[family])
        coin = rng.integers(0, 2, self.source.max() + 1)
        return np.where(self.is_swapped, label ^ coin[self.source], label)[self.number]


def compared_rows(labels: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """Return (n,), True for the entries that are compared: all, or the first of each source and
    side where fewer than half could change their label."""
    families = _Families.make(labels, sources)
    # With fewer the permutations hardly vary, and neither p nor bound would say much.
    if families.share_free >= 0.5:
        return np.ones(len(labels), dtype=bool)
    first = np.zeros(len(labels), dtype=bool)
    first[np.unique(families.number, return_index=True)[1]] = True
    return first


def cross_neighbours(
    neighbour: np.ndarray,
    labels: np.ndarray,
    sources: np.ndarray | None = None,
    seed: int = 0,
    m: int = N_PERMUTATIONS,
) -> CrossNeighbours:
    """Test if entries lie next to the other set more often than chance.

    Parameters
    ----------
    neighbour : (n,) row of each entry's nearest one of another source; negative where it has none.
    labels : (n,) 0 for the benchmark, 1 for the holdout.
    sources : (n,) names or numbers of the source of each entry; None: no two share one.
    m : permutations of the labels.
    """
    row = np.flatnonzero(neighbour >= 0)
    if not len(row):
        return CrossNeighbours(math.nan, math.nan, 1.0)
    near, rng, families = neighbour[row], generator(seed), _Families.make(labels, sources)
    share = float((labels[row] != labels[near]).mean())
    draws = np.empty(m)
    for i in range(m):
        drawn = families.draw(rng)
        draws[i] = (drawn[row] != drawn[near]).mean()
    # The observed labels are one of the regroupings.
    p = (1 + int((draws >= share - 1e-12).sum())) / (m + 1)
    # An upper limit by the spread of the permutations, in numbers of entries.
    beyond = float((share - draws.mean() + z_quantile(0.95) * draws.std()) * len(row))
    n_target, n_retro = np.bincount(labels[row], minlength=2).tolist()
    # Entries without a neighbour are no copies, but they are entries of the holdout.
    at_most = _most_copies(beyond, n_target, n_retro) / max(1, int((labels == 1).sum()))
    return CrossNeighbours(share, float(draws.mean()), p, at_most)


def with_twins_clustered(
    near: CrossNeighbours, without_twins: CrossNeighbours, n_twins: float
) -> CrossNeighbours:
    """Return share, chance and p of `near`, with the bound of neighbours that are no twins.

    Of two sets of one source some twins fall on either side, so neighbours without twins would call
    those copies; the bound may count them, the test may not. `n_twins` is the share of entries with
    a twin in their own set.
    """
    if n_twins > MOST_TWINS:
        return replace(near, at_most=math.nan, has_many_twins=True)
    if not n_twins or math.isnan(without_twins.at_most):
        return near
    return replace(near, at_most=max(near.at_most, without_twins.at_most))


def twins(blocks: Blocks, labels: np.ndarray, sources: np.ndarray) -> tuple[np.ndarray, float]:
    """Return (n,) the cluster of each entry with its twins, and the share of entries that have any.

    `labels` are the sides and `sources` those of the entries. Twins are entries of one side and
    other sources that are each other's nearest, by far: the next nearest is more than 1 /
    `TWIN_GAP` times as unlike. By a fixed likeness entries of one topic would be twins in one set
    and unlike entries in another.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(labels)
    # One more than the twins an entry may have: a gap needs a next nearest.
    k = min(MOST_OF_TWINS + 1, n - 1)
    pairs: set[tuple[int, int]] = set()
    for start, alike in blocks():
        rows = np.arange(start, start + len(alike))
        unlike = np.maximum(1.0 - alike, 0.0)
        unlike[labels[rows, None] != labels[None, :]] = np.inf
        unlike[sources[rows, None] == sources[None, :]] = np.inf
        order = np.argpartition(unlike, k - 1, axis=1)[:, :k]
        distances = np.take_along_axis(unlike, order, axis=1)
        by_distance = np.argsort(distances, axis=1, kind="stable")
        order = np.take_along_axis(order, by_distance, axis=1)
        distances = np.take_along_axis(distances, by_distance, axis=1)

        with np.errstate(invalid="ignore"):
            is_gap = distances[:, :-1] < TWIN_GAP * distances[:, 1:]
        is_gap &= np.isfinite(distances[:, 1:])
        for row in np.flatnonzero(is_gap.any(axis=1)).tolist():
            n_near = int(is_gap[row].argmax()) + 1
            pairs.update((start + row, twin) for twin in order[row, :n_near].tolist())
    mutual = [(first, second) for first, second in pairs if (second, first) in pairs]
    if not mutual:
        return sources, 0.0
    # Entries of one source stay one cluster: each is linked with the first of its source.
    first_of_source = np.unique(sources, return_index=True)[1][
        np.unique(sources, return_inverse=True)[1]
    ]
    links = np.array([*mutual, *enumerate(first_of_source.tolist())])
    graph = coo_array((np.ones(len(links), dtype=bool), (links[:, 0], links[:, 1])), shape=(n, n))
    clusters = connected_components(graph, directed=False)[1]
    return clusters, len({first for first, _ in mutual}) / n


def _most_copies(beyond: float, n_target: int, n_retro: int) -> float:
    """Return the largest number of copies that are expected to bring no more than `beyond` entries
    with their neighbour across beyond those by chance; all holdout entries where the smaller set
    has no more. A copy and its original are each other's neighbour, and stand in one place for all
    others, of which each set then draws half (counted as two places, bounds were too low in .11 at
    400 v 50)."""
    k = np.arange(min(n_target, n_retro) + 1)
    retro = (n_retro - k / 2) / (n_target + n_retro - k)
    across = 2 * k + (n_target - k) * retro + (n_retro - k) * (1 - retro)
    # The expected number grows with k, so the last that fits is the largest.
    within = np.flatnonzero(across - across[0] <= beyond)
    most = int(within[-1]) if len(within) else 0
    return float(n_retro if most == k[-1] else most)


def neighbours_beside_twins(
    blocks: Blocks, labels: np.ndarray, sources: np.ndarray, seed: int = 0, m: int = N_PERMUTATIONS
) -> CrossNeighbours:
    """Test neighbours by a likeness; twins within a set do not lower the bound on copies."""
    near = cross_neighbours(_nearest_of(blocks, sources), labels, sources, seed, m)
    clusters, n_twins = twins(blocks, labels, sources)
    if not n_twins:
        return near
    # A twin on the other side stays a neighbour: it may be a copy.
    names = np.unique(np.column_stack([clusters, labels]), axis=0, return_inverse=True)[1].ravel()
    no_twins = _nearest_of(blocks, sources, names)
    return with_twins_clustered(near, cross_neighbours(no_twins, labels, names, seed, m), n_twins)


def _nearest_of(blocks: Blocks, *clusters: np.ndarray) -> np.ndarray:
    """Return (n,) the entry that is most alike outside all clusters of each; -1 where nothing is
    alike at all."""
    result = []
    for start, alike in blocks():
        for names in clusters:
            alike[names[start : start + len(alike), None] == names[None, :]] = -np.inf
        best = alike.argmax(axis=1)
        most = np.take_along_axis(alike, best[:, None], axis=1)[:, 0]
        result.append(np.where(np.isfinite(most) & (most != 0), best, -1))
    return np.concatenate(result)


def blocks_of_vectors(units: np.ndarray) -> Blocks:
    """Return the blocks of cosines of unit rows (n, d)."""

    def blocks() -> Iterator[tuple[int, np.ndarray]]:
        for start in range(0, len(units), _ROWS):
            yield start, units[start : start + _ROWS] @ units.T

    return blocks


def blocks_of_words(texts: Sequence[str]) -> Blocks:
    """Return the blocks of the shares of runs of five words that two texts have in common
    (Jaccard)."""
    from scipy.sparse import csr_array

    columns: dict[tuple[str, ...], int] = {}
    rows, cols = [], []
    for i, text in enumerate(texts):
        words = _WORD.findall(text.lower())
        n_runs = len(words) - N_GRAM + 1
        for run in {tuple(words[start : start + N_GRAM]) for start in range(n_runs)}:
            rows.append(i)
            cols.append(columns.setdefault(run, len(columns)))
    n = len(texts)
    runs = csr_array((np.ones(len(rows)), (rows, cols)), shape=(n, max(1, len(columns))))
    sizes = np.bincount(rows, minlength=n) if rows else np.zeros(n)

    def blocks() -> Iterator[tuple[int, np.ndarray]]:
        for start in range(0, n, _ROWS):
            common = (runs[start : start + _ROWS] @ runs.T).toarray()
            union = sizes[start : start + _ROWS, None] + sizes[None, :] - common
            # Texts without five words share nothing; 1 avoids 0/0.
            yield start, common / np.maximum(union, 1)

    return blocks
