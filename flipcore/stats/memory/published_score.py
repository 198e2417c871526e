"""The published score: the accuracy on the benchmark, asked as it was published, against that on
its controls.

Memory that survives rewriting moves no drop gap and shows here. Interval, p and upper limit are one
statistic: the exact score test of two shares (`stats.base.two_shares`), as for two sets of a
holdout. A set whose items come in families has Wilson's limits over these
(`families.clustered_mean`), joined by squares (MOVER); its items taken one by one said "memory" in
.065-.083.
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

# a random split of one source; written after the model's training cut-off
RANDOM, FRESH = ("random", "fresh")
LEVEL = 0.025
LEAST_P = 1e-12  # below it the limits are rounding


@dataclass(frozen=True, eq=False)
class ScoreGap:
    """`gap` is the accuracy of `n` benchmark items less that of `n_control` controls, at 95%; `p`
    its one-sided p, `high` the one-sided 95% upper limit. Answers that could not be read are right
    or wrong, whichever is worse for what is said. `withheld` says why nothing may be claimed.
    `is_unpublished`: the controls were never published, so that no memory of theirs hides that of
    the benchmark."""

    control: str
    benchmark: Estimate
    of_control: Estimate
    gap: Estimate
    p: float
    high: float
    n_unread: int = 0
    withheld: str = ""
    is_unpublished: bool = False

    @property
    def is_higher(self) -> bool:
        """True where the benchmark is answered right more often, before any correction for several
        detectors."""
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
    families : (items,) names for each set, where families are the unit; None where items are.

    Returns
    -------
    ScoreGap; with fewer than ten items or six effective families in a set nothing is claimed.
    """
    x = _Set(np.asarray(benchmark, dtype=float), families[0])
    y = _Set(np.asarray(controls, dtype=float), families[1])
    first, second = x.share(), y.share()
    n_unread = x.n_unread + y.n_unread
    withheld = x.too_few("benchmark") or y.too_few("control")
    if min(x.n, y.n) < MIN_N:
        return ScoreGap(
            control,
            first,
            second,
            gap=missing(x.n + y.n, note=withheld),
            p=math.nan,
            high=math.nan,
            n_unread=n_unread,
            withheld=withheld,
        )
    method = "two_shares" if x.families is None and y.families is None else "mover_families"
    # The point estimate counts unread answers as wrong, as an accuracy does.
    gap = Estimate(x.mean() - y.mean(), *_limits(x, y, 0.95), 0.95, method, x.n + y.n, None)
    # Unread answers count against each statement: as right on the benchmark for the upper limit,
    # as right on the controls for the p of a larger score.
    high = _limits(replace(x, unread_as=1.0), y, 0.90)[1]
    p = _p(x, replace(y, unread_as=1.0))
    return ScoreGap(control, first, second, gap, p, high, n_unread, withheld)


@dataclass(frozen=True, eq=False)
class _Set:
    """One set of items: 0/1 per item, NaN where it is not read, taken as `unread_as`; `families`
    (n,) where items share some."""

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
        return FamilyMeans.of(
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
            0.95,
            "clopper_pearson" if self._means is None else "families",
            self.n,
            None,
        )

    def too_few(self, name: str) -> str:
        """Say why so few make no claim, else ""."""
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
        # (1 - 0.95) / 2 is 0.025000000000000022, which would be another entry of the cache.
        counts, error = Counts(first.k, first.n, second.k, second.n), round((1 - level) / 2, 12)
        return lower_limit(counts, error), -lower_limit(counts.swapped, error)
    # Families are no single counts, so the exact test of two shares does not apply.
    low, high = mover(first.mean(), first.limits(level), second.mean(), second.limits(level))
    return low, high


def _p(first: _Set, second: _Set) -> float:
    """Return the smallest one-sided level at which the lower limit exceeds 0; of families at most
    .5, and 1 where the first share is not the larger."""
    from scipy.optimize import brentq

    if first.families is None and second.families is None:
        return p_above(Counts(first.k, first.n, second.k, second.n))

    def low(log_p: float) -> float:
        return _limits(first, second, 1 - 2 * math.exp(log_p))[0]

    if first.mean() <= second.mean():
        return 1.0
    # On the log scale the limit is smooth in p, so the root is found in few steps.
    least, most = math.log(LEAST_P), math.log(0.5)
    if not low(least) <= 0:
        return LEAST_P
    return float(math.exp(brentq(low, least, most, xtol=1e-6))) if low(most) > 0 else 0.5
