"""The published score: accuracy on the benchmark's published items minus accuracy on the controls.

It shows memory that survives rewriting and so makes no drop gap. The interval, the p and the upper
limit all come from the exact score test of two shares (`stats.base.two_shares`), as for two sets of
a holdout. If items come in families, each set has Wilson's limits over families
(`families.clustered_mean`), and MOVER joins them. In simulations, tests of single items claimed
memory falsely in .065-.083.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from flipcore.stats.base.estimate import MIN_CLAIM_FAMILIES, MIN_N, Estimate, missing
from flipcore.stats.base.families import FamilyMeans, family_numbers
from flipcore.stats.base.proportions import clopper_pearson, mover
from flipcore.stats.base.two_shares import Counts, lower_limit, p_above

# Kinds of control: a random split of one source, or items newer than the model's training cut-off.
RANDOM, FRESH = "random", "fresh"
LEVEL = 0.025
LEAST_P = 1e-12  # below it the limits are rounding errors


@dataclass(frozen=True, eq=False)
class ScoreGap:
    """Gap between the accuracy on the benchmark and on the controls.

    gap : benchmark - control at 95%; unread answers count as wrong.
    p : one-sided; unread answers count as right on the controls.
    high : one-sided 95% upper limit; unread answers count as right on the benchmark.
    n_unread : number of answers that could not be read.
    withheld : why nothing may be claimed; "" if something may.
    is_unpublished : True if the controls were never published. Otherwise the model may remember
        them too, which hides memory of the benchmark.
    """

    control: str
    benchmark: Estimate
    control_accuracy: Estimate
    gap: Estimate
    p: float
    high: float
    n_unread: int = 0
    withheld: str = ""
    is_unpublished: bool = False

    @property
    def is_higher(self) -> bool:
        """True if the benchmark is answered right more often. There is no correction for several
        detectors here."""
        return not self.withheld and self.p <= LEVEL


def score_gap(
    benchmark: Sequence[float] | np.ndarray,
    controls: Sequence[float] | np.ndarray,
    control: str,
    families: tuple[np.ndarray | None, np.ndarray | None] = (None, None),
) -> ScoreGap:
    """Compute the gap between the accuracy on a benchmark and on its controls.

    Parameters
    ----------
    benchmark, controls : (items,) 0/1, NaN where an answer could not be read.
    control : `RANDOM` or `FRESH`.
    families : (items,) family names of each set; None if items are the unit.

    Returns
    -------
    ScoreGap; with fewer than ten items or six effective families in a set nothing is claimed.
    """
    bench = _Set(np.asarray(benchmark, dtype=float), families[0])
    ctrl = _Set(np.asarray(controls, dtype=float), families[1])
    n, n_unread = bench.n + ctrl.n, bench.n_unread + ctrl.n_unread
    withheld = bench.too_few("benchmark") or ctrl.too_few("control")
    if min(bench.n, ctrl.n) < MIN_N:
        return ScoreGap(
            control,
            bench.share(),
            ctrl.share(),
            gap=missing(n, note=withheld),
            p=math.nan,
            high=math.nan,
            n_unread=n_unread,
            withheld=withheld,
        )
    method = "two_shares" if bench.families is None and ctrl.families is None else "mover_families"
    gap = Estimate(
        bench.mean() - ctrl.mean(), *_limits(bench, ctrl, 0.95), 0.95, method, n, seed=None
    )
    # Unread answers count against each statement: as right on the benchmark for the upper limit,
    # as right on the controls for the p of a larger score. A two-sided 90% interval has one-sided
    # 95% limits.
    _, high = _limits(replace(bench, unread_as=1.0), ctrl, 0.90)
    p = _p(bench, replace(ctrl, unread_as=1.0))
    return ScoreGap(
        control,
        bench.share(),
        control_accuracy=ctrl.share(),
        gap=gap,
        p=p,
        high=high,
        n_unread=n_unread,
        withheld=withheld,
    )


@dataclass(frozen=True, eq=False)
class _Set:
    """One set of items: `right` (n,) is 0/1, NaN where the answer could not be read; NaN counts as
    `unread_as`. `families` (n,) are labels, or None if items are the unit."""

    right: np.ndarray
    families: np.ndarray | None
    unread_as: float = 0.0

    @property
    def n(self) -> int:
        return len(self.right)

    @property
    def n_unread(self) -> int:
        return int(np.isnan(self.right).sum())

    @cached_property
    def k(self) -> int:
        return int(np.nan_to_num(self.right, nan=self.unread_as).sum())

    @cached_property
    def _means(self) -> FamilyMeans | None:
        if self.families is None:
            return None
        return FamilyMeans.from_values(
            np.nan_to_num(self.right, nan=self.unread_as)[:, None], family_numbers(self.families)
        )

    def mean(self) -> float:
        return self.k / self.n

    def limits(self, level: float) -> tuple[float, float]:
        if self._means is None:
            low, high = clopper_pearson(self.k, self.n, level)
            return low, high
        low, high = self._means.limits([level])[:, 0, 0].tolist()
        return low, high

    def share(self) -> Estimate:
        if not self.n:
            return missing(0)
        low, high = self.limits(0.95) if self.n >= MIN_N else (math.nan, math.nan)
        return Estimate(
            self.mean(),
            low,
            high,
            level=0.95,
            method="clopper_pearson" if self._means is None else "families",
            n=self.n,
            seed=None,
        )

    def too_few(self, name: str) -> str:
        """Say that the set is too small for a claim; "" if it is large enough."""
        if self.n < MIN_N:
            items = f"{self.n} {name} item{'' if self.n == 1 else 's'}"
            return (
                f"{items} answered as published; at least {MIN_N} are needed for an interval and "
                "a claim."
            )
        if self._means is None or self._means.n_effective[0] >= MIN_CLAIM_FAMILIES:
            return ""
        return (
            f"the families of the {name} items weigh as much as {self._means.n_effective[0]:.1f} "
            f"equal ones; at least {MIN_CLAIM_FAMILIES} are needed."
        )


def _limits(first: _Set, second: _Set, level: float) -> tuple[float, float]:
    if first.families is None and second.families is None:
        counts = Counts(first.k, first.n, second.k, second.n)
        # `lower_limit` is cached: (1 - 0.95) / 2 is 0.025000000000000022, another key than 0.025.
        error = round((1 - level) / 2, 12)
        return lower_limit(counts, error), -lower_limit(counts.swapped, error)
    # The exact test of two shares needs counts of independent items, which families are not.
    low, high = mover(first.mean(), first.limits(level), second.mean(), second.limits(level))
    return low, high


def _p(first: _Set, second: _Set) -> float:
    """Return the one-sided p that `first` has the larger share.

    For families it is the smallest level at which the lower limit exceeds 0, at most .5; 1 if the
    first share is not larger.
    """
    from scipy.optimize import brentq

    if first.families is None and second.families is None:
        return p_above(Counts(first.k, first.n, second.k, second.n))

    def low(log_p: float) -> float:
        return _limits(first, second, 1 - 2 * math.exp(log_p))[0]

    if first.mean() <= second.mean():
        return 1.0
    # On the log scale the limit is smooth in p, so the root is found in few steps.
    log_least, log_most = math.log(LEAST_P), math.log(0.5)
    if not low(log_least) <= 0:
        return LEAST_P
    if not low(log_most) > 0:
        return 0.5
    return float(math.exp(brentq(low, log_least, log_most, xtol=1e-6)))
