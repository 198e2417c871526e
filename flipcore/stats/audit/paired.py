"""Two columns of right and wrong on the same items: the paired difference, and the interval that a
harness prints in its place."""

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

_POWER, _MOST_ITEMS = 0.8, 1_000_000


@dataclass(frozen=True)
class PairedScores:
    """`difference` is second - first over items (clusters), `unpaired` the same from the two
    standard errors alone. `first_only` and `second_only` items were right in that one alone,
    `n_partly` differ otherwise, as where one of two samples was right. `p` is two-sided and of the
    interval's own statistic, so that p <= 1 - level where the interval excludes 0: Tango's, exact,
    for single items that are right or wrong; the guarded t for shares and where items share
    clusters."""

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
    """Compare item scores from 0 to 1 in the same order; NaN pairs are left out. Miller
    (arXiv:2411.00640), section 4.2."""
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    is_scored = ~(np.isnan(a) | np.isnan(b))
    names = np.arange(a.size) if clusters is None else np.asarray(clusters)
    a, b, names = a[is_scored], b[is_scored], names[is_scored]
    first_only, second_only = int(((a == 1) & (b == 0)).sum()), int(((a == 0) & (b == 1)).sum())
    difference, p = _difference(a, b, names, second_only, first_only, level=level)
    means = (float(a.mean()), float(b.mean())) if a.size else (math.nan, math.nan)
    n_partly = int((a != b).sum()) - first_only - second_only
    return PairedScores(
        *means,
        difference,
        unpaired_difference(a, b, level),
        first_only,
        second_only,
        int(a.size),
        p,
        n_partly,
    )


def _difference(
    first: np.ndarray, second: np.ndarray, names: np.ndarray, b: int, c: int, *, level: float
) -> tuple[Estimate, float]:
    """Return second - first and its p; `b` items were right in the second alone, `c` in the first
    alone."""
    n, d = first.size, second - first
    families = family_numbers(names) if n else None
    value = float(d.mean()) if n else math.nan
    is_single = families is None or int(families.max()) + 1 == n
    if n < MIN_N:
        return without_interval(value, n, level), math.nan
    if is_single and np.isin(np.concatenate([first, second]), (0, 1)).all():
        low, high = loss_limits(b, c, n, level)
        return Estimate(value, low, high, level, "tango", n, None), p_two_sided(b, c, n)
    groups = None if is_single else families
    clustered = None if groups is None else clustered_mean(d, groups, level=level, bounds=SIGNED)
    p = float(guarded_t(d, SIGNED, groups).p)
    effective = None if clustered is None else clustered.n_effective
    # No p: too few families for a claim, though perhaps enough for an interval.
    if clustered is not None and math.isnan(p):
        return clustered.estimate(), p
    low, high = guarded_limits(d, d, SIGNED, round((1 - level) / 2, 12), groups)
    n_units = n if groups is None else int(groups.max()) + 1
    return Estimate(value, low, high, level, "guarded t", n_units, None, effective=effective), p


def grade_gap(
    first: np.ndarray,
    second: np.ndarray,
    clusters: np.ndarray | None,
    *,
    alpha: float,
    low: float,
    high: float,
) -> Estimate:
    """Return second less first, grades (items,) on a scale from `low` to `high`, in its own units.

    The limits are those of the guarded t at a one-sided `alpha`: they exclude 0 exactly where it
    does.
    """
    # On shares of the scale the guard's unseen item is one at its end, whatever the unit.
    width = high - low
    shares = (second - first) / width
    value = float(shares.mean()) if shares.size else math.nan
    least, most = guarded_limits(shares, shares, SIGNED, alpha, clusters)
    n = shares.size if clusters is None else int(clusters.max(initial=-1)) + 1
    limits = width * float(least), width * float(most)
    return Estimate(width * value, *limits, 1 - 2 * alpha, "guarded t", n, None)


def n_to_decide(shares: np.ndarray, alpha: float) -> float:
    """Return how many items would show the difference of two grades, four times in five.

    `shares` (items,) are differences as shares of the scale, whose mean and spread are taken to
    stay what they are; `alpha` is one-sided. Infinite where the mean is 0 or nothing varies, and
    beyond a million. The guarded t counts one item more, at the scale's end: of few items it needs
    a difference much larger than a plain t does.
    """
    if shares.size < 2:
        return math.inf
    mean, variance = abs(float(shares.mean())), float(shares.var(ddof=1))
    if not mean > 0 or not variance > 0:
        return math.inf
    needed = z_quantile(1 - alpha) + z_quantile(_POWER)
    n = float(shares.size)
    while n < _MOST_ITEMS:
        if n * mean - 1 >= needed * math.sqrt(n * variance + 1):
            return n
        n = max(n + 1, 1.02 * n)
    return math.inf


def unpaired_difference(first: np.ndarray, second: np.ndarray, level: float = 0.95) -> Estimate:
    """Return the difference with the interval that two printed standard errors give: sqrt(se1² +
    se2²), as if the items were others."""
    a, b = clt(first, level), clt(second, level)
    value = b["mean"] - a["mean"]
    half = z_quantile(0.5 + level / 2) * math.hypot(a["se"], b["se"])
    return Estimate(
        value, value - half, value + half, level, "clt", int(first.size), None, "As if unpaired."
    )


def largest_flip_rate(first: float, second: float) -> float:
    """Return the largest share of items whose answer can differ: one of two different answers is
    wrong, so at most (1 - first) + (1 - second)."""
    return min(1.0, 2.0 - first - second)
