"""Accuracy of a set of items, with the interval that every page, file and sentence gives it."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from flipcore.stats.base.estimate import Estimate
from flipcore.stats.base.families import clustered_mean


def accuracy(right: ArrayLike, families: ArrayLike | None = None) -> Estimate:
    """Mean correctness, one number from 0 to 1 per item (several samples give a fraction); NaN is
    left out.

    Wilson's limits on the number of items that would vary as much, with Student's t: those of a
    score over other questions. Where items share one of `families` (one name or number per item),
    those are the units, as for flip rates, and `n` counts them.
    """
    x = np.asarray(right, dtype=float)
    is_judged = ~np.isnan(x)
    x = x[is_judged]
    names = np.arange(x.size) if families is None else np.asarray(families)[is_judged]
    return clustered_mean(x, names).estimate()


def accuracy_of(readouts: pd.DataFrame) -> Estimate:
    """Return the accuracy of one model under one extractor.

    `readouts` has the columns item_id, is_correct and perhaps family. Rows that were never judged
    (`is_correct` missing) are left out.
    """
    rows = readouts[readouts["is_correct"].notna()]
    # An item counts once, whatever the number of its samples: reruns of one prompt say little about
    # other questions.
    right = rows["is_correct"].astype(float).groupby(rows["item_id"]).mean()
    families = rows.groupby("item_id")["family"].first() if "family" in rows else None
    return accuracy(right.to_numpy(dtype=float), None if families is None else families.to_numpy())


def tasks_of(item_ids: pd.Series) -> pd.Series:
    """Return the task, or data set, that each item's id begins with; "" of an id without one."""
    parts = item_ids.astype(str).str.partition("/")
    return parts[0].where(parts[1] == "/", "")
