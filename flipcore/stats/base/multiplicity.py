"""Adjusted p-values for a family declared before looking. Equal to
statsmodels.stats.multitest.multipletests.

A NaN p-value stays NaN and is not a member of the family. Inputs are p-values in any order; outputs
keep that order.
"""

from collections.abc import Callable, Sequence

import numpy as np


def bonferroni(p: Sequence[float]) -> list[float]:
    """Adjust for the family-wise error, under any dependence."""
    return _adjusted(p, lambda q: q * q.size)


def holm(p: Sequence[float]) -> list[float]:
    """Adjust for the family-wise error under any dependence (Holm 1979)."""
    return _adjusted(p, lambda q: np.maximum.accumulate(q * np.arange(q.size, 0, -1)))


def bh(p: Sequence[float] | np.ndarray) -> list[float]:
    """Adjust for the false discovery rate: independent or PRDS p-values, so also conformal ones
    (Benjamini & Hochberg 1995)."""
    return _adjusted(p, _step_up)


def by(p: Sequence[float]) -> list[float]:
    """Adjust for the false discovery rate under any dependence (Benjamini & Yekutieli 2001)."""
    # The harmonic sum is the price of allowing any dependence.
    return _adjusted(p, lambda q: _step_up(q) * (1 / np.arange(1, q.size + 1)).sum())


def _step_up(q: np.ndarray) -> np.ndarray:
    scaled = q * q.size / np.arange(1, q.size + 1)
    return np.minimum.accumulate(scaled[::-1])[::-1]


def _adjusted(
    p: Sequence[float] | np.ndarray, adjust: Callable[[np.ndarray], np.ndarray]
) -> list[float]:
    """`adjust` gets the family's p-values in ascending order; its result is capped at 1 and put
    back in place."""
    p_values = np.asarray(p, dtype=float).ravel()
    family = np.flatnonzero(~np.isnan(p_values))
    # A stable sort gives equal p-values the same result whatever machine sorts them.
    order = family[np.argsort(p_values[family], kind="stable")]
    out = np.full(p_values.size, np.nan)
    if order.size:
        out[order] = np.minimum(adjust(p_values[order]), 1.0)
    return out.tolist()
