"""The menu of intervals, and `mean_interval`, which chooses from it as a page does.

Menu functions return [low, high], which are NaN without data or without a defined variance.
`mean_interval` returns an Estimate. Where an interval has no width, it falls back to another kind
and says so in the note.
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base.bootstrap import bca_limits, percentile_limits, studentized_limits
from flipcore.stats.base.estimate import MIN_N, Estimate, missing, without_interval
from flipcore.stats.base.families import UNIT, clustered_mean, is_signed
from flipcore.stats.base.joint_means import CLT_MIN_N, joint_means
from flipcore.stats.base.proportions import (
    bonett_price,
    clopper_pearson,
    hoeffding,
    mover,
    newcombe_diff,
    stand_in,
    t_quantile,
    wilson,
    z_quantile,
)
from flipcore.stats.base.resample import N_BOOT, SLACK, replicate_sums

__all__ = [
    "KINDS",
    "SIGNED",
    "UNIT",
    "bonett_price",
    "clopper_pearson",
    "clt",
    "cluster_se",
    "cluster_sums",
    "fallback",
    "hoeffding",
    "mean_interval",
    "mover",
    "newcombe_diff",
    "t_quantile",
    "wilson",
    "z_quantile",
]

KINDS = ("default", "percentile", "bca", "studentized", "clt_cluster")
NAN = math.nan
SIGNED = (-1.0, 1.0)


def clt(xs: ArrayLike, level: float = 0.95, *, t: bool = False) -> dict[str, float]:
    """Return {mean, se, lo, hi} with SE = sd / sqrt(n) (Miller, arXiv:2411.00640).

    The limits are normal, or Student's t with n - 1 degrees of freedom if `t`. Below 2 values `se`
    and the limits are NaN.
    """
    x = np.asarray(xs, dtype=float)
    if x.size == 0:
        return dict.fromkeys(("mean", "se", "lo", "hi"), NAN)
    mean = float(x.mean())
    se = float(x.std(ddof=1) / math.sqrt(x.size)) if x.size > 1 else NAN
    half = (t_quantile(0.5 + level / 2, x.size - 1) if t else z_quantile(0.5 + level / 2)) * se
    return {"mean": mean, "se": se, "lo": mean - half, "hi": mean + half}


def cluster_sums(x: np.ndarray, clusters: Sequence | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (clusters,) sums and numbers of rows, in order of first appearance. Raises BadInput
    for unequal lengths."""
    if len(clusters) != len(x):
        raise BadInput(
            f"{len(x)} values came with {len(clusters)} cluster names; give one name per value."
        )
    if isinstance(clusters, np.ndarray) and clusters.ndim == 1 and clusters.dtype.kind in "OUSiu":
        # pandas uses a hash table in C. The loop below accepts other names too, such as tuples.
        code = pd.factorize(clusters, use_na_sentinel=False)[0]
    else:
        codes: dict = {}
        code = np.array([codes.setdefault(c, len(codes)) for c in clusters], dtype=int)
    return np.bincount(code, weights=x), np.bincount(code).astype(float)


def mean_interval(
    values: ArrayLike,
    clusters: ArrayLike | None = None,
    kind: str = "default",
    level: float = 0.95,
    seed: int = 0,
    *,
    bounds: tuple[float, float] | None = UNIT,
    n_boot: int = N_BOOT,
) -> Estimate:
    """Return the mean of `values` with an interval that resamples or sums by cluster.

    The default kind depends on the values. Differences, and clusters of several rows, get the
    interval of `families`. Shares without clusters get that of `joint_means`. All other values get
    Student's t from 30 clusters on, the studentised bootstrap from 10 to 29, and no interval below
    10.

    Parameters
    ----------
    values : (rows,) numbers; NaN rows are left out.
    clusters : (rows,) names or numbers of the units that are drawn or summed. None: each row is a
        unit.
    kind : one of `KINDS`.
    bounds : lowest and highest possible value: `UNIT` for shares, `SIGNED` for paired differences,
        None for no bounds. They cut the interval, and choose the fallback of one without width.

    Returns
    -------
    Estimate, whose `n` counts the clusters with a value.

    Raises
    ------
    BadInput
        For an unknown kind, and for values and clusters of unequal lengths.

    References
    ----------
    E. Miller, *Adding error bars to evals*, arXiv:2411.00640.
    """
    if kind not in KINDS:
        raise BadInput(f"There is no interval kind {kind!r}; choose one of {', '.join(KINDS)}.")
    x = np.asarray(values, dtype=float)
    names = np.arange(x.size) if clusters is None else np.asarray(clusters)
    if names.size != x.size:
        raise BadInput(
            f"{x.size} values came with {names.size} cluster names; give one name per value."
        )
    names, x = names[~np.isnan(x)], x[~np.isnan(x)]
    if x.size == 0:
        return missing(level=level, note="No value is defined.")
    # Differences too, because `families` guards against rare events and a plain t does not.
    if kind == "default" and (np.unique(names).size < x.size or is_signed(bounds)):
        return clustered_mean(x, names, level=level, bounds=bounds).estimate()
    if kind == "default" and bounds == UNIT and is_within(x, UNIT):
        return joint_means(x[:, None], level=level, seed=seed, n_boot=n_boot)[0]
    sums, sizes = cluster_sums(x, names)
    value, n = float(x.mean()), sums.size
    if kind == "default" and n < MIN_N:
        return without_interval(value, n, level)
    # Below 30 items the studentised bootstrap follows skewed values better than Student's t.
    if kind == "default":
        kind = "clt_cluster" if n >= CLT_MIN_N else "studentized"
    low, high, method, note = _limits(kind, sums, sizes, level, seed, n_boot)
    if math.isnan(low) or high - low <= SLACK:
        return fallback(x, sums, sizes, level, bounds, method)
    low, high = cut_at_bounds(low, high, x, bounds)
    draw_seed = seed if method in ("percentile", "bca", "studentized") else None
    return Estimate(
        value, float(low), float(high), level=level, method=method, n=n, seed=draw_seed, note=note
    )


def covering(intervals: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the smallest interval that covers all of them; NaN where one has no limits, and where
    there is none."""
    if not len(intervals):
        return math.nan, math.nan
    # numpy's min and max return NaN if an end is NaN. Python's depend on the order then.
    ends = np.array(intervals)
    return float(ends.min()), float(ends.max())


def is_within(values: np.ndarray, bounds: tuple[float, float]) -> bool:
    """Return True if no value lies outside `bounds`; NaN is left out."""
    return not (np.nanmin(values) < bounds[0] or np.nanmax(values) > bounds[1])


def cut_at_bounds(
    low: float, high: float, values: np.ndarray, bounds: tuple[float, float] | None
) -> tuple[float, float]:
    """Cut the limits at the bounds: Student's t may give a share above 1. Nothing is cut where
    `values` lie outside `bounds`: the bounds are then wrong."""
    if bounds is None or not is_within(values, bounds):
        return low, high
    return max(low, bounds[0]), min(high, bounds[1])


def _limits(
    kind: str, sums: np.ndarray, sizes: np.ndarray, level: float, seed: int, n_boot: int
) -> tuple[float, float, str, str]:
    """Return low, high, their kind, and a note."""
    n, total, rows = sums.size, sums.sum(), sizes.sum()
    mean = total / rows
    if kind == "clt_cluster":
        half = t_quantile(0.5 + level / 2, n - 1) * cluster_se(sums, sizes)
        return mean - half, mean + half, kind, ""
    # One draw of sums, sizes and their products serves all three bootstrap kinds: the means and the
    # squared residuals follow from them.
    reps = replicate_sums(
        np.column_stack([sums, sizes, sums**2, sums * sizes, sizes**2]), n_boot, generator(seed)
    )
    means = reps[:, 0] / reps[:, 1]
    if np.ptp(means) <= SLACK:
        return mean, mean, kind, ""
    if kind == "percentile":
        low, high = percentile_limits(means, level)
        return low, high, kind, ""
    if kind == "bca":
        low, high = bca_limits(means, mean, (total - sums) / (rows - sizes), level)
        return low, high, kind, ""
    squares = reps[:, 2] - 2 * means * reps[:, 3] + means**2 * reps[:, 4]
    has_spread = squares > SLACK * max(1.0, float(np.abs(sums).max()) ** 2)
    n_skipped = int((~has_spread).sum())
    note = ""
    if n_skipped:
        note = f"{n_skipped:,} of {n_boot:,} resamples had no spread and were skipped."
    # n/(n - 1) as in `cluster_se`, or t* would be too large by the root of that factor.
    se = np.sqrt(squares[has_spread] * n / (n - 1)) / reps[has_spread, 1]
    t_values = (means[has_spread] - mean) / se
    low, high = studentized_limits(t_values, mean, cluster_se(sums, sizes), level)
    return low, high, kind, note


def cluster_se(sums: np.ndarray, sizes: np.ndarray) -> float:
    """Return the CR1 standard error of sum(sums)/sum(sizes) over clusters; NaN for one cluster."""
    n = sums.size
    if n < 2:
        return NAN
    mean = sums.sum() / sizes.sum()
    return float(np.linalg.norm(sums - mean * sizes) / sizes.sum() * math.sqrt(n / (n - 1)))


def fallback(
    x: np.ndarray,
    sums: np.ndarray,
    sizes: np.ndarray,
    level: float,
    bounds: tuple[float, float] | None,
    kind: str,
) -> Estimate:
    """Return the Estimate that replaces one whose interval of `kind` has no width."""
    value, n = float(x.mean()), sums.size
    substitute = stand_in(x, sums, sizes, bounds, kind)
    if substitute.limits is None:
        return without_interval(value, n, level, substitute.note)
    low, high = substitute.limits(level)
    method, note = substitute.method, substitute.note
    return Estimate(
        value, float(low), float(high), level=level, method=method, n=n, seed=None, note=note
    )
