"""Differences of a log's scores by subject or template, beyond those of chance."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from flipcore.core.randomness import generator
from flipcore.stats.base.families import clustered_mean, family_numbers
from flipcore.stats.base.resample import monte_carlo_p


@dataclass(frozen=True)
class GroupSpread:
    """Standard errors of a mean with items and with groups as the units (CR2), and the permutation
    p of the groups being alike."""

    n_groups: int
    by_item: float
    by_group: float
    p: float

    @property
    def ratio(self) -> float:
        return self.by_group / self.by_item if self.by_item > 0 else float("nan")


def group_spread(values: ArrayLike, groups: ArrayLike, seed: int = 0) -> GroupSpread:
    """Compute the spread from one value per item, and a name or number of its group. The statistic
    is the sum of squares between groups, held against items dealt to groups of these sizes at
    random: exact whatever the values and sizes."""
    x, numbers = np.asarray(values, dtype=float), family_numbers(groups)
    n_groups = int(numbers.max(initial=-1)) + 1
    sizes, centred = np.bincount(numbers, minlength=n_groups), x - x.mean()
    rng = generator(seed, "groups")
    # Rows sorted by group have each group's sum as one run.
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])

    def between(rows: np.ndarray) -> np.ndarray:
        return (np.add.reduceat(rows, starts, axis=1) ** 2 / sizes).sum(axis=1)

    observed = float(between(centred[np.argsort(numbers, kind="stable")][None])[0])
    p = monte_carlo_p(
        observed,
        lambda k: between(rng.permuted(np.tile(centred, (k, 1)), axis=1)),
        999,
        max_m=3_996,
    ).p
    by_item = clustered_mean(x, np.arange(x.size)).se
    return GroupSpread(n_groups, by_item, clustered_mean(x, numbers).se, p)
