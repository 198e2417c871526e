"""The lead that two equal models can have by chance where items share clusters, for `guarded`.

A model that wins on single items and loses in whole clusters can look better than it is: a sample
may hold few of the clusters in which it loses. A clustered t is then far too sure. Equal models
lose as often as they win, so half of all wins and losses would be losses. These are assumed to
cluster as much as a beta-binomial law of the observed losses allows (`correlation_left_open`). The
lead must exceed what this allows by chance. Where losses are many and spread out, the requirement
is no stricter than the t.

Simulated with two equal models, one of which wins on single items and loses in clusters. Clusters
had equal sizes (12 to 100 clusters of 3 to 25 items) and unequal ones (1 to 60 items, one cluster
with a fifth of all). Items were equally and unequally likely to differ, at rates of .5% to 6% and
correlations of 0 to .5; `docs/outside-tools.md` has the tables. For a model that loses 2 to 10%
more than it wins, the test found a smaller loss in at most .059 at a one-sided .025 (the t in up
to .43).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flipcore.stats.base.families import FamilyMeans

# Half the 95% quantile of χ² with one degree of freedom: the log-likelihood by which a correlation
# may fall below the most likely one.
LIKELIHOOD_DROP = 1.92
# Above .5 a cluster is lost nearly whole or not at all. The data cannot exclude this, so claims say
# that they assume clusters like those seen.
_CORRELATIONS = np.concatenate([[1e-4], np.linspace(0.01, 0.5, 25)])


def correlation_left_open(counts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return (k,) upper limits of the correlation of events within clusters, .5 at most.

    `counts` and `sizes` are (clusters, k) numbers of events and of items. The limit is the largest
    correlation of a beta-binomial law whose log-likelihood is within `LIKELIHOOD_DROP` of the
    maximum. It is .5 where no event was seen.
    """
    from scipy.special import gammaln

    # Half an event is added, because at a rate of 0 all correlations would be equally likely.
    rate = np.minimum((counts.sum(axis=0) + 0.5) / np.maximum(sizes.sum(axis=0), 1.0), 0.99)
    likelihoods = np.zeros((_CORRELATIONS.size, counts.shape[1]))
    # Most clusters hold no event. Their likelihood depends on their size only, so it is computed
    # once per size; `gain` corrects it for the clusters with events.
    distinct_sizes = np.unique(sizes)
    n_of_size = np.zeros((distinct_sizes.size, counts.shape[1]))
    for row, size in enumerate(distinct_sizes):
        n_of_size[row] = (sizes == size).sum(axis=0)
    clusters, columns = np.nonzero(counts)
    n_events, n_items = counts[clusters, columns], sizes[clusters, columns]
    columns, n_events, n_items, n_clusters = _distinct(columns, n_events, n_items)
    for row, correlation in enumerate(_CORRELATIONS):
        # The beta law of a cluster's rate has the parameters a (event) and b (no event).
        concentration = (1 - correlation) / correlation
        a, b = rate * concentration, (1 - rate) * concentration
        no_event = gammaln(b + distinct_sizes[:, None]) - gammaln(b)
        no_event -= (gammaln(concentration + distinct_sizes) - gammaln(concentration))[:, None]
        a, b = a[columns], b[columns]
        gain = gammaln(a + n_events) - gammaln(a)
        gain += gammaln(b + n_items - n_events) - gammaln(b + n_items)
        likelihoods[row] = (n_of_size * no_event).sum(axis=0)
        likelihoods[row] += np.bincount(columns, gain * n_clusters, minlength=counts.shape[1])
    is_open = likelihoods >= likelihoods.max(axis=0) - LIKELIHOOD_DROP
    # `argmax` finds the first True, so on the reversed rows the last one.
    return _CORRELATIONS[::-1][is_open[::-1].argmax(axis=0)]


def _distinct(
    columns: np.ndarray, n_events: np.ndarray, n_items: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the combinations of (n,) columns, events and items, and how often each occurs."""
    events, event = np.unique(n_events, return_inverse=True)
    sizes, size = np.unique(n_items, return_inverse=True)
    codes = (columns * events.size + event) * sizes.size + size
    codes, n_clusters = np.unique(codes, return_counts=True)
    with_events, size = np.divmod(codes, max(sizes.size, 1))
    columns, event = np.divmod(with_events, max(events.size, 1))
    return columns, events[event], sizes[size], n_clusters


@dataclass(frozen=True, eq=False)
class ChanceLead:
    """Leads (k,) and the variance that they would have between equal models.

    `lead` is the sum of the values, positive where the favourable side leads; `total` is the sum of
    their absolute values. `favourable_unit` is the variance per unit of favourable sum, and
    `adverse_seen` the variance of the sum of the observed adverse values. `events` counts adverse
    events per cluster, and `adverse_size` is the typical absolute value of one.
    """

    events: FamilyMeans
    lead: np.ndarray
    total: np.ndarray
    favourable_unit: np.ndarray
    adverse_size: np.ndarray
    adverse_seen: np.ndarray

    @classmethod
    def from_sums(
        cls,
        events: FamilyMeans,
        favourable: FamilyMeans,
        adverse: FamilyMeans,
        squares: np.ndarray,
        *,
        largest: float,
    ) -> "ChanceLead":
        """Make the leads from sums per cluster.

        `events` counts adverse events; `favourable` and `adverse` sum the values of either side, as
        positive numbers. `squares` (k,) are sums of squared adverse values, and `largest` is the
        largest possible adverse value.
        """
        won, lost = favourable.sums.sum(axis=0), adverse.sums.sum(axis=0)
        # Without an adverse event, the largest possible size is assumed.
        size = np.divide(squares, lost, out=np.full(lost.shape, float(largest)), where=lost > 0)
        won_variance = _variance_of_sum(favourable)
        return cls(
            events,
            won - lost,
            won + lost,
            np.divide(won_variance, won, out=np.zeros(won.shape), where=won > 0),
            size,
            _variance_of_sum(adverse),
        )

    @property
    def n(self) -> np.ndarray:
        return np.maximum(self.events.n, 1.0)

    @cached_property
    def adverse_unit(self) -> np.ndarray:
        """(k,) variance per unit of adverse sum."""
        return self._adverse_unit(np.ones(self.lead.shape, dtype=bool))

    @cached_property
    def _adverse_unit_of_leads(self) -> np.ndarray:
        """(k,) `adverse_unit`, without the correlation where there is no lead."""
        return self._adverse_unit(self.lead > 0)

    def _adverse_unit(self, columns: np.ndarray) -> np.ndarray:
        """Return the (k,) variances; only `columns` (k,), a mask, get a correlation."""
        events = self.events
        correlation = np.zeros(self.lead.shape)
        correlation[columns] = correlation_left_open(
            events.sums[:, columns], events.sizes[:, columns]
        )
        typical = np.maximum(events.n / np.maximum(events.n_effective, 1e-9), 1.0)
        return self.adverse_size * (1 + (typical - 1) * correlation)

    def p(self, margin: float = 0.0) -> np.ndarray:
        """Return the (k,) one-sided p of a mean lead of `margin` or less.

        Models that differ by the margin have a true sum of margin × n. The favourable events then
        sum to (total + true sum) / 2, the adverse ones to the rest. The p is normal, not Student's
        t, because the variance comes from a model and not from one square per cluster.
        """
        from scipy.special import ndtr

        expected = margin * self.n
        favourable = np.maximum(self.total + expected, 0.0) / 2 * self.favourable_unit
        # At a margin of 0 columns without a lead need no correlation, and its likelihoods take most
        # of the time. At another margin they may need it: losing less than the margin is a lead.
        unit = self.adverse_unit if margin else self._adverse_unit_of_leads
        adverse = np.maximum(self.total - expected, 0.0) / 2 * unit
        variance = favourable + np.maximum(adverse, self.adverse_seen)
        return ndtr((expected - self.lead) / np.sqrt(np.maximum(variance, 1e-300)))

    def limit(self, alpha: float) -> np.ndarray:
        """Return (k,) lower limits: the smallest mean that `p` does not reject at `alpha`.

        With a true sum s the favourable values sum to (total + s) / 2 and the adverse ones to
        (total - s) / 2, so (lead - s)² = z² variance(s) is quadratic in s. It is solved for the
        modelled and for the observed variance of the adverse values; the lower root counts.
        """
        from scipy.special import ndtri

        z = float(ndtri(1 - alpha))
        expected = self._root(z, self.adverse_unit, np.zeros(self.n.shape))
        seen = self._root(z, np.zeros(self.n.shape), self.adverse_seen)
        return np.minimum(expected, seen) / self.n

    def _root(self, z: float, adverse_unit: np.ndarray, fixed: np.ndarray) -> np.ndarray:
        """Return the lower root; `fixed` is a part of the variance that does not depend on s."""
        root = self._root_of(z, self.favourable_unit, adverse_unit, fixed)
        # Below a sum of -total no favourable events are left, so they add no variance.
        zeros = np.zeros(self.n.shape)
        return np.where(root < -self.total, self._root_of(z, zeros, adverse_unit, fixed), root)

    def _root_of(
        self, z: float, favourable_unit: np.ndarray, adverse_unit: np.ndarray, fixed: np.ndarray
    ) -> np.ndarray:
        variance_at_zero = self.total / 2 * (favourable_unit + adverse_unit) + fixed
        slope = (favourable_unit - adverse_unit) / 2
        middle = self.lead + z**2 * slope / 2
        square = middle**2 - self.lead**2 + z**2 * variance_at_zero
        return middle - np.sqrt(np.maximum(square, 0.0))


def _variance_of_sum(means: FamilyMeans) -> np.ndarray:
    """Return (k,) CR2 variances of the sums over all clusters."""
    return (np.nan_to_num(means.se) * means.n) ** 2
