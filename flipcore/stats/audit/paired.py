"""Two columns of right and wrong on the same items: the paired difference, and what a harness prints in its place."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from flipcore.stats.base.estimate import Estimate
from flipcore.stats.base.intervals import SIGNED, clt, mean_interval
from flipcore.stats.base.paired import mcnemar
from flipcore.stats.base.proportions import z_quantile

MOST_EXACT = 0.999  # a share of clusters with one item each, above which McNemar's exact test holds


@dataclass(frozen=True)
class PairedScores:
    """`difference` is second - first over items (clusters), `unpaired` the same from the two standard errors alone.
    `first_only` and `second_only` items were right in that one alone, `n_partly` differ otherwise, as where one of two samples
    was right. `p` is two-sided: McNemar's exact test for single
    items, the interval's own t test where items share clusters."""

    first: float
    second: float
    difference: Estimate
    unpaired: Estimate
    first_only: int
    second_only: int
    n_items: int
    p: float
    n_partly: int = 0


def paired_scores(first: ArrayLike, second: ArrayLike, clusters: ArrayLike | None = None) -> PairedScores:
    """Item scores from 0 to 1 in the same order; NaN pairs are left out. Miller (arXiv:2411.00640), section 4.2."""
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    both = ~(np.isnan(a) | np.isnan(b))
    names = np.arange(a.size) if clusters is None else np.asarray(clusters)
    a, b, names = a[both], b[both], names[both]
    difference = mean_interval(b - a, names, bounds=SIGNED)
    first_only, second_only = int(((a == 1) & (b == 0)).sum()), int(((a == 0) & (b == 1)).sum())
    single = len(set(names.tolist())) >= MOST_EXACT * max(1, a.size)
    binary = bool(np.isin(a, (0, 1)).all() and np.isin(b, (0, 1)).all())
    p = mcnemar(first_only, second_only)["exact"] if single and binary else _p_of(difference)
    means = (float(a.mean()), float(b.mean())) if a.size else (math.nan, math.nan)
    n_partly = int((a != b).sum()) - first_only - second_only
    return PairedScores(*means, difference, unpaired_difference(a, b), first_only, second_only, int(a.size), p, n_partly)


def _p_of(estimate: Estimate) -> float:
    """The two-sided p of an interval read as t: the difference over its half-width. NaN without an interval."""
    if not estimate.has_interval:
        return math.nan
    from scipy.stats import t

    df = max(1, estimate.n - 1)
    half = max(estimate.high - estimate.value, estimate.value - estimate.low)
    if half <= 0:
        return 1.0 if estimate.value == 0 else 0.0
    return float(2 * t.sf(abs(estimate.value) / (half / t.ppf(0.5 + estimate.level / 2, df)), df))


def unpaired_difference(first: np.ndarray, second: np.ndarray, level: float = 0.95) -> Estimate:
    """The difference with the interval that two printed standard errors give: sqrt(se1² + se2²), as if the items were others."""
    one, two = clt(first, level), clt(second, level)
    value, half = two["mean"] - one["mean"], z_quantile(0.5 + level / 2) * math.hypot(one["se"], two["se"])
    return Estimate(value, value - half, value + half, level, "clt", int(first.size), None, "As if unpaired.")


def largest_flip_rate(first: float, second: float) -> float:
    """The largest share of items whose answer can differ: one of two different answers is wrong, so at most
    (1 - first) + (1 - second)."""
    return min(1.0, 2.0 - first - second)
