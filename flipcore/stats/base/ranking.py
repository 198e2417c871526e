"""Area under the ROC curve, with ties and with weights, so that a bootstrap of items is one matrix
of counts."""

from collections.abc import Sequence

import numpy as np


def auc(y: Sequence[int] | np.ndarray, s: Sequence[float] | np.ndarray) -> float:
    """Return the Mann-Whitney AUC of scores s for y = 1 over y = 0, ties count 1/2; one class only
    -> NaN."""
    return float(weighted_auc(np.asarray(y), np.asarray(s, dtype=float), np.ones((1, len(y))))[0])


def weighted_auc(y: np.ndarray, s: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return (replicates,) AUC where row i counts weights[:, i] times; NaN where a class has no
    weight."""
    if y.size == 0:
        return np.full(len(weights), np.nan)
    _, group = np.unique(s, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    ones = np.add.reduceat((weights * (y == 1))[:, order], starts, axis=1)
    zeros = np.add.reduceat((weights * (y != 1))[:, order], starts, axis=1)
    # Equal scores are one group, whose zeros count half for its ones.
    below = np.cumsum(zeros, axis=1) - zeros / 2
    pairs = ones.sum(axis=1) * zeros.sum(axis=1)
    return np.divide(
        (ones * below).sum(axis=1), pairs, out=np.full(len(weights), np.nan), where=pairs > 0
    )
