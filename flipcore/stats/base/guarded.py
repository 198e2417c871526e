"""A t test of a bounded mean that no unseen item could have turned round: for verdicts on rare events.

Where few items differ, those that would weigh against the mean may not be in the sample at all, and the plain t is then far
too sure: with pairs that flip under one extractor alone in .10 of 26 items and under the other alone in .05, A = G, it says
"more artifact" in .085 of samples at a nominal .025. So a fraction of an unseen item at the adverse end of what an item's
value can be is added before the test of either direction: as much as moves the sum by one. Simulated over three-valued
populations with 10 to 1,319 items the one-sided rate is then .031 at most for .025. Where items share families, what was not
seen is a family of their typical size (Σn²/N), and variance and degrees of freedom are those of `families`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flipcore.stats.base.estimate import MIN_CLAIM_FAMILIES, MIN_N
from flipcore.stats.base.families import FamilyMeans


@dataclass(frozen=True)
class GuardedT:
    """One-sided p of a mean above and below 0, and the two-sided one: arrays without the items' axis, NaN below 10 items or 6
    effective families."""

    p_above: np.ndarray
    p_below: np.ndarray

    @property
    def p(self) -> np.ndarray:
        return np.minimum(1.0, 2 * np.fmin(self.p_above, self.p_below))

    @property
    def is_above(self) -> np.ndarray:
        return self.p_above < self.p_below


def guarded_t(values: np.ndarray, bounds: tuple[float, float], families: np.ndarray | None = None) -> GuardedT:
    """`values` (..., items), NaN left out; `bounds` = (lowest below 0, highest above 0) of what an item's value can be; `families`
    (items,) numbers."""
    x = np.asarray(values, dtype=float)
    if families is not None:
        rows = FamilyMeans.of(x.reshape(-1, x.shape[-1]).T, families)
        return GuardedT(*(_of_families(rows, adverse).reshape(x.shape[:-1]) for adverse in bounds))
    there = ~np.isnan(x)
    n = there.sum(axis=-1)
    x = np.where(there, x, 0.0)
    total, squares = x.sum(axis=-1), (x**2).sum(axis=-1)
    return GuardedT(*(_one_sided(total, squares, n, adverse) for adverse in bounds))


def _one_sided(total: np.ndarray, squares: np.ndarray, n: np.ndarray, adverse: float) -> np.ndarray:
    """P of the mean lying away from `adverse`, with 1/|adverse| of an item there."""
    from scipy.special import stdtr

    weight = 1 / abs(adverse)
    size = n + weight
    mean = (total + weight * adverse) / size
    variance = np.maximum((squares + weight * adverse**2) / size - mean**2, 0.0)
    t = np.sign(-adverse) * mean / np.sqrt(np.maximum(variance, 1e-300) / (size - 1))
    return np.where(n < MIN_N, np.nan, stdtr(np.maximum(n - 1, 1), -t))


def _of_families(rows: FamilyMeans, adverse: float) -> np.ndarray:
    """The same with 1/|adverse| of a family there."""
    from scipy.special import stdtr

    weight, n = 1 / abs(adverse), np.maximum(rows.n, 1.0)
    typical = np.divide(n, rows.n_effective, out=np.ones(n.shape), where=rows.n_effective > 0)
    size = n + weight * typical
    mean = (rows.sums.sum(axis=0) + weight * typical * adverse) / size
    squares = ((rows.sums - mean * rows.sizes) ** 2 / (1 - rows.sizes / size)).sum(axis=0)
    missing = weight * (typical * (adverse - mean)) ** 2 / (1 - typical / size)
    t = np.sign(-adverse) * mean / np.sqrt(np.maximum(squares + missing, 1e-300)) * size
    is_few = (rows.n < MIN_N) | (rows.n_effective < MIN_CLAIM_FAMILIES)
    return np.where(is_few, np.nan, stdtr(np.where(is_few, 1.0, rows.df), -t))
