"""Closed-form intervals for shares and their differences, and the substitute for an interval
without width. Every interval is [low, high], and NaN without cases."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from flipcore.core.errors import BadInput

NAN = math.nan


def z_quantile(p: float) -> float:
    """Return the quantile of the standard normal distribution."""
    return NormalDist().inv_cdf(p)


def t_quantile(p: float, df: float) -> float:
    """Return the quantile of Student's t; NaN for df < 1."""
    from scipy.special import stdtrit

    return float(stdtrit(df, p)) if df >= 1 else NAN


def wilson(k: float, n: float, level: float = 0.95) -> list[float]:
    """Return the Wilson score interval of k of n cases. Raises BadInput for k outside 0 to n."""
    _check_counts(k, n)
    if n == 0:
        return [NAN, NAN]
    z = z_quantile(0.5 + level / 2)
    p = k / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # At k = 0 and k = n one limit is exactly 0 or 1; rounding errors would miss it.
    return [0.0 if k == 0 else max(0.0, centre - half), 1.0 if k == n else min(1.0, centre + half)]


def clopper_pearson(k: int, n: int, level: float = 0.95) -> list[float]:
    """Return the exact binomial interval of k of n cases. Raises BadInput for k outside 0 to n."""
    from scipy.special import betaincinv

    _check_counts(k, n)
    if n == 0:
        return [NAN, NAN]
    tail = (1 - level) / 2
    return [
        0.0 if k == 0 else float(betaincinv(k, n - k + 1, tail)),
        1.0 if k == n else float(betaincinv(k + 1, n - k, 1 - tail)),
    ]


def newcombe_diff(k1: float, n1: float, k2: float, n2: float, level: float = 0.95) -> list[float]:
    """Return the interval of k1/n1 - k2/n2 of independent samples by Newcombe's (1998) method 10:
    Wilson limits combined by squares."""
    if n1 == 0 or n2 == 0:
        return [NAN, NAN]
    return mover(k1 / n1, wilson(k1, n1, level), k2 / n2, wilson(k2, n2, level))


def mover(d1: float, limits1: Sequence[float], d2: float, limits2: Sequence[float]) -> list[float]:
    """Return the interval of d1 - d2 from the limits of each, for independent estimates (MOVER; Zou
    & Donner 2008)."""
    (low1, high1), (low2, high2) = limits1, limits2
    return [
        d1 - d2 - math.hypot(d1 - low1, high2 - d2),
        d1 - d2 + math.hypot(high1 - d1, d2 - low2),
    ]


def bonett_price(b: float, c: float, n: float, level: float = 0.95) -> list[float]:
    """Return the adjusted Wald interval (Bonett & Price 2012) of the paired difference (b - c)/n,
    where b and c are the discordant counts of n pairs."""
    _check_counts(b + c, n)
    if n == 0:
        return [NAN, NAN]
    # A pair is added to each discordant cell, so the interval has a width even without a change.
    p, q = (b + 1) / (n + 2), (c + 1) / (n + 2)
    half = z_quantile(0.5 + level / 2) * math.sqrt((p + q - (p - q) ** 2) / (n + 2))
    return [max(-1.0, p - q - half), min(1.0, p - q + half)]


def hoeffding(
    mean: float, n: int, level: float = 0.95, bounds: tuple[float, float] = (0.0, 1.0)
) -> list[float]:
    """Return the interval of the mean of n independent values within `bounds`, of any distribution.

    It always has a width."""
    if n == 0:
        return [NAN, NAN]
    half = (bounds[1] - bounds[0]) * math.sqrt(math.log(2 / (1 - level)) / (2 * n))
    return [max(bounds[0], mean - half), min(bounds[1], mean + half)]


def _check_counts(k: float, n: float) -> None:
    if not 0 <= k <= n:
        raise BadInput(
            f"{k} of {n} is not a share; the count must lie between 0 and the number of cases."
        )


@dataclass(frozen=True)
class StandIn:
    """Substitute for an interval without width. `limits` gives [low, high] at a level; None if
    there is no substitute. `note` says why, or names the kind that is used."""

    method: str
    note: str
    limits: Callable[[float], Sequence[float]] | None = None


def stand_in(
    x: np.ndarray,
    sums: np.ndarray,
    sizes: np.ndarray,
    bounds: tuple[float, float] | None,
    kind: str,
) -> StandIn:
    """Return the substitute for an interval of `kind` without width; its kind holds at all levels.

    `x` are the values, `sums` and `sizes` those of the clusters. `bounds` are the lowest and
    highest possible value, None if unknown.
    """
    value, n = float(x.mean()), sums.size
    if n < 2 or bounds is None or x.min() < bounds[0] or x.max() > bounds[1]:
        equal = f"{n} equal value{'' if n == 1 else 's'}"
        return StandIn(
            "none", f"No interval: {equal} without known bounds say nothing about the spread."
        )
    note = f"The {kind} interval has no width, so {{}} stands in."
    if bounds == (0.0, 1.0) and _are_single(sums, sizes, (0, 1)):
        k = sums.sum()
        return StandIn("wilson", note.format("Wilson's"), lambda level: wilson(k, n, level))
    if bounds == (-1.0, 1.0) and _are_single(sums, sizes, (-1, 0, 1)):
        b, c = (sums == 1).sum(), (sums == -1).sum()
        return StandIn(
            "bonett_price",
            note.format("Bonett and Price's"),
            lambda level: bonett_price(b, c, n, level),
        )
    return StandIn(
        "hoeffding", note.format("Hoeffding's"), lambda level: hoeffding(value, n, level, bounds)
    )


def _are_single(sums: np.ndarray, sizes: np.ndarray, allowed: tuple[int, ...]) -> bool:
    """Return True if each cluster holds one row whose value is one of `allowed`."""
    return bool((sizes == 1).all() and np.isin(sums, allowed).all())
