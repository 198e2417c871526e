"""Differences of a log's scores between subjects or templates that chance does not explain."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from flipcore.core.randomness import generator
from flipcore.stats.base.families import clustered_mean, family_numbers
from flipcore.stats.base.resample import monte_carlo_p


@dataclass(frozen=True)
class GroupSpread:
    """Standard errors of a mean with items and with groups as units (CR2), and the permutation p of
    equal groups."""

    n_groups: int
    by_item: float
    by_group: float
    p: float

    @property
    def ratio(self) -> float:
        return self.by_group / self.by_item if self.by_item > 0 else float("nan")


def group_spread(values: ArrayLike, groups: ArrayLike, seed: int = 0) -> GroupSpread:
    """Compute the spread from (items,) values and names or numbers of groups.

    The statistic is the sum of squares between groups. Its p comes from items assigned at random to
    groups of these sizes, and is exact for all values and sizes. All numbers are NaN without items.
    """
    x, numbers = np.asarray(values, dtype=float), family_numbers(groups)
    if not x.size:
        return GroupSpread(0, by_item=math.nan, by_group=math.nan, p=math.nan)
    n_groups = int(numbers.max(initial=-1)) + 1
    sizes, centered = np.bincount(numbers, minlength=n_groups), x - x.mean()
    rng = generator(seed, "groups")
    # Rows must be sorted by group, so that each group is one run from its start.
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])

    def between(rows: np.ndarray) -> np.ndarray:
        return (np.add.reduceat(rows, starts, axis=1) ** 2 / sizes).sum(axis=1)

    def draw(k: int) -> np.ndarray:
        return between(rng.permuted(np.tile(centered, (k, 1)), axis=1))

    observed = float(between(centered[np.argsort(numbers, kind="stable")][None])[0])
    p = monte_carlo_p(observed, draw, 999, max_m=3_996).p
    by_item = clustered_mean(x, np.arange(x.size)).se
    return GroupSpread(n_groups, by_item, clustered_mean(x, numbers).se, p)
