"""A t test of a bounded mean that no unseen item could have turned round: for verdicts on rare events.

Where few items differ, those that would weigh against the mean may not be in the sample at all, and the plain t is then far
too sure: with pairs that flip under one extractor alone in .10 of 26 items and under the other alone in .05, A = G, it says
"more artifact" in .085 of samples at a nominal .025. So a fraction of an unseen item at the adverse end of what an item's
value can be is added before the test of either direction: as much as moves the sum by one. Simulated over three-valued
populations with 10 to 1,319 items the one-sided rate is then .031 at most for .025.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flipcore.stats.base.estimate import MIN_N


@dataclass(frozen=True)
class GuardedT:
    """One-sided p of a mean above and below 0, and the two-sided one: arrays without the items' axis, NaN below 10 items."""

    p_above: np.ndarray
    p_below: np.ndarray

    @property
    def p(self) -> np.ndarray:
        return np.minimum(1.0, 2 * np.fmin(self.p_above, self.p_below))

    @property
    def is_above(self) -> np.ndarray:
        return self.p_above < self.p_below


def guarded_t(values: np.ndarray, bounds: tuple[float, float]) -> GuardedT:
    """`values` (..., items), NaN left out; `bounds` = (lowest below 0, highest above 0) of what an item's value can be."""
    x = np.asarray(values, dtype=float)
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
