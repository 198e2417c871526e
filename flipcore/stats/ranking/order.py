"""The order of several models and what it is worth: rank intervals from tests of every pair in both directions.

A model's rank lies between 1 + how many were shown to be better than it and the number of models minus how many it was shown to
be better than. With the one-sided tests of all pairs, in both directions and under all ways, adjusted by Holm's method, all
these intervals hold at once with the stated level (Mogstad, Romano, Shaikh & Wilhelm, Review of Economic Studies 2024, with
Holm's adjustment in place of their bootstrap; Klein, Wright & Wieczorek, JRSS A 2020). Holm needs no independence of the ways,
which share every item. One test is the guarded t of the paired differences per item or family (`stats.base.guarded`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flipcore.stats.base.families import family_numbers
from flipcore.stats.base.guarded import guarded_t
from flipcore.stats.base.intervals import SIGNED
from flipcore.stats.base.multiplicity import holm
from flipcore.stats.ranking.ways import Scores


@dataclass(frozen=True, eq=False)
class Order:
    """`means` (ways, models) on the items that all models of a way have; `n` (ways,) of them, `n_families` (ways,).
    `p[w, j, k]` is the one-sided p of model j being better than k under way w, NaN below ten families of items and for j = k."""

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
        """(ways,) 1 where model j is ahead of k, -1 where it is behind, 0 at a tie or where one has no score."""
        return np.nan_to_num(np.sign(np.round(self.means[:, j] - self.means[:, k], 12))).astype(int)

    def adjusted(self, ways: np.ndarray) -> np.ndarray:
        """(ways, models, models) p over all pairs, in both directions, of the ways in the mask `ways`, Holm; NaN elsewhere."""
        family = np.where(ways[:, None, None], self.p, np.nan)
        return np.array(holm(family.ravel().tolist())).reshape(family.shape)


def order(scores: Scores) -> Order:
    """Means and tests of every way, each on the items that all of its models have."""
    n_ways, _, n_models = scores.values.shape
    means, p = np.full((n_ways, n_models), np.nan), np.full((n_ways, n_models, n_models), np.nan)
    n, n_families = np.zeros(n_ways, dtype=int), np.zeros(n_ways, dtype=int)
    for way in range(n_ways):
        there = scores.common(way)
        values = scores.values[way, there]
        n[way], n_families[way] = len(values), len(set(scores.families[there].tolist()))
        if len(values):
            present = ~np.isnan(values[0])
            means[way, present] = values[:, present].mean(axis=0)
            p[way] = better(values, scores.families[there] if scores.is_templated else None)
    return Order(scores, means, n, n_families, p)


def better(values: np.ndarray, families: np.ndarray | None = None) -> np.ndarray:
    """(models, models) one-sided p of the row's model being better than the column's, from (items, models); NaN on the diagonal,
    where a model has no score, and below ten items or families."""
    n_models = values.shape[1]
    first, second = np.triu_indices(n_models, 1)
    out = np.full((n_models, n_models), np.nan)
    if not first.size:
        return out
    groups = None if families is None else family_numbers(families)
    test = guarded_t((values[:, first] - values[:, second]).T, SIGNED, groups)
    out[first, second], out[second, first] = test.p_above, test.p_below
    return out


def rank_limits(p: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """(best, worst) ranks (..., models) from adjusted p (..., models, models): what was shown at `alpha` bounds them."""
    is_better = np.nan_to_num(p, nan=1.0) <= alpha + 1e-12
    return 1 + is_better.sum(axis=-2), p.shape[-1] - is_better.sum(axis=-1)
