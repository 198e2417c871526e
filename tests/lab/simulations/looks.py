"""What the limits of `stats.base.simultaneous` are compared with: a band over the settings of a slider, and the asymptotic sequence.

Neither is in the product: its band over settings is `browser_data.levels`', of studentized replicates, and watched rates lie in [0, 1].
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.stats.base.joint_means import JointMeans
from flipcore.stats.base.resample import N_BOOT
from flipcore.stats.base.simultaneous import SequencePath
from tests.source_statistics import MIN_LOOK, conf_seq_half


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


def conf_seq_path(values: Sequence[float] | np.ndarray, alpha: float = 0.05, n_opt: int = 100) -> SequencePath:
    """`values` in the order in which items came in, NaN left out. The page may be watched at every step: the limits hold at
    all of them together, asymptotically (arXiv:2103.06476). Items must arrive in random order, as the runner asks them.

    For rare 0/1 outcomes the asymptotics come late: watched from 20 to 500 items the 95% sequence is somewhere wrong in .03
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
