"""The lead that two equal models leave to chance where items share clusters, for `guarded`.

A model that wins on single items and loses in clusters looks better than it is: a sample may hold
few of the clusters in which it loses, and then a clustered t is far too sure. Equal models lose as
often as they win, so half of all wins and losses would be losses. They cluster as much as a
beta-binomial law of the losses seen leaves open (`correlation_left_open`), and the lead must be
more than that lets it be by chance. Where losses are many and spread, this asks for no more than
the t does.

Simulated with two equal models of which one wins alone and loses in clusters, of equal size (12 to
100 clusters of 3 to 25 items) and of unequal size (1 to 60 items, one cluster of a fifth of all),
items equally and unequally likely to differ, a rate of .5% to 6% and a correlation of 0 to .5:
`docs/outside-tools.md` has the tables. Of a model that loses 2 to 10% more than it wins, a smaller
loss was shown in at most .059 at a one-sided .025 (by the t in up to .43).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flipcore.stats.base.families import FamilyMeans

# Half the 95% quantile of χ² with one degree of freedom: how much less likely, in logs, a
# correlation may be than the likeliest one.
LIKELIHOOD_DROP = 1.92
# Above .5 a cluster is lost nearly whole or not at all. That the data cannot exclude, and claims
# say that they assume clusters like those seen.
_CORRELATIONS = np.concatenate([[1e-4], np.linspace(0.01, 0.5, 25)])


def correlation_left_open(counts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Upper limit of the correlation of events within clusters, .5 at most, one per column.

    Parameters
    ----------
    counts, sizes : (clusters, k) events and items.

    Returns
    -------
    (k,) the largest correlation of a beta-binomial law whose likelihood is not `LIKELIHOOD_DROP`
    below that of the likeliest; .5 where no event was seen.
    """
    from scipy.special import gammaln

    # Half an event more: a rate of 0 would fit every correlation alike, with no clusters at all.
    rate = np.minimum((counts.sum(axis=0) + 0.5) / np.maximum(sizes.sum(axis=0), 1.0), 0.99)
    likelihoods = np.zeros((_CORRELATIONS.size, counts.shape[1]))
    # Most clusters hold no event, and those of one size are then equally likely.
    distinct_sizes = np.unique(sizes)
    n_of_size = np.zeros((distinct_sizes.size, counts.shape[1]))
    for number, size in enumerate(distinct_sizes):
        n_of_size[number] = (sizes == size).sum(axis=0)
    clusters, columns = np.nonzero(counts)
    n_events, n_items = counts[clusters, columns], sizes[clusters, columns]
    for place, correlation in enumerate(_CORRELATIONS):
        together = (1 - correlation) / correlation
        event, no_event = rate * together, (1 - rate) * together
        without = gammaln(no_event + distinct_sizes[:, None]) - gammaln(no_event)
        without -= (gammaln(together + distinct_sizes) - gammaln(together))[:, None]
        a, b = event[columns], no_event[columns]
        gain = gammaln(a + n_events) - gammaln(a)
        gain += gammaln(b + n_items - n_events) - gammaln(b + n_items)
        likelihoods[place] = (n_of_size * without).sum(axis=0)
        likelihoods[place] += np.bincount(columns, gain, minlength=counts.shape[1])
    is_open = likelihoods >= likelihoods.max(axis=0) - LIKELIHOOD_DROP
    return _CORRELATIONS[_CORRELATIONS.size - 1 - is_open[::-1].argmax(axis=0)]


@dataclass(frozen=True, eq=False)
class ChanceLead:
    """A lead of (k,) columns and what its variance would be between equal models.

    `lead` is the sum of the values, `total` that of their sizes, both positive where the favourable
    side leads. The variance of a favourable sum of one is `favourable_unit`; of the adverse values
    seen it is `adverse_seen`. An adverse event is `adverse_size` large, and `events` counts them.
    """

    events: FamilyMeans
    lead: np.ndarray
    total: np.ndarray
    favourable_unit: np.ndarray
    adverse_size: np.ndarray
    adverse_seen: np.ndarray

    @classmethod
    def of(
        cls,
        events: FamilyMeans,
        favourable: FamilyMeans,
        adverse: FamilyMeans,
        squares: np.ndarray,
        *,
        largest: float,
    ) -> "ChanceLead":
        """From clusters' numbers of adverse events and their sums of favourable and of adverse
        values, both as positive numbers; of the adverse ones the sum of squares (k,) and the
        `largest` that there can be."""
        won, lost = favourable.sums.sum(axis=0), adverse.sums.sum(axis=0)
        # How large an adverse event is; where there is none, as large as it can be.
        size = np.divide(squares, lost, out=np.full(lost.shape, largest), where=lost > 0)
        won_squares = _squares(favourable)
        return cls(
            events,
            won - lost,
            won + lost,
            np.divide(won_squares, won, out=np.zeros(won.shape), where=won > 0),
            size,
            _squares(adverse),
        )

    @property
    def n(self) -> np.ndarray:
        return np.maximum(self.events.n, 1.0)

    @cached_property
    def adverse_unit(self) -> np.ndarray:
        """(k,) variance of an adverse sum of one."""
        return self._adverse_unit(np.ones(self.lead.shape, dtype=bool))

    def _adverse_unit(self, columns: np.ndarray) -> np.ndarray:
        """Variance of an adverse sum of one in these columns; elsewhere without a correlation."""
        events = self.events
        correlation = np.zeros(self.lead.shape)
        correlation[columns] = correlation_left_open(
            events.sums[:, columns], events.sizes[:, columns]
        )
        typical = np.maximum(events.n / np.maximum(events.n_effective, 1e-9), 1.0)
        return self.adverse_size * (1 + (typical - 1) * correlation)

    def p(self, margin: float = 0.0) -> np.ndarray:
        """One-sided p of a mean lead of `margin` or less.

        Models that differ by the margin have a true sum of margin × n: favourable events are then
        half of all and half of that sum, adverse ones the rest. `limit` solves this for the margin.
        By a normal law: the variance is that of a model, not estimated from as many squares as
        there are clusters.
        """
        from scipy.special import ndtr

        expected = margin * self.n
        favourable = np.maximum(self.total + expected, 0.0) / 2 * self.favourable_unit
        # Without a lead no correlation makes one, and the likelihoods take most of the time. At a
        # margin below 0 a model leads by losing less than that.
        unit = self.adverse_unit if margin else self._adverse_unit(self.lead > 0)
        adverse = np.maximum(self.total - expected, 0.0) / 2 * unit
        variance = favourable + np.maximum(adverse, self.adverse_seen)
        return ndtr((expected - self.lead) / np.sqrt(np.maximum(variance, 1e-300)))

    def limit(self, alpha: float) -> np.ndarray:
        """Lower limit of the mean: what the test at a one-sided `alpha` would not reject.

        With a true sum of s the favourable ones make up (total + s) / 2 and the adverse ones
        (total - s) / 2, so (lead - s)² = z² variance(s) is a quadratic equation in s. It is solved
        for either variance of the adverse ones, and the lower root of both holds.
        """
        from scipy.special import ndtri

        z = float(ndtri(1 - alpha))
        expected = self._root(z, self.adverse_unit, np.zeros(self.n.shape))
        seen = self._root(z, np.zeros(self.n.shape), self.adverse_seen)
        return np.minimum(expected, seen) / self.n

    def _root(self, z: float, adverse_unit: np.ndarray, fixed: np.ndarray) -> np.ndarray:
        root = self._root_of(z, self.favourable_unit, adverse_unit, fixed)
        # Beyond a sum of -total no favourable events are left, and none are fewer than that.
        nothing = np.zeros(self.n.shape)
        return np.where(root < -self.total, self._root_of(z, nothing, adverse_unit, fixed), root)

    def _root_of(
        self, z: float, favourable_unit: np.ndarray, adverse_unit: np.ndarray, fixed: np.ndarray
    ) -> np.ndarray:
        at_zero = self.total / 2 * (favourable_unit + adverse_unit) + fixed
        slope = (favourable_unit - adverse_unit) / 2
        middle = self.lead + z**2 * slope / 2
        return middle - np.sqrt(np.maximum(middle**2 - self.lead**2 + z**2 * at_zero, 0.0))


def _squares(means: FamilyMeans) -> np.ndarray:
    """(k,) variance of a sum over clusters, by CR2."""
    return (np.nan_to_num(means.se) * means.n) ** 2
