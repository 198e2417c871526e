"""The order of several models with rank intervals, from tests of all pairs in both directions.

The best rank of a model is 1 + the number of models shown to be better than it. Its worst rank is
the number of models minus the number that it was shown to be better than. All pairs are tested
one-sided, in both directions and under all ways, and adjusted by Holm's method. Then all rank
intervals hold at once with the stated level. This is the method of Mogstad, Romano, Shaikh &
Wilhelm (Review of Economic Studies 2024), with Holm's adjustment in place of their bootstrap; see
also Klein, Wright & Wieczorek (JRSS A 2020). Holm allows for ways that share all items.

Each test is the guarded t of paired differences per item or family (`stats.base.guarded`), on the
items that both models were asked. Unread answers count as wrong for the model that would be better,
and as right for the other.
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
    """Means and pairwise tests of several models under all ways.

    means : (ways, models) on the items for which all models of a way have a score; NaN if a model
        was never read.
    n, n_families : (ways,) number of these items, and of their families.
    p : (ways, models, models); p[w, j, k] is the one-sided p that model j is better than model k
        under way w. NaN with fewer than ten families, for j = k, and if either was never read.
    """

    scores: Scores
    means: np.ndarray
    n: np.ndarray
    n_families: np.ndarray
    p: np.ndarray

    @cached_property
    def ranks(self) -> np.ndarray:
        """(ways, models) 1 + the number of models with a higher mean; NaN without a mean."""
        higher = (self.means[:, None, :] > self.means[:, :, None] + 1e-12).sum(axis=2)
        return np.where(np.isnan(self.means), np.nan, 1.0 + higher)

    def leads(self, j: int, k: int) -> np.ndarray:
        """Return (ways,) AHEAD, BEHIND or TIED: how model j compares with model k, whatever the
        unread answers were. OPEN if that depends on them, NOT_COMPARED if either was never read."""
        lowest, highest = (self.gaps(j, k, side) for side in ("lowest", "highest"))
        is_compared = ~np.isnan(lowest).all(axis=1)
        # Rounded, because gaps that cancel must count as a tie.
        low, high = (np.round(np.nansum(gaps, axis=1), 9) for gaps in (lowest, highest))
        conditions = [~is_compared, low > 0, high < 0, (low == 0) & (high == 0)]
        return np.select(conditions, [NOT_COMPARED, AHEAD, BEHIND, TIED], OPEN)

    def gaps(self, j: int, k: int, side: str) -> np.ndarray:
        """Return (ways, items) score of model j minus score of model k. Unread answers count
        against j for the `side` "lowest", in favor of j for "highest"."""
        lowest, highest = self.scores.lowest, self.scores.highest
        if side == "lowest":
            return lowest[:, :, j] - highest[:, :, k]
        return highest[:, :, j] - lowest[:, :, k]

    def difference(self, way: int, j: int, k: int, alpha: float) -> Estimate:
        """Return the mean difference of models j and k on the items of both. Its limits invert the
        tests at a one-sided `alpha`, and hold whatever the unread answers were."""
        values = self.scores.values[way]
        differences = values[:, j] - values[:, k]
        differences = differences[~np.isnan(differences)]
        value = float(differences.mean()) if differences.size else np.nan
        groups = self.scores.groups
        lowest, highest = (self.gaps(j, k, side)[way] for side in ("lowest", "highest"))
        is_compared = ~np.isnan(lowest)
        n = int(is_compared.sum()) if groups is None else np.unique(groups[is_compared]).size
        low, high = guarded_limits(lowest, highest, SIGNED, alpha, groups)
        if np.isnan(low):
            return without_interval(value, n, 1 - 2 * alpha)
        return Estimate(value, low, high, level=1 - 2 * alpha, method="guarded t", n=n, seed=None)

    def adjusted(self, ways: np.ndarray) -> np.ndarray:
        """Return (ways, models, models) p adjusted by Holm over all pairs, in both directions, of
        the ways in the mask `ways` (ways,); NaN for other ways."""
        p = np.where(ways[:, None, None], self.p, np.nan)
        return np.array(holm(p.ravel().tolist())).reshape(p.shape)


def order(scores: Scores) -> Order:
    """Compute means and tests under all ways; the means of a way are over the items for which all
    of its models have a score."""
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
        p[way] = better_p(scores.lowest[way], scores.highest[way], scores.groups)
    return Order(scores, means, n, n_families, p)


def better_p(
    lowest: np.ndarray, highest: np.ndarray, groups: np.ndarray | None = None
) -> np.ndarray:
    """Return (models, models) one-sided p that the model of the row is better than the model of the
    column.

    `lowest` and `highest` are (items, models) scores with unread answers wrong and right. NaN on
    the diagonal, for a model without a score, and below ten items or families.
    """
    n_models = lowest.shape[1]
    first, second = np.nonzero(~np.eye(n_models, dtype=bool))
    p = np.full((n_models, n_models), np.nan)
    if first.size:
        # One call for all ordered pairs, which is faster than a call per pair.
        differences = (lowest[:, first] - highest[:, second]).T
        p[first, second] = guarded_t(differences, SIGNED, groups).p_above
    return p


def rank_limits(p: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the best and worst ranks, (..., models) each, that are possible given the differences
    shown at `alpha`. `p` (..., models, models) are adjusted p-values."""
    # NaN means that a pair was not compared, which shows no difference.
    is_better = np.nan_to_num(p, nan=1.0) <= alpha + 1e-12
    return 1 + is_better.sum(axis=-2), p.shape[-1] - is_better.sum(axis=-1)
