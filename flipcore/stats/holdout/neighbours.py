"""Neighbours among unit vectors: nearest entries, the most alike pairs, and the mixing of two sets.

`units` are (n, d) rows of length 1, so a product is a cosine. Cosines are computed in blocks of
rows, to save memory.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base.estimate import MIN_N, Estimate, missing, without_interval
from flipcore.stats.base.intervals import t_quantile

ROWS_AT_ONCE = 512
N_NEAREST = 10
N_PERMUTATIONS = 999
SLACK = 1e-12


def _blocks(units: np.ndarray, candidates: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the first row of each block of `units`, and the block's cosines with `candidates`."""
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
    """Return (n, k) rows of `candidates` and their cosines, nearest first.

    k is at most the number of candidates. With `skip_self` both arguments are one set, and an entry
    is not its own neighbour. If `sources` are given too, entries of one source are not neighbours
    (their cosine is -inf). Raises BadInput without a candidate.
    """
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
        # Partition first, because only the k nearest of each row need sorting.
        top = np.argpartition(-block, k - 1, axis=1)[:, :k]
        top_cosines = np.take_along_axis(block, top, axis=1)
        order = np.lexsort((top, -top_cosines), axis=1)
        rows[start : start + len(block)] = np.take_along_axis(top, order, axis=1)
        cosines[start : start + len(block)] = np.take_along_axis(top_cosines, order, axis=1)
    return rows, cosines


def most_alike(
    units: np.ndarray, k: int = N_NEAREST, labels: np.ndarray | None = None
) -> list[tuple[int, int, float]]:
    """Return (i, j, cosine) of the k pairs i < j with the largest cosine, largest first (source
    002: largest internal cosine similarities). With `labels`, only pairs of different labels."""
    pairs: list[tuple[int, int, float]] = []
    for start, block in _blocks(units, units):
        # Each pair once, and no entry with itself.
        block[np.arange(block.shape[1]) <= (start + np.arange(len(block)))[:, None]] = -np.inf
        if labels is not None:
            block[labels[start : start + len(block), None] == labels[None, :]] = -np.inf
        cosines = block.ravel()
        # No block can add more than k pairs.
        top = np.argpartition(-cosines, min(k, cosines.size) - 1)[:k]
        for i in top[np.isfinite(cosines[top])]:
            row, column = divmod(int(i), block.shape[1])
            pairs.append((start + row, column, float(cosines[i])))
    return sorted(pairs, key=lambda pair: (-pair[2], pair[0], pair[1]))[:k]


def cosine_counts(
    units: np.ndarray, n_bins: int = 80, low: float = -1.0, high: float = 1.0
) -> np.ndarray:
    """Return (n_bins,) numbers of pairs i < j by cosine, in equal bins from `low` to `high`. The
    first and the last bin also count the cosines outside of this range."""
    counts = np.zeros(n_bins, dtype=np.int64)
    for start, block in _blocks(units, units):
        bins = np.clip((block - low) * (n_bins / (high - low)), 0, n_bins - 1).astype(np.int32)
        later = np.arange(block.shape[1]) > (start + np.arange(len(block)))[:, None]
        counts += np.bincount(bins[later], minlength=n_bins)
    return counts


def mean_cosine(units: np.ndarray, level: float = 0.95) -> Estimate:
    """Return the mean cosine over all pairs of a set, with t limits from the jackknife over
    entries; no interval below ten entries."""
    n = len(units)
    if n < 2:
        return missing(n, level, "A set of fewer than two entries has no pairs.")
    # Single precision would lose digits in the sum over all rows.
    rows = np.asarray(units, dtype=float)
    means = _own_means(rows)
    value = float(means.mean())
    if n < MIN_N:
        return without_interval(value, n, level, f"No interval: {n} entries.")
    half = t_quantile(0.5 + level / 2, n - 1) * math.sqrt(_jackknife_variance(means))
    return Estimate(
        value, value - half, value + half, level=level, method="clt_cluster", n=n, seed=None
    )


def likeness_difference(
    target: np.ndarray, retro: np.ndarray, *, paired: bool = False, level: float = 0.95
) -> Estimate:
    """Return the mean cosine over the pairs of `retro` minus that of `target`, with t limits from
    the jackknife over entries; no interval below ten entries in a set.

    With `paired`, row i of retro was written from row i of target.
    """
    fewest, n = min(len(target), len(retro)), len(target) + len(retro)
    if fewest < 2:
        return missing(n, level, "A set of fewer than two entries has no pairs.")
    means = [_own_means(np.asarray(units, dtype=float)) for units in (target, retro)]
    value = float(means[1].mean() - means[0].mean())
    if fewest < MIN_N:
        return without_interval(value, n, level, f"No interval: {fewest} entries in one set.")
    # The means of a pair are correlated, so their difference is taken before the variance.
    samples = [means[1] - means[0]] if paired else means
    se = math.sqrt(sum(_jackknife_variance(sample) for sample in samples))
    half = t_quantile(0.5 + level / 2, fewest - 1) * se
    return Estimate(
        value, value - half, value + half, level=level, method="clt_cluster", n=n, seed=None
    )


def _jackknife_variance(means: np.ndarray) -> float:
    """Return the variance of the mean over all pairs, from the entries' own means.

    The mean is a U-statistic of order 2 (Arvesen 1969). Its variance is four times that of the mean
    of the own means, times ((n - 1)/(n - 2))². Without this factor, sets of 15 and 150 entries of
    one source were called different in .062 of cases at .05.
    """
    n = len(means)
    return 4 * float(means.var(ddof=1)) / n * ((n - 1) / (n - 2)) ** 2


def _own_means(rows: np.ndarray) -> np.ndarray:
    """Return (n,) the mean cosine of each entry with all other entries of its set."""
    # The product with the sum includes the entry's cosine of 1 with itself, hence - 1.
    return (rows @ rows.sum(axis=0) - 1) / (len(rows) - 1)


@dataclass(frozen=True)
class Mixing:
    """Test of whether nearest neighbours belong to the same set.

    `own_share` is the share of an entry's `k` nearest neighbours that are in its own set. It is
    averaged over the two sets, so that a small set counts as much. `expected` is its mean over
    regroupings, and `p` is two-sided, (b + 1) / (m + 1).
    """

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
    """Run the nearest-neighbour test of Schilling (1986) and Henze (1988), which permutes labels.

    `rows` (n, k) come from `nearest(..., skip_self=True)`; `labels` (n,) are 0 or 1. With `paired`,
    the second half of the rows was written from the first, row by row, and labels swap within
    pairs. Raises BadInput without entries of both labels, or for paired halves of mixed labels.
    """
    labels = np.asarray(labels)
    if len(labels) != len(rows) or set(np.unique(labels)) != {0, 1}:
        raise BadInput("Mixing needs one label per entry, 0 or 1, and entries of both.")
    half = len(labels) // 2
    # A swap within pairs needs one row of each set per pair.
    if paired and (len(labels) % 2 or not (labels[half:] == 1 - labels[:half]).all()):
        raise BadInput("Paired sets must be equally long, one half of the rows for each.")
    observed = _own_shares(rows, labels)
    rng = generator(seed, "mixing")
    draws = np.empty(m)
    for i in range(m):
        if paired:
            is_swapped = np.tile(rng.integers(0, 2, size=half) == 1, 2)
            null_labels = np.where(is_swapped, 1 - labels, labels)
        else:
            null_labels = rng.permutation(labels)
        draws[i] = np.mean([shares.mean() for shares in _own_shares(rows, null_labels)])
    value = float(np.mean([shares.mean() for shares in observed]))
    # The mean over all permutations of unpaired labels is known exactly.
    expected = float(draws.mean()) if paired else (len(labels) - 2) / (2 * (len(labels) - 1))
    b = int(np.sum(np.abs(draws - expected) >= abs(value - expected) - SLACK))
    return Mixing(_unweighted_mean(observed), expected, (b + 1) / (m + 1), rows.shape[1], m)


def _own_shares(rows: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of each entry's neighbours that are in its own set: label 0, then 1."""
    is_same = (labels[rows] == labels[:, None]).mean(axis=1)
    return is_same[labels == 0], is_same[labels == 1]


def _unweighted_mean(samples: tuple[np.ndarray, np.ndarray], level: float = 0.95) -> Estimate:
    """Return the unweighted mean of two means with t limits; the smaller sample gives the degrees
    of freedom."""
    value, n = float(np.mean([sample.mean() for sample in samples])), sum(map(len, samples))
    fewest = min(map(len, samples))
    if fewest < MIN_N:
        return without_interval(value, n, level, f"No interval: {fewest} entries in one set.")
    # The value is half of a sum, so its error is half of the sum's.
    se = math.sqrt(sum(sample.var(ddof=1) / len(sample) for sample in samples)) / 2
    half = t_quantile(0.5 + level / 2, fewest - 1) * se
    low, high, note = value - half, value + half, "Entries count as independent."
    return Estimate(value, low, high, level=level, method="clt_cluster", n=n, seed=None, note=note)
