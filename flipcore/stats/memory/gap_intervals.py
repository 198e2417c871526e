"""Intervals of the drop gap: Bonett and Price with MOVER for one 0/1 rewrite an item, Welch's t for several, and what stands in
where a set hardly changes."""

import math
from dataclasses import replace

import numpy as np

from flipcore.stats.base.estimate import MIN_N, Estimate, without_interval
from flipcore.stats.base.families import by_family, clustered_difference, family_numbers
from flipcore.stats.base.paired import gap_welch
from flipcore.stats.base.proportions import mover, t_quantile
from flipcore.stats.memory.drop_gap import gap_score
from flipcore.stats.memory.rewritten import Rewritten

FEW_CHANGES = 10  # below so many changed items a set's own variance says too little about what did not happen


def gap_estimate(
    benchmark: Rewritten, control: Rewritten, level: float, families: tuple[np.ndarray | None, np.ndarray | None] = (None, None)
) -> Estimate:
    """Benchmark - control in shares. `families` name the family of every covered item, where families are the unit. Below ten items
    or three effective families in a set there is no interval."""
    if families[0] is not None and families[1] is not None:
        return _over_families(benchmark.drops, families[0], control.drops, families[1], level)
    if benchmark.is_binary and control.is_binary:
        sets = [values for one in (benchmark, control) for values in (one.before[one.covered], one.after_mean[one.covered])]
        interval = gap_score(sets[0], sets[1], sets[2], sets[3], level)
        return _interval(interval["gap"], interval["lo"], interval["hi"], level, "mover", len(sets[0]), len(sets[2]))
    return drops_estimate(benchmark.drops, control.drops, level)


def _over_families(
    first: np.ndarray, first_of: np.ndarray, second: np.ndarray, second_of: np.ndarray, level: float
) -> Estimate:
    """The clustered difference; where few families of a set change, no narrower than `padded_limits` of families' means."""
    gap = clustered_difference(first, first_of, second, second_of, level=level, bounds=(-1.0, 1.0)).estimate()
    means = [by_family(x[:, None], family_numbers(of))[:, 0] for x, of in ((first, first_of), (second, second_of))]
    if not gap.has_interval or min(map(_n_changed, means)) >= FEW_CHANGES:
        return gap
    sides = [padded_limits(np.clip(one, -1.0, 1.0), level) for one in means]
    low, high = mover(float(first.mean()), sides[0], float(second.mean()), sides[1])
    return replace(gap, low=min(gap.low, low), high=max(gap.high, high), method="padded_mover")


def drops_estimate(first: np.ndarray, second: np.ndarray, level: float, low_end: float = -1.0) -> Estimate:
    """Difference of two means of drops in [-1, 1]: Welch's t, or `padded_limits` joined by MOVER where a set hardly changes."""
    if min(_n_changed(first), _n_changed(second)) < FEW_CHANGES and min(len(first), len(second)) > 1:
        limits = [padded_limits(drops, level, low_end) for drops in (first, second)]
        means = [float(np.mean(drops)) for drops in (first, second)]
        low, high = mover(means[0], limits[0], means[1], limits[1])
        return _interval(means[0] - means[1], low, high, level, "padded_mover", len(first), len(second))
    interval = gap_welch(first, second, level)
    return _interval(interval["gap"], interval["lo"], interval["hi"], level, "welch", len(first), len(second))


def padded_limits(drops: np.ndarray, level: float, low_end: float = -1.0) -> tuple[float, float]:
    """Mean drop with one full loss and one opposite added, as Bonett and Price add two discordant pairs; Student's t. `low_end` is
    the smallest drop there can be: -1, or 0 for shares that are lost."""
    padded = np.append(drops, (1.0, low_end))
    mean, n = float(padded.mean()), len(padded)
    half = t_quantile(0.5 + level / 2, max(n - 3, 1)) * float(padded.std(ddof=1)) / math.sqrt(n)
    value = float(np.mean(drops))
    return max(min(mean - half, value), low_end), min(max(mean + half, value), 1.0)


def _n_changed(drops: np.ndarray) -> int:
    return int((np.abs(drops) > 1e-12).sum())


def _interval(value: float, low: float, high: float, level: float, method: str, n1: int, n2: int) -> Estimate:
    """The estimate, without an interval below ten units a set."""
    if min(n1, n2) < MIN_N:
        few = min(n1, n2)
        return without_interval(value, n1 + n2, level, f"No interval: a set has {few} items; at least {MIN_N} are needed.")
    return Estimate(value, low, high, level, method, n1 + n2, None)
