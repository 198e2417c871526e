"""Copies: holdout entries that were copied, paraphrased or lightly edited from benchmark entries.

A classifier cannot learn anything from a copied holdout, because it looks like the same set. But
each copy lies next to its original. So the statistic is the share of entries whose nearest
neighbour is in the other set, compared with that share under permuted labels.

Entries of one source do not count as neighbours, because a declared copy is no finding. A family is
the entries of one source on one side. Its entries are relabelled together, and labels are permuted
among families of one size; the two sides of one source swap. Families of all sizes must not be
permuted together: thirty families of five and sixty single entries then had "copies" in .16-.17 of
worlds without any, and a few large families with many small ones in .45-.53.

An original may have a twin in its own set that lies as near as the copy. With twins for two entries
in five, the bound on copies was false in .9 of worlds. For the bound, twins within a set are
therefore one cluster, and not neighbours of each other.
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
TWIN_GAP = 0.6  # an entry nearer than this share of the next distance is a twin
MAX_TWINS_EACH = 4  # twins of one entry
MAX_TWINS = 0.6  # share of entries with twins, above which copies cannot be bounded
_WORD = re.compile(r"\w+")
_BLOCK_ROWS = 512


# Each call yields blocks: (first row, likeness of each row of the block to all entries, at most 1).
Blocks = Callable[[], Iterator[tuple[int, np.ndarray]]]


@dataclass(frozen=True)
class CrossNeighbours:
    """Test of how many entries have their nearest neighbour in the other set.

    `share` is the share of such entries, `chance` its mean under permuted labels, and `p` is
    one-sided for a larger share. `at_most` is the upper limit (one-sided 95%) of the share of
    holdout entries that are copies next to their original. It is NaN with `has_many_twins`, because
    too many entries then have twins in their own set.
    """

    share: float
    chance: float
    p: float
    at_most: float = math.nan
    has_many_twins: bool = False


@dataclass(frozen=True)
class _Families:
    """Families: the entries of one source on one side. `number` (entries,) is each entry's family.
    The other arrays are (families,): `label` is the side, `size` counts entries, and `is_linked` is
    True if the family's source has entries on both sides."""

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
        # Source and side are one number, so that a single sort finds the families.
        sides, number, size = np.unique(2 * names + labels, return_inverse=True, return_counts=True)
        source, label = sides // 2, sides % 2
        return cls(number, label, size, source, np.bincount(source)[source] > 1)

    @cached_property
    def strata(self) -> list[np.ndarray]:
        """Unlinked families by size; within each array the labels are exchangeable."""
        is_single = ~self.is_linked
        return [
            np.flatnonzero(is_single & (self.size == size))
            for size in np.unique(self.size[is_single])
        ]

    @cached_property
    def is_swapped(self) -> np.ndarray:
        """(families,) True where the source has families of equal size on both sides."""
        source_sizes = np.bincount(self.source, self.size)[self.source]
        return self.is_linked & (source_sizes == 2 * self.size)

    @property
    def permutable_share(self) -> float:
        """Share of the entries whose label a permutation may change."""
        is_permutable = self.is_swapped.copy()
        for stratum in self.strata:
            is_permutable[stratum] = len(set(self.label[stratum].tolist())) > 1
        n_entries = self.size.sum()
        return float(self.size[is_permutable].sum() / n_entries) if n_entries else math.nan

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Return (entries,) permuted labels."""
        label = self.label.copy()
        for stratum in self.strata:
            label[stratum] = rng.permutation(label[stratum])
        # One coin per source, so that its two sides swap together; ^ turns 0 into 1 and back.
        swap = rng.integers(0, 2, self.source.max() + 1)
        return np.where(self.is_swapped, label ^ swap[self.source], label)[self.number]


def compared_rows(labels: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """Return (n,) True for the entries to compare: all, or only the first of each source and side
    if permutations could change fewer than half of the labels."""
    families = _Families.make(labels, sources)
    # With fewer the permutations would hardly vary, and neither p nor bound would mean much.
    if families.permutable_share >= 0.5:
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
    """Test whether entries lie next to the other set more often than by chance.

    Parameters
    ----------
    neighbour : (n,) row of each entry's nearest entry of another source; negative without one.
    labels : (n,) 0 for the benchmark, 1 for the holdout.
    sources : (n,) names or numbers of each entry's source; None: no two entries share one.
    m : number of permutations of the labels.
    """
    rows = np.flatnonzero(neighbour >= 0)
    if not len(rows):
        return CrossNeighbours(math.nan, math.nan, 1.0)
    near, rng, families = neighbour[rows], generator(seed), _Families.make(labels, sources)
    share = float((labels[rows] != labels[near]).mean())
    draws = np.empty(m)
    for i in range(m):
        permuted = families.draw(rng)
        draws[i] = (permuted[rows] != permuted[near]).mean()
    # The observed labels count as one of the permutations.
    p = (1 + int((draws >= share - 1e-12).sum())) / (m + 1)
    # Upper limit of the number of entries beyond chance, from the spread of the permutations.
    excess = float((share - draws.mean() + z_quantile(0.95) * draws.std()) * len(rows))
    n_target, n_retro = np.bincount(labels[rows], minlength=2).tolist()
    # Entries without a neighbour are not copies, but they count in the size of the holdout.
    at_most = _most_copies(excess, n_target, n_retro) / max(1, int((labels == 1).sum()))
    return CrossNeighbours(share, float(draws.mean()), p, at_most)


def twins(blocks: Blocks, labels: np.ndarray, sources: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the cluster (n,) of each entry with its twins, and the share of entries with twins.

    `labels` are the entries' sides, `sources` their sources. Twins are entries of one side and
    different sources that are by far each other's nearest: the next nearest is more than
    1 / `TWIN_GAP` times as far. With a fixed distance all entries on a narrow topic would be twins.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(labels)
    # One more than the twins of an entry, because a gap needs a next nearest entry.
    k = min(MAX_TWINS_EACH + 1, n - 1)
    pairs: set[tuple[int, int]] = set()
    for start, alike in blocks():
        rows = np.arange(start, start + len(alike))
        all_distances = np.maximum(1.0 - alike, 0.0)
        all_distances[labels[rows, None] != labels[None, :]] = np.inf
        all_distances[sources[rows, None] == sources[None, :]] = np.inf
        nearest = np.argpartition(all_distances, k - 1, axis=1)[:, :k]
        distances = np.take_along_axis(all_distances, nearest, axis=1)
        order = np.argsort(distances, axis=1, kind="stable")
        nearest = np.take_along_axis(nearest, order, axis=1)
        distances = np.take_along_axis(distances, order, axis=1)

        with np.errstate(invalid="ignore"):
            is_gap = distances[:, :-1] < TWIN_GAP * distances[:, 1:]
        is_gap &= np.isfinite(distances[:, 1:])
        for row in np.flatnonzero(is_gap.any(axis=1)).tolist():
            n_before_gap = int(is_gap[row].argmax()) + 1
            pairs.update((start + row, twin) for twin in nearest[row, :n_before_gap].tolist())
    mutual = [(first, second) for first, second in pairs if (second, first) in pairs]
    if not mutual:
        return sources, 0.0
    # Entries of one source stay one cluster: each is linked with the first of its source.
    _, firsts, numbers = np.unique(sources, return_index=True, return_inverse=True)
    links = np.array([*mutual, *enumerate(firsts[numbers].tolist())])
    graph = coo_array((np.ones(len(links), dtype=bool), (links[:, 0], links[:, 1])), shape=(n, n))
    clusters = connected_components(graph, directed=False)[1]
    return clusters, len({first for first, _ in mutual}) / n


def _most_copies(excess: float, n_target: int, n_retro: int) -> float:
    """Return the largest number of copies that explains an `excess` of entries with a neighbour in
    the other set; all holdout entries if the smaller set could be all copies.

    A copy and its original are each other's neighbour. Seen from other entries they are one place,
    and count as half an entry of each set. If they count as two entries, bounds were too low in .11
    of worlds with 400 and 50 entries.
    """
    k = np.arange(min(n_target, n_retro) + 1)
    retro_share = (n_retro - k / 2) / (n_target + n_retro - k)
    n_across = 2 * k + (n_target - k) * retro_share + (n_retro - k) * (1 - retro_share)
    # The expected number grows with k, so the last k that fits is the largest.
    fitting = np.flatnonzero(n_across - n_across[0] <= excess)
    n_copies = int(fitting[-1]) if len(fitting) else 0
    return float(n_retro if n_copies == k[-1] else n_copies)


def neighbours_beside_twins(
    blocks: Blocks, labels: np.ndarray, sources: np.ndarray, seed: int = 0, m: int = N_PERMUTATIONS
) -> CrossNeighbours:
    """Test neighbours by one measure of likeness, so that twins do not lower the bound on copies.

    Only the bound leaves twins out. If both sets come from one source, the twins of some entries
    are in the other set, and a test that leaves out twins within a set would take those for copies.
    """
    near = cross_neighbours(_nearest_outside(blocks, sources), labels, sources, seed, m)
    clusters, twin_share = twins(blocks, labels, sources)
    if not twin_share:
        return near
    if twin_share > MAX_TWINS:
        return replace(near, at_most=math.nan, has_many_twins=True)
    # A twin on the other side stays a neighbour, because it may be a copy.
    names = np.unique(np.column_stack([clusters, labels]), axis=0, return_inverse=True)[1].ravel()
    nearest = _nearest_outside(blocks, sources, names)
    without_twins = cross_neighbours(nearest, labels, names, seed, m)
    if math.isnan(without_twins.at_most):
        return near
    return replace(near, at_most=max(near.at_most, without_twins.at_most))


def _nearest_outside(blocks: Blocks, *clusters: np.ndarray) -> np.ndarray:
    """Return (n,) the most alike entry outside all of an entry's clusters; -1 if none is alike
    at all."""
    parts = []
    for start, alike in blocks():
        for names in clusters:
            alike[names[start : start + len(alike), None] == names[None, :]] = -np.inf
        best = alike.argmax(axis=1)
        likeness = np.take_along_axis(alike, best[:, None], axis=1)[:, 0]
        parts.append(np.where(np.isfinite(likeness) & (likeness != 0), best, -1))
    return np.concatenate(parts)


def blocks_of_vectors(units: np.ndarray) -> Blocks:
    """Return the blocks of cosines of unit rows (n, d)."""

    def blocks() -> Iterator[tuple[int, np.ndarray]]:
        for start in range(0, len(units), _BLOCK_ROWS):
            yield start, units[start : start + _BLOCK_ROWS] @ units.T

    return blocks


def blocks_of_words(texts: Sequence[str]) -> Blocks:
    """Return the blocks of Jaccard likeness: the share that both texts have of all their runs of
    five words."""
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
        for start in range(0, n, _BLOCK_ROWS):
            common = (runs[start : start + _BLOCK_ROWS] @ runs.T).toarray()
            union = sizes[start : start + _BLOCK_ROWS, None] + sizes[None, :] - common
            # The 1 avoids 0/0 for texts of fewer than five words.
            yield start, common / np.maximum(union, 1)

    return blocks
