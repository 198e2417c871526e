"""The table that the flip predictor learns from: what the base prompt showed, and whether the item flipped on each axis."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pandas as pd

from flipcore.records import BASE
from flipcore.stats.coding import IDENTITY, CodedAnswers
from flipcore.stats.disagreement import between


def base_features(readouts: pd.DataFrame) -> pd.DataFrame:
    """One row an item, indexed by `item_id`, from its first readout of the base prompt: `margin` (p1 - p2 among the options),
    `entropy_bits` of those shares, `n_options`, `base_correct`. `readouts` are rows of one model and one extractor that
    gives `probabilities` ([[option, share], ...] or that as JSON). NaN where there are none."""
    base = readouts[readouts["variant"] == BASE].drop_duplicates("item_id")
    shares = [_shares(given) for given in base["probabilities"]]
    return pd.DataFrame({
        "margin": [np.nan if p.size < 2 else p[0] - p[1] for p in shares],
        "entropy_bits": [-(p[p > 0] * np.log2(p[p > 0])).sum() if p.size else np.nan for p in shares],
        "n_options": [float(p.size) if p.size else np.nan for p in shares],
        "base_correct": base["is_correct"].astype("Float64").astype(float).to_numpy(),
    }, index=pd.Index(base["item_id"], name="item_id"))


def _shares(given) -> np.ndarray:
    """Shares in falling order, summing to 1; empty where nothing is known."""
    pairs = json.loads(given) if isinstance(given, str) else given
    p = np.sort(np.array([share for _, share in pairs], dtype=float))[::-1]
    return p / p.sum() if p.sum() > 0 else np.empty(0)


def prediction_rows(answers: CodedAnswers, extractor: str, features: pd.DataFrame, *, policy: str = "own_class",
                    axes: Sequence[str] | None = None) -> pd.DataFrame:
    """One row an item and axis where T_i is defined: `item_id`, `axis`, `flipped` (T_i > 0) and the columns of `features`
    (indexed by item id)."""
    parts = []
    for axis in axes or [name for name in answers.axes if name != IDENTITY]:
        rate = between(answers.cell(axis, extractor), policy).rate
        defined = ~np.isnan(rate)
        parts.append(pd.DataFrame({"item_id": answers.items[defined], "axis": axis,
                                   "flipped": (rate[defined] > 0).astype(int)}))
    if not parts:
        return pd.DataFrame(columns=["item_id", "axis", "flipped", *features.columns])
    return pd.concat(parts, ignore_index=True).join(features, on="item_id")
