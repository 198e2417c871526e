"""Intervals that survive looking more than once: over a whole slider grid, and while results arrive."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.stats.base.intervals import MIN_LOOK, conf_seq_half
from flipcore.stats.base.joint_means import JointMeans
from flipcore.stats.base.resample import N_BOOT


@dataclass(frozen=True)
class Band:
    """Simultaneous limits over k settings: with probability `level` all k hold at once. NaN where a setting has no spread
    or fewer than two items. `critical` multiplies the standard errors."""

    values: np.ndarray
    low: np.ndarray
    high: np.ndarray
    critical: float
    level: float
    n: np.ndarray
    seed: int


def max_t_band(columns: np.ndarray, level: float = 0.95, seed: int = 0, n_boot: int = N_BOOT) -> Band:
    """`columns` (items, k): the statistic's item values at every setting of a slider, NaN where an item has none. The
    critical value is the quantile of max |mean* - mean| / SE over one joint item bootstrap, so a setting may be chosen
    after looking."""
    joint = JointMeans(np.asarray(columns, dtype=float), seed, n_boot)
    usable = joint.se > 1e-12
    if not usable.any():
        hole = np.full(joint.n.size, np.nan)
        return Band(joint.values, hole, hole.copy(), float("nan"), level, joint.n, seed)
    deviations = np.abs(joint.replicates[:, usable] - joint.values[usable]) / joint.se[usable]
    critical = float(np.nanquantile(np.nanmax(deviations, axis=1), level))
    half = np.where(usable, critical * joint.se, np.nan)
    return Band(joint.values, joint.values - half, joint.values + half, critical, level, joint.n, seed)


@dataclass(frozen=True)
class SequencePath:
    """A confidence sequence after each of t = 1..n items; the asymptotic one has no limits (NaN) before `MIN_LOOK` items."""

    t: np.ndarray
    means: np.ndarray
    low: np.ndarray
    high: np.ndarray
    level: float


def conf_seq_path(values: Sequence[float] | np.ndarray, alpha: float = 0.05, n_opt: int = 100) -> SequencePath:
    """`values` in the order in which items came in, NaN left out. The page may be watched at every step: the limits hold at
    all of them together, asymptotically (arXiv:2103.06476). Items must arrive in random order, as the runner asks them.

    For rare 0/1 outcomes the asymptotics come late: watched from 20 to 500 items the 95 % sequence is somewhere wrong in .03
    of the cases at a rate of .5, .04 at .3, .08 at .1 and .10 at .05. `bounded_path` has no such limit.
    """
    x = np.asarray(values, dtype=float)
    x = x[~np.isnan(x)]
    t = np.arange(1, x.size + 1)
    centre = x[0] if x.size else 0.0
    first, second = np.cumsum(x - centre) / t, np.cumsum((x - centre) ** 2) / t
    sd = np.sqrt(np.maximum(second - first**2, 0) * t / np.maximum(t - 1, 1))
    half = np.array(
        [
            conf_seq_half(s, int(k), alpha, None, n_opt) if k >= MIN_LOOK and s > 0 else np.nan
            for k, s in zip(t, sd, strict=True)
        ]
    )
    means = centre + first
    return SequencePath(t, means, means - half, means + half, 1 - alpha)


def bounded_path(
    values: Sequence[float] | np.ndarray, alpha: float = 0.05, bounds: tuple[float, float] = (0.0, 1.0)
) -> SequencePath:
    """The same for values within `bounds`, at any number of items and any rate: predictable plug-in empirical Bernstein
    sequence, running intersection (Waudby-Smith & Ramdas, arXiv:2010.09686, theorem 2). About a tenth wider than the
    asymptotic one from 100 items on. Raises BadInput for a value out of bounds.
    """
    low_bound, width = bounds[0], bounds[1] - bounds[0]
    x = (np.asarray(values, dtype=float) - low_bound) / width
    x = x[~np.isnan(x)]
    if x.size and (x.min() < 0 or x.max() > 1):
        raise BadInput(f"A value lies outside {bounds[0]} to {bounds[1]}; give wider bounds.")
    t = np.arange(1, x.size + 1)
    mean = (0.5 + np.cumsum(x)) / (t + 1)
    variance = (0.25 + np.cumsum((x - mean) ** 2)) / (t + 1)
    mean_before, variance_before = np.r_[0.5, mean[:-1]][: x.size], np.r_[0.25, variance[:-1]][: x.size]
    log_term = math.log(2 / alpha)
    bet = np.minimum(np.sqrt(2 * log_term / (variance_before * t * np.log1p(t))), 0.5)
    total = np.cumsum(bet)
    centre = np.cumsum(bet * x) / total
    half = (log_term + np.cumsum((x - mean_before) ** 2 * (-np.log1p(-bet) - bet))) / total
    low, high = np.maximum.accumulate(np.maximum(centre - half, 0)), np.minimum.accumulate(np.minimum(centre + half, 1))
    means = np.cumsum(x) / t
    means, low, high = (low_bound + width * part for part in (means, low, high))
    return SequencePath(t, means, low, high, 1 - alpha)
