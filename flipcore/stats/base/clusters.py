"""Items of one family (one template, one source) as one unit: values whose plain mean and spread are the clustered ones."""

from __future__ import annotations

import numpy as np


def by_family(values: np.ndarray, families: np.ndarray | None) -> np.ndarray:
    """(families, k) from (items, k) and each item's family number: mean + (sum - mean * count) / mean count.

    The plain mean of the result is the mean over items, its plain standard error the CR1 one of `intervals.cluster_clt`, so
    whatever resamples or permutes rows does it with whole families. NaN items are left out of their column; a family without
    a value is NaN. Without `families` the items stand for themselves."""
    if families is None:
        return values
    there = ~np.isnan(values)
    n_families = int(families.max(initial=-1)) + 1
    sums, counts = np.zeros((2, n_families, values.shape[1]))
    np.add.at(sums, families, np.where(there, values, 0.0))
    np.add.at(counts, families, there)
    total, n_defined = counts.sum(axis=0), (counts > 0).sum(axis=0)
    mean = np.divide(sums.sum(axis=0), total, out=np.full(total.shape, np.nan), where=total > 0)
    size = np.divide(total, n_defined, out=np.ones(total.shape), where=n_defined > 0)
    return np.where(counts > 0, mean + (sums - mean * counts) / size, np.nan)
