"""Bootstrap intervals: percentile, BCa and studentised. Degenerate ones come back as [x, x]; the
caller falls back to an interval that has a width."""

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
    """Return the interval of the source documents: percentiles (linear) of `stat` (the mean) over
    resamples of xs."""
    x = np.asarray(xs, dtype=float)
    if x.size == 0:
        return [NAN, NAN]
    return percentile_limits(replicates(stat, x, n_boot, generator(seed)), level)


def percentile_limits(reps: np.ndarray, level: float) -> list[float]:
    """Return the two percentiles of (B,) replicates that leave (1 - level)/2 outside; a NaN
    replicate makes both NaN."""
    return [float(q) for q in np.percentile(reps, [50 * (1 - level), 50 * (1 + level)])]


def boot_bca(
    xs: Sequence[float],
    seed: int = 0,
    n_boot: int = 2000,
    level: float = 0.95,
    stat: Callable | None = None,
) -> list[float]:
    """Return Efron's BCa interval (1987). Degenerate (all equal) -> [x, x]; the caller must fall
    back."""
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
    leave-one-item-out values.

    z0 from the mid-rank (#< + #=/2)/B, which lattice data need. Where the correction is undefined,
    NaN.
    """
    low, high = bca_percentiles(reps, observed, acceleration(jackknife), np.array([level]))
    if np.isnan(low).any():
        return [NAN, NAN]
    return [float(q) for q in np.percentile(reps, [100 * low[0], 100 * high[0]])]


def bca_percentiles(
    reps: np.ndarray, observed: float, accel: float, levels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper shares of replicates, per level, at which BCa reads limits."""
    from scipy.special import ndtr, ndtri

    if reps.size == 0:
        return np.full(levels.shape, NAN), np.full(levels.shape, NAN)
    # Ties count half: on lattice data (means of 0/1) many replicates equal the observed value, and
    # counting them all on one side would shift both limits.
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
    """Return the bootstrap-t interval of the mean. Replicates without spread are skipped; all equal
    -> [x, x]; n < 2 -> NaN."""
    x = np.asarray(xs, dtype=float)
    if x.size < 2:
        return [NAN, NAN]
    mean, se = float(x.mean()), float(x.std(ddof=1) / math.sqrt(x.size))
    ts = []
    for draw in index_draws(x.size, n_boot, generator(seed)):
        rows = x[draw]
        # t* is undefined where all drawn values are equal.
        rows = rows[np.ptp(rows, axis=1) > 0]
        ts.append((rows.mean(axis=1) - mean) / (rows.std(axis=1, ddof=1) / math.sqrt(x.size)))
    return studentized_limits(np.concatenate(ts), mean, se, level)


def studentized_limits(ts: np.ndarray, mean: float, se: float, level: float) -> list[float]:
    """Return mean - t* se at the two percentiles of the (B,) studentised replicates; none usable ->
    [mean, mean]."""
    if ts.size == 0:
        return [mean, mean]
    low, high = np.percentile(ts, [50 * (1 - level), 50 * (1 + level)])
    # The upper percentile of t* gives the lower limit: the pivot is subtracted.
    return [float(mean - high * se), float(mean - low * se)]
