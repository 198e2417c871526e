"""Intervals of the drop gap.

With one 0/1 rewrite per item they are Bonett and Price's, joined by MOVER. With several rewrites
they are Welch's t, or padded limits where a set hardly changes.
"""

import math
from dataclasses import replace

import numpy as np

from flipcore.stats.base.estimate import MIN_N, Estimate, without_interval
from flipcore.stats.base.families import by_family, clustered_difference, family_numbers
from flipcore.stats.base.paired import gap_welch
from flipcore.stats.base.proportions import mover, t_quantile
from flipcore.stats.memory.drop_gap import gap_score
from flipcore.stats.memory.rewritten import Rewritten

# With fewer changed items the variance of a set depends on chance too much to be used.
FEW_CHANGES = 10


def gap_estimate(
    benchmark: Rewritten,
    control: Rewritten,
    level: float,
    families: tuple[np.ndarray | None, np.ndarray | None] = (None, None),
) -> Estimate:
    """Return the difference of the mean drops, benchmark - control, as a share.

    `families` are the (covered items,) labels of each set where families are the unit. There is no
    interval if a set has fewer than ten items, or fewer than three effective families.
    """
    if families[0] is not None and families[1] is not None:
        return _over_families(benchmark.drops, families[0], control.drops, families[1], level)
    if benchmark.is_binary and control.is_binary:
        before = benchmark.before[benchmark.covered]
        after = benchmark.after_mean[benchmark.covered]
        control_before = control.before[control.covered]
        control_after = control.after_mean[control.covered]
        interval = gap_score(before, after, control_before, control_after, level)
        return _interval(
            interval["gap"],
            interval["lo"],
            interval["hi"],
            level,
            "mover",
            len(before),
            len(control_before),
        )
    return drops_estimate(benchmark.drops, control.drops, level)


def _over_families(
    first: np.ndarray,
    first_labels: np.ndarray,
    second: np.ndarray,
    second_labels: np.ndarray,
    level: float,
) -> Estimate:
    """Return the clustered difference. If few families of a set change, its interval is at least as
    wide as that from `padded_limits` of the families' means."""
    gap = clustered_difference(
        first, first_labels, second, second_labels, level=level, bounds=(-1.0, 1.0)
    ).estimate()
    first_means = by_family(first[:, None], family_numbers(first_labels))[:, 0]
    second_means = by_family(second[:, None], family_numbers(second_labels))[:, 0]
    if not gap.has_interval or min(n_changed(first_means), n_changed(second_means)) >= FEW_CHANGES:
        return gap
    # `by_family` weighs families by size, so a large one may lie outside [-1, 1], where
    # `padded_limits` does not apply.
    first_limits, second_limits = (
        padded_limits(np.clip(means, -1.0, 1.0), level) for means in (first_means, second_means)
    )
    low, high = mover(float(first.mean()), first_limits, float(second.mean()), second_limits)
    return replace(gap, low=min(gap.low, low), high=max(gap.high, high), method="padded_mover")


def drops_estimate(
    first: np.ndarray, second: np.ndarray, level: float, low_end: float = -1.0
) -> Estimate:
    """Return the difference of the means of two sets of drops.

    The interval is Welch's t, or `padded_limits` joined by MOVER if few items of a set change.
    Drops lie in [`low_end`, 1].
    """
    n1, n2 = len(first), len(second)
    if min(n_changed(first), n_changed(second)) < FEW_CHANGES and min(n1, n2) > 1:
        first_mean, second_mean = float(np.mean(first)), float(np.mean(second))
        low, high = mover(
            first_mean,
            padded_limits(first, level, low_end),
            second_mean,
            padded_limits(second, level, low_end),
        )
        return _interval(first_mean - second_mean, low, high, level, "padded_mover", n1, n2)
    interval = gap_welch(first, second, level)
    return _interval(interval["gap"], interval["lo"], interval["hi"], level, "welch", n1, n2)


def padded_limits(drops: np.ndarray, level: float, low_end: float = -1.0) -> tuple[float, float]:
    """Return Student's t limits of the mean drop, after a drop of 1 and one of `low_end` are added.

    Bonett and Price add two discordant pairs in the same way. `low_end` is the smallest possible
    drop: -1, or 0 for lost shares. Without drops the limits are the ends.
    """
    if not len(drops):
        return low_end, 1.0
    padded = np.append(drops, (1.0, low_end))
    padded_mean, n = float(padded.mean()), len(padded)
    # The two added items are no evidence: n - 3 degrees of freedom, not n - 1.
    half = t_quantile(0.5 + level / 2, max(n - 3, 1)) * float(padded.std(ddof=1)) / math.sqrt(n)
    # Padding moves the mean, but the interval must still contain the mean without padding.
    mean = float(np.mean(drops))
    return max(min(padded_mean - half, mean), low_end), min(max(padded_mean + half, mean), 1.0)


def n_changed(drops: np.ndarray) -> int:
    """Count the drops that are not 0."""
    # 1e-12, because means over several rewrites differ from 0 by rounding errors.
    return int((np.abs(drops) > 1e-12).sum())


def _interval(
    value: float, low: float, high: float, level: float, method: str, n1: int, n2: int
) -> Estimate:
    """Return the estimate of sets of `n1` and `n2` items; no interval if either is below ten."""
    n_min = min(n1, n2)
    if n_min < MIN_N:
        note = f"No interval: a set has {n_min} items; at least {MIN_N} are needed."
        return without_interval(value, n1 + n2, level, note)
    return Estimate(value, low, high, level=level, method=method, n=n1 + n2, seed=None)
