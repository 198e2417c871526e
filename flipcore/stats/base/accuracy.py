"""Accuracy of a set of items, with the interval that all pages, files and sentences show."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from flipcore.stats.base.estimate import Estimate
from flipcore.stats.base.families import clustered_mean


def accuracy(right: ArrayLike, families: ArrayLike | None = None) -> Estimate:
    """Return the mean correctness of items, from one number in [0, 1] per item; NaN is left out.

    An item with several samples has a fraction. The limits are Wilson's with Student's t, those of
    a score over other questions. `families` (items,) are names or numbers; items that share one are
    a single unit, as for flip rates, and `n` counts units.
    """
    x = np.asarray(right, dtype=float)
    is_judged = ~np.isnan(x)
    x = x[is_judged]
    names = np.arange(x.size) if families is None else np.asarray(families)[is_judged]
    return clustered_mean(x, names).estimate()


def accuracy_of(readouts: pd.DataFrame) -> Estimate:
    """Return the accuracy of one model under one extractor. `readouts` has the columns item_id,
    is_correct and optionally family. Rows without a verdict (`is_correct` missing) are left out."""
    rows = readouts[readouts["is_correct"].notna()]
    # Each item counts once, because reruns of a prompt say little about other questions.
    right = rows["is_correct"].astype(float).groupby(rows["item_id"]).mean()
    families = rows.groupby("item_id")["family"].first() if "family" in rows else None
    return accuracy(right.to_numpy(dtype=float), None if families is None else families.to_numpy())


def tasks_of(item_ids: pd.Series) -> pd.Series:
    """Return the task, or data set, at the beginning of each item's id; "" for an id without it."""
    # Without ids pandas makes no second part.
    if item_ids.empty:
        return item_ids.astype(str)
    parts = item_ids.astype(str).str.partition("/")
    return parts[0].where(parts[1] == "/", "")
