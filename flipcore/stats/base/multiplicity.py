"""Adjusted p-values for a family of tests that was declared before looking.

They equal those of statsmodels.stats.multitest.multipletests. Outputs keep the order of the inputs.
A NaN p-value stays NaN and is not a member of the family.
"""

from collections.abc import Callable, Sequence

import numpy as np


def bonferroni(p: Sequence[float]) -> list[float]:
    """Adjust for the family-wise error under any dependence (Bonferroni)."""
    return _adjusted(p, lambda q: q * q.size)


def holm(p: Sequence[float]) -> list[float]:
    """Adjust for the family-wise error under any dependence (Holm 1979)."""
    return _adjusted(p, lambda q: np.maximum.accumulate(q * np.arange(q.size, 0, -1)))


def bh(p: Sequence[float] | np.ndarray) -> list[float]:
    """Adjust for the false discovery rate (Benjamini & Hochberg 1995).

    The p-values must be independent or PRDS, as conformal ones are."""
    return _adjusted(p, _step_up)


def _step_up(q: np.ndarray) -> np.ndarray:
    """Return the Benjamini-Hochberg adjustment of ascending p-values."""
    scaled = q * q.size / np.arange(1, q.size + 1)
    return np.minimum.accumulate(scaled[::-1])[::-1]


def _adjusted(
    p: Sequence[float] | np.ndarray, adjust: Callable[[np.ndarray], np.ndarray]
) -> list[float]:
    """Apply `adjust` to the family's p-values in ascending order, and cap the results at 1."""
    p_values = np.asarray(p, dtype=float).ravel()
    family = np.flatnonzero(~np.isnan(p_values))
    # A stable sort gives the same result for equal p-values on every machine.
    order = family[np.argsort(p_values[family], kind="stable")]
    adjusted = np.full(p_values.size, np.nan)
    if order.size:
        adjusted[order] = np.minimum(adjust(p_values[order]), 1.0)
    return adjusted.tolist()
