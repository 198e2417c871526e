"""Intervals of the drop gap: Bonett and Price with MOVER for one 0/1 rewrite per item, Welch's t
for several, and padded limits where a set hardly changes."""

import math
from dataclasses import replace

import numpy as np

from flipcore.stats.base.estimate import MIN_N, Estimate, without_interval
from flipcore.stats.base.families import by_family, clustered_difference, family_numbers
from flipcore.stats.base.paired import gap_welch
from flipcore.stats.base.proportions import mover, t_quantile
from flipcore.stats.memory.drop_gap import gap_score
from flipcore.stats.memory.rewritten import Rewritten

# below so many changed items a set's own variance says too little about what did not happen
FEW_CHANGES = 10


def gap_estimate(
    benchmark: Rewritten,
    control: Rewritten,
    level: float,
    families: tuple[np.ndarray | None, np.ndarray | None] = (None, None),
) -> Estimate:
    """Return benchmark - control in shares. `families` name the family of each covered item, where
    families are the unit. Below ten items or three effective families in a set there is no
    interval."""
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
    """Return the clustered difference; where few families of a set change, no narrower than
    `padded_limits` of families' means."""
    gap = clustered_difference(
        first, first_labels, second, second_labels, level=level, bounds=(-1.0, 1.0)
    ).estimate()
    first_means = by_family(first[:, None], family_numbers(first_labels))[:, 0]
    second_means = by_family(second[:, None], family_numbers(second_labels))[:, 0]
    if (
        not gap.has_interval
        or min(_n_changed(first_means), _n_changed(second_means)) >= FEW_CHANGES
    ):
        return gap
    # A large family's share of the mean may lie outside [-1, 1], which `padded_limits` is not for.
    first_limits, second_limits = (
        padded_limits(np.clip(means, -1.0, 1.0), level) for means in (first_means, second_means)
    )
    low, high = mover(float(first.mean()), first_limits, float(second.mean()), second_limits)
    return replace(gap, low=min(gap.low, low), high=max(gap.high, high), method="padded_mover")


def drops_estimate(
    first: np.ndarray, second: np.ndarray, level: float, low_end: float = -1.0
) -> Estimate:
    """Return the difference of two means of drops in [-1, 1]: Welch's t, or `padded_limits` joined
    by MOVER where a set hardly changes."""
    if (
        # Few changes leave Welch's variance to chance; one item has none at all.
        min(_n_changed(first), _n_changed(second)) < FEW_CHANGES
        and min(len(first), len(second)) > 1
    ):
        limits = [padded_limits(drops, level, low_end) for drops in (first, second)]
        means = [float(np.mean(drops)) for drops in (first, second)]
        low, high = mover(means[0], limits[0], means[1], limits[1])
        return _interval(
            means[0] - means[1], low, high, level, "padded_mover", len(first), len(second)
        )
    interval = gap_welch(first, second, level)
    return _interval(
        interval["gap"], interval["lo"], interval["hi"], level, "welch", len(first), len(second)
    )


def padded_limits(drops: np.ndarray, level: float, low_end: float = -1.0) -> tuple[float, float]:
    """Return the limits of the mean drop with one full loss and one opposite added, as Bonett and
    Price add two discordant pairs; Student's t. `low_end` is the smallest drop there can be: -1, or
    0 for shares that are lost."""
    padded = np.append(drops, (1.0, low_end))
    mean, n = float(padded.mean()), len(padded)
    # The two added items are no evidence: n - 3 degrees of freedom, not n - 1.
    half = t_quantile(0.5 + level / 2, max(n - 3, 1)) * float(padded.std(ddof=1)) / math.sqrt(n)
    value = float(np.mean(drops))
    # The padding moves the mean, and the limits must still hold the plain one.
    return max(min(mean - half, value), low_end), min(max(mean + half, value), 1.0)


def _n_changed(drops: np.ndarray) -> int:
    return int((np.abs(drops) > 1e-12).sum())


def _interval(
    value: float, low: float, high: float, level: float, method: str, n1: int, n2: int
) -> Estimate:
    """Return the estimate, without an interval below ten units per set."""
    if min(n1, n2) < MIN_N:
        few = min(n1, n2)
        return without_interval(
            value,
            n1 + n2,
            level,
            f"No interval: a set has {few} items; at least {MIN_N} are needed.",
        )
    return Estimate(value, low, high, level, method, n1 + n2, None)
