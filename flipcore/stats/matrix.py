"""Where answers flip (items by axes) and which readouts disagree with each other (readouts by readouts)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from flipcore.stats.coding import CodedAnswers
from flipcore.stats.disagreement import ABSENT, NULL, between, pair_flips


def flip_surface(answers: CodedAnswers, extractor: str, *, policy: str = "own_class", include_base: bool = True,
                 axes: Sequence[str] | None = None, order: Sequence[str] | None = None) -> pd.DataFrame:
    """T_i, one row an item, one column an axis, NaN where undefined. Rows that flip most come first (mean over the defined
    axes, then item id); `order` gives another readout's order, so that two surfaces stand side by side."""
    axes = list(axes or answers.axes)
    rates = pd.DataFrame({axis: between(answers.cell(axis, extractor, include_base), policy).rate for axis in axes},
                         index=pd.Index(answers.items, name="item_id"))
    return rates.loc[list(order) if order is not None else surface_order(rates)]


def surface_order(rates: pd.DataFrame) -> list[str]:
    """Item ids by falling mean over the defined axes, ties by id; items without any defined axis last."""
    means = rates.mean(axis=1)
    return list(pd.DataFrame({"mean": -means, "id": rates.index}).sort_values(["mean", "id"], na_position="last").index)


@dataclass(frozen=True)
class ReadoutDisagreement:
    """`share[i, j]` of the `n[i, j]` completions that both readouts i and j were read from and that they answer
    differently; NaN without any. `status` counts ok, unreadable and absent readouts."""

    extractors: tuple[str, ...]
    share: np.ndarray
    n: np.ndarray
    status: pd.DataFrame


def readout_disagreement(readouts: pd.DataFrame, policy: str = "own_class") -> ReadoutDisagreement:
    """Rows of the one table, one model. A prompt that stands on several axes (the base) counts once. NULL is an answer
    under `own_class`; an absent readout is in no pair."""
    place = ["item_id", "variant_id", "sample"] if "variant_id" in readouts else ["item_id", "axis", "variant", "sample"]
    rows = readouts.drop_duplicates([*place, "extractor"])
    code, texts = pd.factorize(rows["answer"])
    status = rows["status"].to_numpy(dtype=object)
    code = np.where(status == "unreadable", NULL, np.where((status == "ok") & (code >= 0), code, ABSENT))
    where = rows.groupby(place, sort=False).ngroup().to_numpy()
    which, names = pd.factorize(rows["extractor"])
    table = np.full((int(where.max(initial=-1)) + 1, len(names)), ABSENT, dtype=np.int64)
    table[where, which] = code
    k = len(names)
    share, n = np.full((k, k), np.nan), np.zeros((k, k), dtype=int)
    for i in range(k):
        for j in range(k):
            usable, differs = pair_flips(table[:, i], table[:, j], policy)
            n[i, j] = usable.sum()
            if n[i, j]:
                share[i, j] = 0.0 if i == j else differs.sum() / n[i, j]
    counts = rows.groupby(["extractor", "status"], sort=False).size().unstack(fill_value=0)
    counts = counts.reindex(index=list(names), columns=["ok", "unreadable", "absent"], fill_value=0)
    return ReadoutDisagreement(tuple(names), share, n, counts)
