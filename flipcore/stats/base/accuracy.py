"""The accuracy of a set of items, with the one interval that every page, file and sentence gives it."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from flipcore.stats.base.estimate import MIN_N, Estimate
from flipcore.stats.base.intervals import mean_interval


def accuracy(right: ArrayLike, families: ArrayLike | None = None) -> Estimate:
    """Mean correctness, one number from 0 to 1 an item (several samples give a fraction); NaN is left out.

    Wilson's interval where each is 0 or 1, the house's default for means otherwise. Where items share one of `families` (a name
    or number an item), those are the units (`families.clustered_mean`), as for flip rates, and `n` counts them.
    """
    x = np.asarray(right, dtype=float)
    there = ~np.isnan(x)
    x, names = x[there], None if families is None else np.asarray(families)[there]
    if names is not None and 0 < np.unique(names).size < x.size:
        return mean_interval(x, names)
    return mean_interval(x, kind="wilson" if x.size >= MIN_N and np.isin(x, (0, 1)).all() else "default")


def accuracy_of(readouts: pd.DataFrame) -> Estimate:
    """Of one model under one extractor: rows of (item_id, is_correct, perhaps family). What was never judged (`is_correct` missing)
    is left out, and an item counts once whatever the number of its samples."""
    rows = readouts[readouts["is_correct"].notna()]
    right = rows["is_correct"].astype(float).groupby(rows["item_id"]).mean()
    families = rows.groupby("item_id")["family"].first() if "family" in rows else None
    return accuracy(right.to_numpy(dtype=float), None if families is None else families.to_numpy())
