"""Two columns of scores on the same items: the paired difference, and the unpaired interval that a
harness prints instead."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from flipcore.stats.base.estimate import MIN_N, Estimate, without_interval
from flipcore.stats.base.families import clustered_mean, family_numbers
from flipcore.stats.base.guarded import guarded_limits, guarded_t
from flipcore.stats.base.intervals import SIGNED, clt
from flipcore.stats.base.proportions import z_quantile
from flipcore.stats.base.tango import loss_limits, p_two_sided

POWER, MAX_ITEMS = 0.8, 1_000_000  # of `n_to_decide`


@dataclass(frozen=True)
class PairedScores:
    """Two mean scores and their `difference`, second - first, over items or clusters.

    `unpaired` is the difference with an interval from the two standard errors. `first_only` items
    were right only in the first column, `second_only` only in the second. `n_partly` items differ
    in another way, for example if one of two samples was right. `p` is two-sided. It comes from the
    statistic of the interval, so p <= 1 - level if the interval excludes 0: Tango's exact test
    for single items that are right or wrong, else the guarded t.
    """

    first: float
    second: float
    difference: Estimate
    unpaired: Estimate
    first_only: int
    second_only: int
    n_items: int
    p: float
    n_partly: int = 0


def paired_scores(
    first: ArrayLike, second: ArrayLike, clusters: ArrayLike | None = None, level: float = 0.95
) -> PairedScores:
    """Compare scores (items,) from 0 to 1 of the same items (Miller, arXiv:2411.00640, section
    4.2). Items with NaN in either column are left out."""
    left, right = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    is_scored = ~(np.isnan(left) | np.isnan(right))
    names = np.arange(left.size) if clusters is None else np.asarray(clusters)
    left, right, names = left[is_scored], right[is_scored], names[is_scored]
    first_only = int(((left == 1) & (right == 0)).sum())
    second_only = int(((left == 0) & (right == 1)).sum())
    difference, p = _difference(left, right, names, second_only, first_only, level=level)
    means = (float(left.mean()), float(right.mean())) if left.size else (math.nan, math.nan)
    n_partly = int((left != right).sum()) - first_only - second_only
    unpaired = unpaired_difference(left, right, level)
    n = int(left.size)
    return PairedScores(*means, difference, unpaired, first_only, second_only, n, p, n_partly)


def _difference(
    first: np.ndarray, second: np.ndarray, names: np.ndarray, b: int, c: int, *, level: float
) -> tuple[Estimate, float]:
    """Return second - first and its p; `b` items were right only in the second, `c` only in the
    first."""
    n, d = first.size, second - first
    value = float(d.mean()) if n else math.nan
    if n < MIN_N:
        return without_interval(value, n, level), math.nan
    families = family_numbers(names)
    n_units = int(families.max()) + 1
    if n_units == n:
        if np.isin(np.concatenate([first, second]), (0, 1)).all():
            low, high = loss_limits(b, c, n, level)
            gap = Estimate(value, low, high, level=level, method="tango", n=n, seed=None)
            return gap, p_two_sided(b, c, n)
        groups, effective = None, None
        p = float(guarded_t(d, SIGNED).p)
    else:
        groups = families
        clustered = clustered_mean(d, groups, level=level, bounds=SIGNED)
        effective = clustered.n_effective
        p = float(guarded_t(d, SIGNED, groups).p)
        # Families that are too few for a claim may be enough for an interval.
        if math.isnan(p):
            return clustered.estimate(), p
    low, high = guarded_limits(d, d, SIGNED, round((1 - level) / 2, 12), groups)
    gap = Estimate(
        value, low, high, level=level, method="guarded t", n=n_units, seed=None, effective=effective
    )
    return gap, p


def grade_gap(
    first: np.ndarray,
    second: np.ndarray,
    clusters: np.ndarray | None,
    *,
    alpha: float,
    low: float,
    high: float,
) -> Estimate:
    """Return second minus first of grades (items,) on a scale from `low` to `high`, in its units.

    The limits are those of the guarded t at a one-sided `alpha`, and exclude 0 exactly if it
    rejects 0. `clusters` (items,) are numbers, None if items share none.
    """
    # As shares of the scale, so that the guard's unseen item lies at the scale's end in any unit.
    width = high - low
    shares = (second - first) / width
    value = float(shares.mean()) if shares.size else math.nan
    share_limits = guarded_limits(shares, shares, SIGNED, alpha, clusters)
    n = shares.size if clusters is None else int(clusters.max(initial=-1)) + 1
    gap_low, gap_high = (width * float(limit) for limit in share_limits)
    level = 1 - 2 * alpha
    return Estimate(
        width * value, gap_low, gap_high, level=level, method="guarded t", n=n, seed=None
    )


def n_to_decide(shares: np.ndarray, alpha: float) -> float:
    """Return the number of items that would show the difference of two grades four times in five.

    `shares` (items,) are differences as shares of the scale; their mean and spread are assumed to
    stay. `alpha` is one-sided. Infinite if the mean is 0 or nothing varies, and beyond a
    million.
    """
    if shares.size < 2:
        return math.inf
    mean, variance = abs(float(shares.mean())), float(shares.var(ddof=1))
    if not mean > 0 or not variance > 0:
        return math.inf
    needed = z_quantile(1 - alpha) + z_quantile(POWER)
    n = float(shares.size)
    while n < MAX_ITEMS:
        # The guarded t counts one more item at the scale's end, hence - 1 and + 1. So with few
        # items it needs a much larger difference than a plain t.
        if n * mean - 1 >= needed * math.sqrt(n * variance + 1):
            return n
        n = max(n + 1, 1.02 * n)
    return math.inf


def unpaired_difference(first: np.ndarray, second: np.ndarray, level: float = 0.95) -> Estimate:
    """Return the difference with the interval from two printed standard errors, sqrt(se1² + se2²),
    as if the two columns had different items."""
    mean, other_mean = clt(first, level), clt(second, level)
    value = other_mean["mean"] - mean["mean"]
    half = z_quantile(0.5 + level / 2) * math.hypot(mean["se"], other_mean["se"])
    low, high, n = value - half, value + half, int(first.size)
    return Estimate(
        value, low, high, level=level, method="clt", n=n, seed=None, note="As if unpaired."
    )


def largest_flip_rate(first: float, second: float) -> float:
    """Return the largest possible share of items with different answers at these two accuracies. Of
    two different answers at least one is wrong, so it is (1 - first) + (1 - second), at most 1."""
    return min(1.0, 2.0 - first - second)
