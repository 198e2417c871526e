"""A t test of a bounded mean that no unseen item could have turned round: for verdicts on rare events.

Where few items differ, those that would weigh against the mean may not be in the sample at all, and the plain t is then far
too sure: with pairs that flip under one extractor alone in .10 of 26 items and under the other alone in .05, A = G, it says
"more artifact" in .085 of samples at a nominal .025. So a fraction of an unseen item at the adverse end of what an item's
value can be is added before the test of either direction: as much as moves the sum by one. Simulated over three-valued
populations with 10 to 1,319 items the one-sided rate is then .031 at most for .025. Where items share families, what was not
seen is a family of their typical size (Σn²/N), and variance and degrees of freedom are those of `families`.
"""

from dataclasses import dataclass
from typing import Any

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


def guarded_t(values: np.ndarray, bounds: tuple[float, float], families: np.ndarray | None = None) -> GuardedT:
    """`values` (..., items), NaN left out; `bounds` = (lowest below 0, highest above 0) of what an item's value can be; `families`
    (items,) numbers."""
    from scipy.special import stdtr

    every, shape = _sums(values, families), np.shape(values)[:-1]
    sides = []
    for adverse in bounds:
        mean, se, df = _with_unseen(every, adverse)
        p = np.where(np.isnan(df), np.nan, stdtr(np.nan_to_num(df, nan=1.0), np.sign(adverse) * mean / se))
        sides.append(p.reshape(shape))
    return GuardedT(*sides)


def guarded_limits(
    least: np.ndarray, largest: np.ndarray, bounds: tuple[float, float], alpha: float, families: np.ndarray | None = None
) -> tuple[Any, Any]:
    """The limits that go with the test: at a one-sided `alpha` the lower one is above 0 exactly where `p_above` of `least` (..., items) is
    below it, and the upper one below 0 where `p_below` of `largest` is. Arrays have no items' axis; NaN where the test is."""
    from scipy.special import stdtrit

    out = []
    for x, adverse in zip((least, largest), bounds, strict=True):
        mean, se, df = _with_unseen(_sums(x, families), adverse)
        limits = np.clip(mean + np.sign(adverse) * stdtrit(df, 1 - alpha) * se, *bounds)
        out.append(limits.reshape(np.shape(x)[:-1])[()])
    return out[0], out[1]


@dataclass(frozen=True)
class _Sums:
    """(...) numbers of items, their sum and their sum of squares."""

    n: np.ndarray
    total: np.ndarray
    squares: np.ndarray


def _sums(values: np.ndarray, families: np.ndarray | None) -> _Sums | FamilyMeans:
    x = np.asarray(values, dtype=float)
    if families is not None:
        return FamilyMeans.of(x.reshape(-1, x.shape[-1]).T, families)
    there = ~np.isnan(x)
    x = np.where(there, x, 0.0)
    return _Sums(there.sum(axis=-1), x.sum(axis=-1), (x**2).sum(axis=-1))


def _with_unseen(rows: _Sums | FamilyMeans, adverse: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, standard error and degrees of freedom with 1/|adverse| of an item there, or of a family; NaN degrees of freedom below 10
    items or 6 effective families."""
    weight = 1 / abs(adverse)
    if isinstance(rows, _Sums):
        size = rows.n + weight
        mean = (rows.total + weight * adverse) / size
        variance = np.maximum((rows.squares + weight * adverse**2) / size - mean**2, 1e-300)
        return mean, np.sqrt(variance / np.maximum(size - 1, 1e-9)), np.where(rows.n < MIN_N, np.nan, rows.n - 1.0)
    n = np.maximum(rows.n, 1.0)
    typical = np.divide(n, rows.n_effective, out=np.ones(n.shape), where=rows.n_effective > 0)
    size = n + weight * typical
    mean = (rows.sums.sum(axis=0) + weight * typical * adverse) / size
    squares = ((rows.sums - mean * rows.sizes) ** 2 / (1 - rows.sizes / size)).sum(axis=0)
    unseen = weight * (typical * (adverse - mean)) ** 2 / (1 - typical / size)
    is_few = (rows.n < MIN_N) | (rows.n_effective < MIN_CLAIM_FAMILIES)
    return mean, np.sqrt(np.maximum(squares + unseen, 1e-300)) / size, np.where(is_few, np.nan, rows.df)
