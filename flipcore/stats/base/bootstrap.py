"""Bootstrap intervals: percentile, BCa and studentised. Degenerate ones are [x, x]; the caller must
then choose another kind."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from flipcore.core.randomness import generator
from flipcore.stats.base.resample import SLACK, index_draws, replicates

NAN = math.nan


def boot_percentile(
    xs: Sequence[float],
    seed: int = 0,
    n_boot: int = 2000,
    level: float = 0.95,
    stat: Callable | None = None,
) -> list[float]:
    """Return the interval of the source documents: linear percentiles of `stat` over resamples of
    xs. `stat` None is the mean; NaN without data."""
    x = np.asarray(xs, dtype=float)
    if x.size == 0:
        return [NAN, NAN]
    return percentile_limits(replicates(stat, x, n_boot, generator(seed)), level)


def percentile_limits(reps: np.ndarray, level: float) -> list[float]:
    """Return the percentiles of (B,) replicates with (1 - level)/2 outside on either side; a NaN
    replicate makes both NaN."""
    return [float(q) for q in np.percentile(reps, [50 * (1 - level), 50 * (1 + level)])]


def boot_bca(
    xs: Sequence[float],
    seed: int = 0,
    n_boot: int = 2000,
    level: float = 0.95,
    stat: Callable | None = None,
) -> list[float]:
    """Return Efron's BCa interval (1987); [x, x] for equal replicates, NaN without data."""
    x = np.asarray(xs, dtype=float)
    if x.size == 0:
        return [NAN, NAN]
    observed = float(x.mean() if stat is None else stat(x))
    reps = replicates(stat, x, n_boot, generator(seed))
    if np.ptp(reps) <= SLACK:
        return [observed, observed]
    if stat is None:
        # The mean without item i has a closed form, so the common case needs no loop.
        jackknife = (x.sum() - x) / (x.size - 1)
    else:
        jackknife = np.array([float(stat(np.delete(x, i))) for i in range(x.size)])
    return bca_limits(reps, observed, jackknife, level)


def bca_limits(
    reps: np.ndarray, observed: float, jackknife: np.ndarray, level: float
) -> list[float]:
    """Return the BCa limits from (B,) replicates, the observed value and its (n,)
    leave-one-item-out values; NaN where the correction is undefined."""
    low, high = bca_percentiles(reps, observed, acceleration(jackknife), np.array([level]))
    if np.isnan(low).any():
        return [NAN, NAN]
    return [float(q) for q in np.percentile(reps, [100 * low[0], 100 * high[0]])]


def bca_percentiles(
    reps: np.ndarray, observed: float, accel: float, levels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (levels,) shares below and above which lie the replicates outside the BCa limits."""
    from scipy.special import ndtr, ndtri

    if reps.size == 0:
        return np.full(levels.shape, NAN), np.full(levels.shape, NAN)
    # Ties count half. Many replicates of lattice data (means of 0/1) equal the observed value;
    # counting all of them on one side would shift both limits.
    below = np.count_nonzero(reps < observed - SLACK) + 0.5 * np.count_nonzero(
        np.abs(reps - observed) <= SLACK
    )
    z0 = float(ndtri(below / reps.size))
    # All replicates on one side of the observed value: the correction is infinite.
    if not math.isfinite(z0):
        return np.full(levels.shape, NAN), np.full(levels.shape, NAN)
    shifted = [z0 + ndtri(0.5 + side * levels / 2) for side in (-1, 1)]
    low, high = (ndtr(z0 + z / (1 - accel * z)) for z in shifted)
    return low, high


def acceleration(jackknife: np.ndarray) -> float:
    """Return the skewness of (n,) jackknife values / 6; 0 where they are all equal."""
    d = jackknife.mean() - jackknife
    spread = float((d**2).sum())
    return float((d**3).sum() / (6 * spread**1.5)) if spread > SLACK**2 else 0.0


def boot_studentized(
    xs: Sequence[float], seed: int = 0, n_boot: int = 2000, level: float = 0.95
) -> list[float]:
    """Return the bootstrap-t interval of the mean, without the replicates that have no spread.

    [x, x] where all values are equal, NaN below 2 values."""
    x = np.asarray(xs, dtype=float)
    if x.size < 2:
        return [NAN, NAN]
    mean, se = float(x.mean()), float(x.std(ddof=1) / math.sqrt(x.size))
    t_values = []
    for draw in index_draws(x.size, n_boot, generator(seed)):
        rows = x[draw]
        # t* is undefined where all drawn values are equal.
        rows = rows[np.ptp(rows, axis=1) > 0]
        errors = rows.std(axis=1, ddof=1) / math.sqrt(x.size)
        t_values.append((rows.mean(axis=1) - mean) / errors)
    return studentized_limits(np.concatenate(t_values), mean, se, level)


def studentized_limits(t_values: np.ndarray, mean: float, se: float, level: float) -> list[float]:
    """Return mean - t* se at the two percentiles of the (B,) studentised replicates `t_values`;
    [mean, mean] without any."""
    if t_values.size == 0:
        return [mean, mean]
    low, high = np.percentile(t_values, [50 * (1 - level), 50 * (1 + level)])
    # t* is subtracted, so its upper percentile gives the lower limit.
    return [float(mean - high * se), float(mean - low * se)]
