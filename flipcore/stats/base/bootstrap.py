"""Bootstrap intervals: percentile, BCa and studentised. Where all replicates are equal, an interval
is [x, x], which says nothing; the caller must then choose another kind."""

import math

import numpy as np

from flipcore.stats.base.resample import SLACK

NAN = math.nan


def percentile_limits(reps: np.ndarray, level: float) -> list[float]:
    """Return the percentiles of (B,) replicates with (1 - level)/2 outside on either side; a NaN
    replicate makes both NaN, and so does none."""
    if not reps.size:
        return [NAN, NAN]
    return [float(q) for q in np.percentile(reps, [50 * (1 - level), 50 * (1 + level)])]


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
    """Return the percentiles, as shares, that are the lower and the upper BCa limits.

    Both are (levels,), and NaN where the correction is undefined. `accel` is the acceleration.
    """
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
    """Return BCa's acceleration from (n,) leave-one-item-out values; 0 where all are equal."""
    if not jackknife.size:
        return 0.0
    d = jackknife.mean() - jackknife
    spread = float((d**2).sum())
    return float((d**3).sum() / (6 * spread**1.5)) if spread > SLACK**2 else 0.0


def studentized_limits(t_values: np.ndarray, mean: float, se: float, level: float) -> list[float]:
    """Return mean - t* se at the two percentiles of the (B,) studentised replicates `t_values`;
    [mean, mean] if there are none."""
    if t_values.size == 0:
        return [mean, mean]
    low, high = np.percentile(t_values, [50 * (1 - level), 50 * (1 + level)])
    # t* is subtracted, so its upper percentile gives the lower limit.
    return [float(mean - high * se), float(mean - low * se)]
