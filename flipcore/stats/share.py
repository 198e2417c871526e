"""A/T: what share of the flip rate the readout makes. A ratio of means, so its interval is a BCa bootstrap of items."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flipcore.stats.bootstrap import bca_limits
from flipcore.stats.estimate import Estimate, missing
from flipcore.stats.resample import SLACK, generator, replicate_means


def artifact_shares(cells: Sequence[np.ndarray], level: float, seed: int, n_boot: int) -> list[Estimate]:
    """A/T of each cell (items, 2) of A_i and T_i: ratio of sums, BCa over one joint item draw."""
    reps = replicate_means(np.hstack(cells), n_boot, generator(seed)) if len(cells[0]) else np.empty((0, 2 * len(cells)))
    return [_ratio(cell[~np.isnan(cell).any(axis=1)], reps[:, 2 * j], reps[:, 2 * j + 1], level, seed)
            for j, cell in enumerate(cells)]


def _ratio(pairs: np.ndarray, a: np.ndarray, t: np.ndarray, level: float, seed: int) -> Estimate:
    n, (total_a, total_t) = len(pairs), pairs.sum(axis=0)
    if not total_t > 0:
        return missing(n, level, "n/a: nothing flips.")
    usable = t > 0
    reps, value = a[usable] / t[usable], float(total_a / total_t)
    left = total_t - pairs[:, 1] > 0
    jackknife = (total_a - pairs[left, 0]) / (total_t - pairs[left, 1])
    low, high = bca_limits(reps, value, jackknife, level) if jackknife.size and np.ptp(reps) > SLACK else (np.nan, np.nan)
    return Estimate(value, low, high, level, "bca", n, seed)


def shown_share(share: Estimate, t: Estimate, is_reference: bool, level: float) -> Estimate:
    """The share, or why there is none: it is shown only where T itself is clearly above 0."""
    if is_reference:
        return missing(share.n, level, "n/a: the reference readout.")
    if np.isnan(share.value):
        return share
    if not t.has_interval:
        return missing(share.n, level, "n/a: too few items to say that T is above 0.")
    if t.low <= 0:
        return missing(share.n, level, "n/a: the interval of T includes 0.")
    return share
