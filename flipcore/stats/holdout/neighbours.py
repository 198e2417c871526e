"""Neighbours among unit vectors: nearest entries, the most alike pairs, loners, and the mixing of
two sets.

`units` are (n, d) rows of length 1, so a product is a cosine. Nothing larger than a block of rows
against all is ever held.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base.estimate import Estimate, missing, without_interval
from flipcore.stats.base.intervals import t_quantile

ROWS_AT_ONCE = 512
N_NEAREST = 10
N_PERMUTATIONS = 999
SLACK = 1e-12


def _blocks(units: np.ndarray, candidates: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (first row, cosines of a block of rows of `units` with all `candidates`)."""
    for start in range(0, len(units), ROWS_AT_ONCE):
        yield start, units[start : start + ROWS_AT_ONCE] @ candidates.T


def nearest(
    units: np.ndarray,
    candidates: np.ndarray,
    k: int,
    *,
    skip_self: bool = False,
    sources: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return (n, k) rows of `candidates` and their cosines, nearest first. `skip_self`: both are
    one set and no entry is its own neighbour, nor those of one source where `sources` are given
    (their cosine is -inf). Fewer than k candidates: all of them."""
    k = min(k, len(candidates) - skip_self)
    if k < 1:
        raise BadInput("An entry needs at least one other entry to have a neighbour.")
    rows = np.empty((len(units), k), dtype=np.int64)
    cosines = np.empty((len(units), k), dtype=units.dtype)
    for start, block in _blocks(units, candidates):
        if skip_self:
            block[np.arange(len(block)), start + np.arange(len(block))] = -np.inf
            if sources is not None:
                block[sources[start : start + len(block), None] == sources[None, :]] = -np.inf
        # Partition before sorting: only the k nearest of each row have to be in order.
        near = np.argpartition(-block, k - 1, axis=1)[:, :k]
        values = np.take_along_axis(block, near, axis=1)
        order = np.lexsort((near, -values), axis=1)
        rows[start : start + len(block)] = np.take_along_axis(near, order, axis=1)
        cosines[start : start + len(block)] = np.take_along_axis(values, order, axis=1)
    return rows, cosines


def most_alike(
    units: np.ndarray, k: int = N_NEAREST, labels: np.ndarray | None = None
) -> list[tuple[int, int, float]]:
    """Return the k pairs i < j of largest cosine, largest first (source 002: largest internal
    cosine similarities); with `labels` only pairs of two labels."""
    best: list[tuple[float, int, int]] = []
    for start, block in _blocks(units, units):
        # Each pair once, and no entry with itself.
        block[np.arange(block.shape[1]) <= (start + np.arange(len(block)))[:, None]] = -np.inf
        if labels is not None:
            block[labels[start : start + len(block), None] == labels[None, :]] = -np.inf
        flat = block.ravel()
        # No block can add more than k pairs.
        top = np.argpartition(-flat, min(k, flat.size) - 1)[:k]
        best += [
            (float(flat[i]), start + int(i // block.shape[1]), int(i % block.shape[1]))
            for i in top
            if np.isfinite(flat[i])
        ]
    best.sort(key=lambda pair: (-pair[0], pair[1], pair[2]))
    return [(i, j, cosine) for cosine, i, j in best[:k]]


def cosine_counts(
    units: np.ndarray, n_bins: int = 80, low: float = -1.0, high: float = 1.0
) -> np.ndarray:
    """Return (n_bins,) the number of pairs i < j with their cosine in each of equal bins from `low`
    to `high`; the ends take those beyond."""
    counts = np.zeros(n_bins, dtype=np.int64)
    for start, block in _blocks(units, units):
        bins = np.clip((block - low) * (n_bins / (high - low)), 0, n_bins - 1).astype(np.int32)
        later = np.arange(block.shape[1]) > (start + np.arange(len(block)))[:, None]
        counts += np.bincount(bins[later], minlength=n_bins)
    return counts


def mean_cosine(units: np.ndarray, level: float = 0.95) -> Estimate:
    """Return the mean cosine over all pairs of a set, with t limits from the jackknife over entries
    (`_jackknife_variance`). Below ten entries: no interval."""
    n = len(units)
    if n < 2:
        return missing(n, level, "A set of fewer than two entries has no pairs.")
    # Single precision would lose digits in the sum over all rows.
    rows = np.asarray(units, dtype=float)
    means = _own_means(rows)
    value = float(means.mean())
    if n < N_NEAREST:
        return Estimate(
            value, math.nan, math.nan, level, "none", n, None, f"No interval: {n} entries."
        )
    half = t_quantile(0.5 + level / 2, n - 1) * math.sqrt(_jackknife_variance(means))
    return Estimate(value, value - half, value + half, level, "clt_cluster", n, None)


def likeness_difference(
    target: np.ndarray, retro: np.ndarray, *, paired: bool = False, level: float = 0.95
) -> Estimate:
    """Return the mean cosine over the pairs of `retro` less that of `target`, with t limits from
    the jackknife over entries; `paired`: row i of retro was written from row i of target. Below ten
    entries in one set: no interval."""
    fewest, n = min(len(target), len(retro)), len(target) + len(retro)
    if fewest < 2:
        return missing(n, level, "A set of fewer than two entries has no pairs.")
    means = [_own_means(np.asarray(units, dtype=float)) for units in (target, retro)]
    value = float(means[1].mean() - means[0].mean())
    if fewest < N_NEAREST:
        return without_interval(value, n, level, f"No interval: {fewest} entries in one set.")
    # Pairs move together, so their difference is what varies.
    parts = [means[1] - means[0]] if paired else means
    se = math.sqrt(sum(_jackknife_variance(part) for part in parts))
    half = t_quantile(0.5 + level / 2, fewest - 1) * se
    return Estimate(value, value - half, value + half, level, "clt_cluster", n, None)


def _jackknife_variance(means: np.ndarray) -> float:
    """Return the variance of the mean over all pairs, from the entries' own means (a U-statistic of
    order 2; Arvesen 1969): four times the variance of their mean, times ((n - 1)/(n - 2))², without
    which 15 entries beside 150 were called unlike in .062 of clean sets at .05."""
    n = len(means)
    return 4 * float(means.var(ddof=1)) / n * ((n - 1) / (n - 2)) ** 2


def _own_means(rows: np.ndarray) -> np.ndarray:
    """Return (n,) the mean cosine of each entry with the others of its set."""
    # The product with the sum holds the entry's cosine of 1 with itself, taken off again.
    return (rows @ rows.sum(axis=0) - 1) / (len(rows) - 1)


@dataclass(frozen=True)
class Mixing:
    """`own_share` is the share of an entry's `k` nearest neighbours that are of its set, averaged
    over the two sets (so that a small one counts as much); `expected` is its mean over regroupings;
    `p` is two-sided, (b + 1) / (m + 1)."""

    own_share: Estimate
    expected: float
    p: float
    k: int
    n_permutations: int


def mixing(
    rows: np.ndarray,
    labels: np.ndarray,
    *,
    paired: bool = False,
    m: int = N_PERMUTATIONS,
    seed: int = 0,
) -> Mixing:
    """Run the nearest-neighbour test of Schilling (1986) and Henze (1988): the graph of neighbours
    stays, the labels are permuted.

    `rows` (n, k) as `nearest(..., skip_self=True)` gives them. `paired`: the second half of the
    rows was written from the first, row by row, and labels swap within pairs.
    """
    labels = np.asarray(labels)
    if len(labels) != len(rows) or set(np.unique(labels)) != {0, 1}:
        raise BadInput("Mixing needs one label an entry, 0 or 1, and entries of both.")
    half = len(labels) // 2
    # Swapping within pairs needs one row of either set in each.
    if paired and not (labels[half:] == 1 - labels[:half]).all():
        raise BadInput("Paired sets must be equally long, one half of the rows for each.")
    observed = _own_shares(rows, labels)
    rng = generator(seed, "mixing")
    draws = np.empty(m)
    for i in range(m):
        if paired:
            null_labels = np.where(
                np.tile(rng.integers(0, 2, size=half) == 1, 2), 1 - labels, labels
            )
        else:
            null_labels = rng.permutation(labels)
        draws[i] = np.mean([part.mean() for part in _own_shares(rows, null_labels)])
    value = float(np.mean([part.mean() for part in observed]))
    # Under free regrouping the mean is known exactly.
    expected = float(draws.mean()) if paired else (len(labels) - 2) / (2 * (len(labels) - 1))
    b = int(np.sum(np.abs(draws - expected) >= abs(value - expected) - SLACK))
    return Mixing(_mean_of_two(observed), expected, (b + 1) / (m + 1), rows.shape[1], m)


def _own_shares(rows: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of each entry's neighbours that are of its set, for either label."""
    is_same = (labels[rows] == labels[:, None]).mean(axis=1)
    return is_same[labels == 0], is_same[labels == 1]


def _mean_of_two(parts: tuple[np.ndarray, np.ndarray], level: float = 0.95) -> Estimate:
    """Return the unweighted mean of two means with t limits; the smaller set gives the degrees of
    freedom."""
    value, n = float(np.mean([part.mean() for part in parts])), sum(map(len, parts))
    fewest = min(map(len, parts))
    if fewest < N_NEAREST:
        return without_interval(value, n, level, f"No interval: {fewest} entries in one set.")
    # Half of the sum of two means: half of the root of the summed variances.
    half = (
        t_quantile(0.5 + level / 2, fewest - 1)
        * math.sqrt(sum(part.var(ddof=1) / len(part) for part in parts))
        / 2
    )
    return Estimate(
        value,
        value - half,
        value + half,
        level,
        "clt_cluster",
        n,
        None,
        "Entries count as independent.",
    )
