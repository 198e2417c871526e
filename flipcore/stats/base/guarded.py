"""A t test of a bounded mean for rare events, guarded against one item that the sample missed.

Where few items differ, the sample may hold none of the items that would lower the mean. The plain t
test then errs too often. Example: 26 items, of which .10 flip under the first extractor alone and
.05 under the second alone, and the true mean is 0 (A = G in `stats.flips`). The plain test finds
"more artifact" in .085 of samples at a nominal .025. So an unseen item is added before each
direction is tested. Its value is the lowest that an item can have, or the highest for the other
direction. Its weight moves the sum by one. Simulated over three-valued populations of 10 to 1,319
items, the one-sided error rate is then .031 at most for a nominal .025.

A cluster is what parameters call a family (`families.py`). Where items share clusters, the unseen
item belongs to a cluster of the typical size m = Σn²/N. The other items of that cluster follow it
with a correlation ρ, so the sum of the cluster is 1 + (m - 1) ρ adverse items. ρ is estimated from
the clusters, so copied items count once. The clustering of few adverse events is badly estimated,
so the mean must also exceed what they allow by chance (`chance_lead`). The test assumes clusters
like those seen. It is too sure where adverse events fill whole clusters and none of these was
drawn.

The regression gate (`stats.score.regression`) tests a mean over tasks (`task_mean`) against its
margin, not against 0, and without the second guard. Its ρ is as large as the data allow
(`ClusterSums.with_largest_correlation`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from flipcore.stats.base.chance_lead import ChanceLead
from flipcore.stats.base.estimate import MIN_CLAIM_FAMILIES, MIN_N
from flipcore.stats.base.families import FamilyMeans

# Sentence for the small line of a claim by this test.
CLUSTERS_LIKE_SEEN = "Assumes clusters like those seen."
POWER_QUANTILE = 0.8416  # standard normal quantile at .8: a power of four in five
_CORRELATION_ERROR = 0.05  # one-sided error of the upper limit of the correlation within clusters
_LOWEST, _HIGHEST = 0, 1  # rows of a `TaskMean`: the end at which the unseen item is added


@dataclass(frozen=True)
class GuardedT:
    """One-sided p of a mean above 0 and of one below 0, and the two-sided `p`. Arrays have the
    shape of the values without their last axis (items). NaN below 10 items or 6 effective
    families."""

    p_above: np.ndarray
    p_below: np.ndarray

    @property
    def p(self) -> np.ndarray:
        return np.minimum(1.0, 2 * np.fmin(self.p_above, self.p_below))


def guarded_t(
    values: np.ndarray, bounds: tuple[float, float], families: np.ndarray | None = None
) -> GuardedT:
    """Test the mean of `values` (..., items) against 0; NaN is left out.

    `bounds` are the lowest possible value, below 0, and the highest, above 0. `families` (items,)
    are numbers from 0; None if items share no families.
    """
    sums, shape = _sums(values, families), np.shape(values)[:-1]
    p_values = []
    for end in bounds:
        side = GuardedSide.from_sums(sums, bounds, end, is_clustered=families is not None)
        p_values.append(side.p().reshape(shape))
    return GuardedT(*p_values)


def guarded_limits(
    lowest: np.ndarray,
    highest: np.ndarray,
    bounds: tuple[float, float],
    alpha: float,
    families: np.ndarray | None = None,
) -> tuple[Any, Any]:
    """Return the lower limit of the mean of `lowest` and the upper limit of the mean of `highest`.

    Both are values (..., items), equal unless unread answers leave them open. The limits lack the
    last axis and are NaN where p is NaN. They agree with the test: the lower limit is above 0
    exactly where `p_above` of `lowest` is below the one-sided `alpha`, and the upper limit is below
    0 exactly where `p_below` of `highest` is.
    """
    limits = []
    for values, end in zip((lowest, highest), bounds, strict=True):
        sums = _sums(values, families)
        side = GuardedSide.from_sums(sums, bounds, end, is_clustered=families is not None)
        limits.append(side.limit(alpha).reshape(np.shape(values)[:-1])[()])
    return limits[0], limits[1]


@dataclass(frozen=True, eq=False)
class GuardedSide:
    """One-sided tests of (k,) means, with an unseen item at `end`, the adverse end of `bounds`.

    `mean` and `se` include the unseen item, whose weight makes it move the sum by one. `df` is NaN
    below 10 items or 6 effective clusters. With `lead`, the mean must also exceed what two equal
    models reach by chance; None if items share no clusters.
    """

    mean: np.ndarray
    se: np.ndarray
    df: np.ndarray
    bounds: tuple[float, float]
    end: float
    lead: ChanceLead | None

    @classmethod
    def from_sums(
        cls,
        sums: "ItemSums | ClusterSums",
        bounds: tuple[float, float],
        end: float,
        *,
        is_clustered: bool = False,
    ) -> "GuardedSide":
        """Make the tests from `sums`; `end` is one of `bounds`."""
        sums_or_means = sums.with_typical_correlation
        # An item of this weight moves the sum by one, whatever the scale.
        mean, se = _with_unseen(sums_or_means, end, 1 / abs(end))
        lead = sums.lead(end) if is_clustered and isinstance(sums, ClusterSums) else None
        return cls(mean, se, _degrees_of_freedom(sums_or_means), bounds, end, lead)

    def p(self, null: float = 0.0) -> np.ndarray:
        """Return (k,) one-sided p of the hypothesis that the true mean is `null`, or lies further
        towards `end`."""
        from scipy.special import stdtr

        # With `end` at the bottom this tests whether the mean is above `null`: a large mean then
        # has a small p. With `end` at the top, a small mean has.
        sign = np.sign(self.end)
        p = np.where(
            np.isnan(self.df),
            np.nan,
            stdtr(np.nan_to_num(self.df, nan=1.0), sign * (self.mean - null) / self.se),
        )
        return p if self.lead is None else np.maximum(p, self.lead.p(margin=-sign * null))

    def limit(self, alpha: float) -> np.ndarray:
        """Return (k,) limits towards `end`. A true mean beyond the limit is rejected: its `p` is
        below `alpha`."""
        from scipy.special import stdtrit

        t, sign = stdtrit(self.df, 1 - alpha), np.sign(self.end)
        limits = self.mean + sign * t * self.se
        if self.lead is not None:
            limits = -sign * np.minimum(-sign * limits, self.lead.limit(alpha))
        return np.clip(limits, *self.bounds)


@dataclass(frozen=True)
class TaskMean:
    """Mean over tasks of equal weight, and its guarded test. A task counts by its mean over items.

    `means`, `variances` and `degrees` (of freedom) are (tasks,) of the items seen.
    `means_with_unseen` and `variances_with_unseen` are (2, tasks): row 0 adds an unseen item, or
    cluster, at the lowest possible value, row 1 at the highest. `is_testable` is False below 10
    items or 6 effective clusters in all, and where a task has one item; p and limits are then NaN.
    """

    means: np.ndarray
    variances: np.ndarray
    degrees: np.ndarray
    means_with_unseen: np.ndarray
    variances_with_unseen: np.ndarray
    is_testable: bool

    @property
    def value(self) -> float:
        return float(self.means.mean()) if self.means.size else np.nan

    def p_above(self, null: float) -> float:
        """One-sided p of a mean of `null` or less."""
        from scipy.special import stdtr

        if not self.is_testable:
            return np.nan
        mean, se, df = self._with_unseen_at(_LOWEST)
        # One value per task that the unseen item may be in; the least favourable counts.
        return float(np.max(stdtr(df, (null - mean) / se)))

    def p_below(self, null: float) -> float:
        """One-sided p of a mean of `null` or more."""
        from scipy.special import stdtr

        if not self.is_testable:
            return np.nan
        mean, se, df = self._with_unseen_at(_HIGHEST)
        return float(np.max(stdtr(df, (mean - null) / se)))

    def limits(self, alpha: float) -> tuple[float, float]:
        """Return both one-sided limits at `alpha`. A null below the lower limit has a `p_above`
        below `alpha`, one above the upper limit such a `p_below`."""
        from scipy.special import stdtrit

        if not self.is_testable:
            return np.nan, np.nan
        mean, se, df = self._with_unseen_at(_LOWEST)
        low = np.min(mean - stdtrit(df, 1 - alpha) * se)
        mean, se, df = self._with_unseen_at(_HIGHEST)
        return float(low), float(np.max(mean + stdtrit(df, 1 - alpha) * se))

    def growth_to_exclude(self, null: float, alpha: float) -> float:
        """Return the factor by which the items must grow to show that the mean is not `null`.

        The power is four in five, for items and clusters like these. Infinite where the mean is
        `null`.
        """
        from scipy.optimize import brentq
        from scipy.special import stdtrit

        gap = abs(null - self.value)
        if not (self.is_testable and gap > 0):
            return np.inf
        mean, se, df = self._with_unseen_at(_HIGHEST if null > self.value else _LOWEST)
        # The shift by one unseen item shrinks with the number of items, the error with its root.
        shift, se, df = np.max(np.abs(mean - self.value)), np.max(se), np.min(df)

        def shortfall(log_growth: float) -> float:
            growth = np.exp(log_growth)
            quantiles = stdtrit(df * growth, 1 - alpha) + POWER_QUANTILE
            return float(shift / growth + quantiles * se / np.sqrt(growth) - gap)

        low, high = -5.0, 15.0  # logarithms of the growth
        return float(np.exp(brentq(shortfall, low, high))) if shortfall(high) < 0 else np.inf

    def _with_unseen_at(self, end: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (tasks,) means, standard errors and degrees of freedom of the mean over all tasks.
        Entry i supposes that the unseen item is in task i. `end` is `_LOWEST` or `_HIGHEST`.
        Callers take the least favourable task, usually the smallest, where one item weighs most."""
        n_tasks = self.means.size
        means = (self.means.sum() - self.means + self.means_with_unseen[end]) / n_tasks
        variances = self.variances.sum() - self.variances + self.variances_with_unseen[end]
        shares = self.variances**2 / self.degrees
        spread = shares.sum() - shares + self.variances_with_unseen[end] ** 2 / self.degrees
        return means, np.sqrt(variances) / n_tasks, variances**2 / spread


def task_mean(
    tasks: Sequence[tuple[np.ndarray, np.ndarray | None]],
    bounds: tuple[float, float],
    unseen: tuple[float, float],
) -> TaskMean:
    """Return the mean over `tasks`, given as (values, cluster numbers or None), (items,) each.

    `bounds` are the lowest and the highest possible value. `unseen` is the number of items, perhaps
    a fraction, that is added at each bound.
    """
    means, variances, degrees, counts, inverse_sizes = [], [], [], [], []
    with_unseen: list[list[tuple[float, float]]] = [[], []]  # per end of the bounds, per task
    for values, clusters in tasks:
        x = np.asarray(values, dtype=float)
        sums_or_means = _sums(x[None, :], clusters).with_largest_correlation
        if isinstance(sums_or_means, _Clustered):
            seen = sums_or_means.means
            mean, variance = float(seen.values[0]), float(seen.se[0]) ** 2
            n_effective, df = float(seen.n_effective[0]), float(seen.df[0])
        else:
            n_effective, df = float(x.size), x.size - 1.0
            mean = float(x.mean()) if x.size else np.nan
            variance = float(x.var(ddof=1)) / x.size if x.size > 1 else np.nan
        means.append(mean)
        variances.append(variance)
        degrees.append(df)
        counts.append(x.size)
        inverse_sizes.append(1 / max(n_effective, 1e-9))
        for row, end in enumerate(bounds):
            n_events = (x < 0).sum() if end < 0 else (x > 0).sum()
            guarded: ItemSums | _Clustered = sums_or_means
            if n_events and isinstance(sums_or_means, _Clustered):
                guarded = sums_or_means.with_few_events(np.array([n_events]), _CORRELATION_ERROR)
            mean_with, se_with = _with_unseen(guarded, end, unseen[row])
            with_unseen[row].append((float(mean_with[0]), float(se_with[0]) ** 2))
    # (ends, tasks, mean and variance)
    mean_and_variance = np.array(with_unseen).reshape(2, len(means), 2)
    # Tasks weigh the same, so the variance of their mean adds 1/n_effective of each: k²/Σ(1/n).
    n_effective = len(means) ** 2 / max(sum(inverse_sizes), 1e-9)
    is_testable = (
        sum(counts) >= MIN_N and n_effective >= MIN_CLAIM_FAMILIES and bool(np.min(degrees) > 0)
    )
    return TaskMean(
        np.array(means),
        np.array(variances),
        degrees=np.array(degrees),
        means_with_unseen=mean_and_variance[:, :, 0],
        variances_with_unseen=mean_and_variance[:, :, 1],
        is_testable=is_testable,
    )


@dataclass(frozen=True, eq=False)
class ItemSums:
    """Number of items, their sum and their sum of squares, (...) each."""

    n: np.ndarray
    total: np.ndarray
    squares: np.ndarray

    @classmethod
    def from_values(cls, values: np.ndarray) -> "ItemSums":
        x = np.asarray(values, dtype=float)
        is_defined = ~np.isnan(x)
        x = np.where(is_defined, x, 0.0)
        return cls(is_defined.sum(axis=-1), x.sum(axis=-1), (x**2).sum(axis=-1))

    # Items without clusters have no correlation to choose, so both are the sums as they are.
    @property
    def with_typical_correlation(self) -> "ItemSums":
        return self

    @property
    def with_largest_correlation(self) -> "ItemSums":
        return self


@dataclass(frozen=True, eq=False)
class ClusterSums:
    """Sums per cluster of the values above 0 (`won`) and below (`lost`, as positive numbers).

    (clusters, k) each, as are `sizes` (items), `n_won` and `n_lost` (items above and below 0).
    `squares_won` and `squares_lost` (k,) are sums of squares over all clusters. Items may have
    weights in all these sums; the weights of a column must add up to its number of items.
    """

    sizes: np.ndarray
    won: np.ndarray
    lost: np.ndarray
    n_won: np.ndarray
    n_lost: np.ndarray
    squares_won: np.ndarray
    squares_lost: np.ndarray

    @classmethod
    def from_values(cls, x: np.ndarray, clusters: np.ndarray) -> "ClusterSums":
        """Sum values (items, k), NaN left out, by each item's cluster number."""
        is_defined = ~np.isnan(x)
        values = np.where(is_defined, x, 0.0)
        won, lost = np.maximum(values, 0.0), np.maximum(-values, 0.0)
        n_clusters = int(clusters.max(initial=-1)) + 1

        def summed(part: np.ndarray) -> np.ndarray:
            sums = np.zeros((n_clusters, x.shape[1]))
            np.add.at(sums, clusters, part)
            return sums

        return cls(
            sizes=summed(is_defined),
            won=summed(won),
            lost=summed(lost),
            n_won=summed(values > 0),
            n_lost=summed(values < 0),
            squares_won=(won**2).sum(axis=0),
            squares_lost=(lost**2).sum(axis=0),
        )

    @cached_property
    def means(self) -> FamilyMeans:
        return FamilyMeans(self.won - self.lost, self.sizes)

    @cached_property
    def with_typical_correlation(self) -> "_Clustered":
        """Means with the median estimate of the correlation: copies count as one item."""
        squares = self.squares_won + self.squares_lost
        correlation = _correlation_limit(self.means, squares, error=0.5)
        return _Clustered(self.means, np.where(np.isnan(correlation), 1.0, correlation))

    @cached_property
    def with_largest_correlation(self) -> "_Clustered":
        """Means with the largest correlation that the data allow."""
        return _Clustered(self.means, self._largest_correlation)

    @property
    def _largest_correlation(self) -> np.ndarray:
        """(k,) upper limits of the correlation within clusters.

        The largest of three limits: of the values, of the events below 0 and of those above 0.
        Events in one direction may fill whole clusters although the values as a whole do not. A
        limit of something that never varies counts as 0; where none of the three varies, the
        result is 1.
        """
        limits = [_correlation_limit(self.means, self.squares_won + self.squares_lost)]
        for counts in (self.n_lost, self.n_won):
            events = FamilyMeans(counts, self.sizes)
            limits.append(_correlation_limit(events, counts.sum(axis=0)))
        largest = np.nanmax(np.nan_to_num(np.stack(limits), nan=0.0), axis=0)
        return np.where(np.isnan(limits).all(axis=0), 1.0, largest)

    def lead(self, end: float) -> ChanceLead:
        """Return the lead over the adverse events, which are those on the side of `end`."""
        if end > 0:
            events, favourable, adverse = self.n_won, self.lost, self.won
            squares = self.squares_won
        else:
            events, favourable, adverse = self.n_lost, self.won, self.lost
            squares = self.squares_lost
        return ChanceLead.from_sums(
            FamilyMeans(events, self.sizes),
            FamilyMeans(favourable, self.sizes),
            FamilyMeans(adverse, self.sizes),
            squares,
            largest=abs(end),
        )


@dataclass(frozen=True)
class _Clustered:
    """Means over clusters, and the (k,) correlation within clusters that an unseen one has."""

    means: FamilyMeans
    correlation: np.ndarray

    def with_few_events(self, n_events: np.ndarray, error: float) -> "_Clustered":
        """Raise the correlation to the largest that `n_events` (k,) cannot exclude. No event counts
        as one event.

        By a beta-binomial law a rare event is alone in its cluster with a chance of
        (1 − ρ)/(1 + ρ(m − 2)), m being the size of the cluster. So n events, each alone, exclude
        every ρ for which the n-th power of that chance is below `error`. Example at .05: one event
        in 20 clusters of 10 cannot exclude ρ = .68; the F limit alone would be .08.
        """
        typical = np.maximum(self.means.n / np.maximum(self.means.n_effective, 1e-9), 1.0)
        chance = error ** (1 / np.maximum(n_events, 1))
        largest = (1 - chance) / np.maximum(1 + chance * (typical - 2), 1e-9)
        return _Clustered(self.means, np.maximum(self.correlation, np.clip(largest, 0.0, 1.0)))


def _sums(values: np.ndarray, families: np.ndarray | None) -> ItemSums | ClusterSums:
    """Sum `values` (..., items), NaN left out; with families the other axes become columns."""
    if families is None:
        return ItemSums.from_values(values)
    x = np.asarray(values, dtype=float)
    # Not -1: without items numpy cannot infer a length.
    columns = x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
    return ClusterSums.from_values(columns.T, families)


def _correlation_limit(
    means: FamilyMeans, squares: np.ndarray, error: float = _CORRELATION_ERROR
) -> np.ndarray:
    """Return the one-sided upper limits (k,) of the one-way ANOVA correlation.

    `squares` (k,) are sums of squared values. An `error` of .5 gives the median of the estimate.
    NaN where nothing varies. The limit follows from the F ratio of mean squares between and within
    clusters (Searle 1971); unequal clusters enter by their mean size.
    """
    from scipy.special import fdtri

    n, n_clusters = means.n, means.n_families
    df_between, df_within = n_clusters - 1.0, n - n_clusters
    sizes = np.where(means.sizes > 0, means.sizes, 1.0)
    explained = (means.sums**2 / sizes).sum(axis=0)
    total = means.sums.sum(axis=0) ** 2 / np.maximum(n, 1.0)
    between = np.maximum(explained - total, 0.0) / np.maximum(df_between, 1.0)
    within = np.maximum(squares - explained, 0.0) / np.maximum(df_within, 1.0)
    varies = squares - total > 1e-12 * np.maximum(squares, 1e-300)
    has_both = (df_between > 0) & (df_within > 0)
    # n0 of the one-way ANOVA with groups of unequal size.
    mean_size = (n - (means.sizes**2).sum(axis=0) / np.maximum(n, 1.0)) / np.maximum(
        df_between, 1.0
    )
    quantile = np.ones(n.shape)
    quantile[has_both] = fdtri(df_between[has_both], df_within[has_both], error)
    ratio = np.divide(
        between, within * quantile, out=np.full(n.shape, np.inf), where=within * quantile > 0
    )
    is_constant_within = np.isinf(ratio)  # nothing varies within clusters
    ratio = np.where(is_constant_within, 1.0, ratio)
    limit = np.clip((ratio - 1) / np.maximum(ratio + mean_size - 1, 1e-300), 0.0, 1.0)
    # With one item per cluster, or one cluster, the data do not tell: assume the worst.
    limit = np.where(is_constant_within | ~has_both, 1.0, limit)
    return np.where(varies, limit, np.nan)


def _degrees_of_freedom(sums_or_means: ItemSums | _Clustered) -> np.ndarray:
    """Return the degrees of freedom of a claim; NaN below 10 items or 6 effective clusters."""
    if isinstance(sums_or_means, ItemSums):
        return np.where(sums_or_means.n < MIN_N, np.nan, sums_or_means.n - 1.0)
    means = sums_or_means.means
    is_few = (means.n < MIN_N) | (means.n_effective < MIN_CLAIM_FAMILIES)
    return np.where(is_few, np.nan, means.df)


def _with_unseen(
    sums_or_means: ItemSums | _Clustered, end: float, weight: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard error with an unseen item, or cluster, of `weight` at `end`."""
    if isinstance(sums_or_means, ItemSums):
        size = sums_or_means.n + weight
        mean = (sums_or_means.total + weight * end) / size
        # Items that all agree leave a variance of rounding errors, perhaps below 0.
        variance = np.maximum((sums_or_means.squares + weight * end**2) / size - mean**2, 1e-300)
        return mean, np.sqrt(variance / np.maximum(size - 1, 1e-9))
    means = sums_or_means.means
    n = np.maximum(means.n, 1.0)
    # Σn²/N, the expected size of the cluster of a random item.
    typical = np.divide(n, means.n_effective, out=np.ones(n.shape), where=means.n_effective > 0)
    unseen_sum = end * (1 + (typical - 1) * sums_or_means.correlation)
    size = n + weight * typical
    mean = (means.sums.sum(axis=0) + weight * unseen_sum) / size
    # CR2 as in `families`; the unseen cluster is a part of the mean.
    squares = ((means.sums - mean * means.sizes) ** 2 / (1 - means.sizes / size)).sum(axis=0)
    unseen = weight * (unseen_sum - mean * typical) ** 2 / (1 - typical / size)
    return mean, np.sqrt(np.maximum(squares + unseen, 1e-300)) / size
