"""The accuracy of a set of items, with the one interval that every page, file and sentence gives it."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from flipcore.stats.base.estimate import Estimate
from flipcore.stats.base.families import clustered_mean


def accuracy(right: ArrayLike, families: ArrayLike | None = None) -> Estimate:
    """Mean correctness, one number from 0 to 1 an item (several samples give a fraction); NaN is left out.

    Wilson's limits on the number of items that would vary as much, with Student's t: those of a score over other questions. Where
    items share one of `families` (a name or number an item), those are the units, as for flip rates, and `n` counts them.
    """
    x = np.asarray(right, dtype=float)
    there = ~np.isnan(x)
    x = x[there]
    names = np.arange(x.size) if families is None else np.asarray(families)[there]
    return clustered_mean(x, names).estimate()


def accuracy_of(readouts: pd.DataFrame) -> Estimate:
    """Of one model under one extractor: rows of (item_id, is_correct, perhaps family). What was never judged (`is_correct` missing)
    is left out, and an item counts once whatever the number of its samples."""
    rows = readouts[readouts["is_correct"].notna()]
    right = rows["is_correct"].astype(float).groupby(rows["item_id"]).mean()
    families = rows.groupby("item_id")["family"].first() if "family" in rows else None
    return accuracy(right.to_numpy(dtype=float), None if families is None else families.to_numpy())


def tasks_of(item_ids: pd.Series) -> pd.Series:
    """The task, or data set, that each item's id begins with; "" of an id without one."""
    parts = item_ids.astype(str).str.partition("/")
    return parts[0].where(parts[1] == "/", "")
