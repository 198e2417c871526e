"""The published score: is the benchmark, asked as it was published, answered right more often than its controls?

Memory that survives rewriting moves no drop gap and shows here. Interval, p and upper limit are one statistic: MOVER of exact
(Clopper and Pearson) limits. By enumeration over sizes from 10 v 10 to 500 v 500 its lower limit exceeds 0 in at most .0231 of
equal sets (nominal .025) and its upper limit lies below a true difference of 5 pp in at most .047 (nominal .05).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.stats.base.estimate import MIN_N, Estimate, missing
from flipcore.stats.base.proportions import clopper_pearson, mover

RANDOM, FRESH = "random", "fresh"  # a random split of one source; written after the model's training cut-off
LEVEL = 0.025
LEAST_P = 1e-12  # below it the limits are rounding


@dataclass(frozen=True, eq=False)
class ScoreGap:
    """`gap` is the accuracy of `n` benchmark items less that of `n_control` controls, at 95 %; `p` its one-sided p, `high` the
    one-sided 95 % upper limit. Answers that could not be read are right or wrong, whichever is worse for what is said. `withheld`
    says why nothing may be claimed."""

    control: str
    benchmark: Estimate
    of_control: Estimate
    gap: Estimate
    p: float
    high: float
    n_unread: int = 0
    withheld: str = ""

    @property
    def is_higher(self) -> bool:
        """Before any correction for several detectors."""
        return not self.withheld and self.p <= LEVEL


def score_gap(benchmark: Sequence[float] | np.ndarray, controls: Sequence[float] | np.ndarray, control: str) -> ScoreGap:
    """From one 0/1 an item of each set, NaN where an answer could not be read. Below ten items a set: no interval, no claim."""
    sets = [np.asarray(one, dtype=float) for one in (benchmark, controls)]
    unread = [int(np.isnan(one).sum()) for one in sets]
    right = [int(np.nansum(one)) for one in sets]
    first, second = ((k, len(one)) for k, one in zip(right, sets, strict=True))
    return score_gap_of(first, second, control, (unread[0], unread[1]))


def score_gap_of(
    benchmark: tuple[int, int], controls: tuple[int, int], control: str, unread: tuple[int, int] = (0, 0)
) -> ScoreGap:
    """The same from (right, items) of each set, of which `unread` are not read and counted as wrong."""
    (k1, n1), (k2, n2) = benchmark, controls
    first, second = (_share(k, n) for k, n in (benchmark, controls))
    n_unread = sum(unread)
    if min(n1, n2) < MIN_N:
        few = "benchmark item" if n1 < MIN_N else "control item"
        n = n1 if n1 < MIN_N else n2
        why = (
            f"{n} {few}{'' if n == 1 else 's'} answered as published; at least {MIN_N} are needed for an interval and a claim."
        )
        return ScoreGap(control, first, second, missing(n1 + n2, note=why), math.nan, math.nan, n_unread, why)
    gap = Estimate(k1 / n1 - k2 / n2, *_limits(benchmark, controls, 0.95), 0.95, "mover_exact", n1 + n2, None)
    p = _p((k1, n1), (k2 + unread[1], n2))
    high = _limits((k1 + unread[0], n1), controls, 0.90)[1]
    return ScoreGap(control, first, second, gap, p, high, n_unread)


def _limits(first: tuple[int, int], second: tuple[int, int], level: float) -> tuple[float, float]:
    (k1, n1), (k2, n2) = first, second
    low, high = mover(k1 / n1, clopper_pearson(k1, n1, level), k2 / n2, clopper_pearson(k2, n2, level))
    return low, high


def _p(first: tuple[int, int], second: tuple[int, int]) -> float:
    """The smallest one-sided level at which the lower limit exceeds 0, at most .5; 1 where the first share is not the larger."""
    from scipy.optimize import brentq

    def low(log_p: float) -> float:
        return _limits(first, second, 1 - 2 * math.exp(log_p))[0]

    if first[0] * second[1] <= second[0] * first[1]:
        return 1.0
    least, most = math.log(LEAST_P), math.log(0.5)
    if low(least) > 0:
        return LEAST_P
    return float(math.exp(brentq(low, least, most, xtol=1e-6))) if low(most) > 0 else 0.5


def _share(k: int, n: int) -> Estimate:
    if not n:
        return missing(0)
    low, high = clopper_pearson(k, n) if n >= MIN_N else (math.nan, math.nan)
    return Estimate(k / n, low, high, 0.95, "clopper_pearson", n, None)
