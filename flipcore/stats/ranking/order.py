"""The order of several models with rank intervals, from tests of all pairs in both directions.

A model's rank lies between 1 + how many were shown to be better than it and the number of models
minus how many it was shown to be better than. With the one-sided tests of all pairs, in both
directions and under all ways, adjusted by Holm's method, all these intervals hold at once with the
stated level (Mogstad, Romano, Shaikh & Wilhelm, Review of Economic Studies 2024, with Holm's
adjustment in place of their bootstrap; Klein, Wright & Wieczorek, JRSS A 2020). Holm needs no
independence of the ways, which share all items. One test is the guarded t of the paired differences
per item or family (`stats.base.guarded`), on the items that both models were asked. Unread answers
are taken as wrong for the one that would be better, and as right for the other.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flipcore.stats.base.estimate import Estimate, without_interval
from flipcore.stats.base.guarded import guarded_limits, guarded_t
from flipcore.stats.base.intervals import SIGNED
from flipcore.stats.base.multiplicity import holm
from flipcore.stats.ranking.ways import Scores

AHEAD, BEHIND, TIED, OPEN, NOT_COMPARED = 1, -1, 0, 2, 3


@dataclass(frozen=True, eq=False)
class Order:
    """`means` (ways, models) on the items that all models of a way have, NaN where a model was
    never read; `n` (ways,) of them, `n_families` (ways,). `p[w, j, k]` is the one-sided p of model
    j being better than k under way w, NaN below ten families of items, for j = k, and where one of
    both was never read."""

    scores: Scores
    means: np.ndarray
    n: np.ndarray
    n_families: np.ndarray
    p: np.ndarray

    @cached_property
    def ranks(self) -> np.ndarray:
        """(ways, models): 1 + how many models have a higher mean; NaN where a model has none."""
        higher = (self.means[:, None, :] > self.means[:, :, None] + 1e-12).sum(axis=2)
        return np.where(np.isnan(self.means), np.nan, 1.0 + higher)

    def leads(self, j: int, k: int) -> np.ndarray:
        """Return (ways,) AHEAD where model j is ahead of k whatever the unread answers were,
        BEHIND, TIED, OPEN where unread answers decide it, or NOT_COMPARED where one of both was
        never read."""
        least, most = (self.gaps(j, k, side) for side in ("lowest", "highest"))
        is_compared = ~np.isnan(least).all(axis=1)
        # Rounded: gaps that cancel must count as a tie.
        low, high = (np.round(np.nansum(x, axis=1), 9) for x in (least, most))
        kinds = [~is_compared, low > 0, high < 0, (low == 0) & (high == 0)]
        return np.select(kinds, [NOT_COMPARED, AHEAD, BEHIND, TIED], OPEN)

    def gaps(self, j: int, k: int, side: str) -> np.ndarray:
        """Return (ways, items) of model j less k with unread answers most adverse to j ("lowest"),
        or most in its favour."""
        lowest, highest = self.scores.lowest, self.scores.highest
        if side == "lowest":
            return lowest[:, :, j] - highest[:, :, k]
        return highest[:, :, j] - lowest[:, :, k]

    def difference(self, way: int, j: int, k: int, alpha: float) -> Estimate:
        """Return the mean of model j less k on the items of both, with the limits that go with the
        tests at a one-sided `alpha`, whatever the unread answers were."""
        values = self.scores.values[way]
        has_both = ~np.isnan(values[:, j] - values[:, k])
        value = (
            float((values[has_both, j] - values[has_both, k]).mean()) if has_both.any() else np.nan
        )
        groups = self.scores.groups
        least, most = (self.gaps(j, k, side)[way] for side in ("lowest", "highest"))
        if groups is None:
            n = int((~np.isnan(least)).sum())
        else:
            n = np.unique(groups[~np.isnan(least)]).size
        low, high = guarded_limits(least, most, SIGNED, alpha, groups)
        if np.isnan(low):
            return without_interval(value, n, 1 - 2 * alpha)
        return Estimate(value, low, high, 1 - 2 * alpha, "guarded t", n, None)

    def adjusted(self, ways: np.ndarray) -> np.ndarray:
        """Return (ways, models, models) p over all pairs, in both directions, of the ways in the
        mask `ways`, Holm; NaN elsewhere."""
        # The ways that are looked at are the family, in both directions.
        family = np.where(ways[:, None, None], self.p, np.nan)
        return np.array(holm(family.ravel().tolist())).reshape(family.shape)


def order(scores: Scores) -> Order:
    """Compute means and tests of all ways, each on the items that all of its models have."""
    n_ways, _, n_models = scores.values.shape
    means, p = np.full((n_ways, n_models), np.nan), np.full((n_ways, n_models, n_models), np.nan)
    n, n_families = np.zeros(n_ways, dtype=int), np.zeros(n_ways, dtype=int)
    for way in range(n_ways):
        has_all = scores.common(way)
        values = scores.values[way, has_all]
        n[way], n_families[way] = len(values), len(set(scores.families[has_all].tolist()))
        if len(values):
            present = ~np.isnan(values[0]) & ~np.isnan(scores.lowest[way]).all(axis=0)
            means[way, present] = values[:, present].mean(axis=0)
        p[way] = better(scores.lowest[way], scores.highest[way], scores.groups)
    return Order(scores, means, n, n_families, p)


def better(lowest: np.ndarray, highest: np.ndarray, groups: np.ndarray | None = None) -> np.ndarray:
    """Return (models, models) one-sided p of the row's model being better than the column's, from
    (items, models) scores with unread answers wrong and right; NaN on the diagonal, where a model
    has no score, and below ten items or families."""
    n_models = lowest.shape[1]
    first, second = np.nonzero(~np.eye(n_models, dtype=bool))
    out = np.full((n_models, n_models), np.nan)
    if first.size:
        # All ordered pairs at once: one call of the test instead of k (k - 1).
        out[first, second] = guarded_t(
            (lowest[:, first] - highest[:, second]).T, SIGNED, groups
        ).p_above
    return out


def rank_limits(p: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Return (best, worst) ranks (..., models) from adjusted p (..., models, models), bounded by
    the differences shown at `alpha`."""
    # NaN, a pair that was not compared, shows nothing.
    is_better = np.nan_to_num(p, nan=1.0) <= alpha + 1e-12
    return 1 + is_better.sum(axis=-2), p.shape[-1] - is_better.sum(axis=-1)
