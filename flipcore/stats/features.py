"""What the flip predictor is told of an item before anything is varied: the base prompt's first token, length, correctness."""

from __future__ import annotations

import numpy as np
import pandas as pd

from flipcore.stats import surface


def predictor_rows(frame: pd.DataFrame, base: pd.DataFrame, extractor: str) -> pd.DataFrame:
    """One row an item and axis, as `predictor.flip_prediction` wants them.

    `frame`: readouts of one model. `base`: one row an item with `item_id`, `probabilities` (its first-token shares on the
    options), `n_options`, `n_prompt_chars`, `is_correct`, of the base prompt's first sample."""
    cells = surface.surface(frame, extractor)
    rates = pd.DataFrame(cells.rate, index=cells.items, columns=cells.columns).drop(columns="identity", errors="ignore")
    long = rates.rename_axis("item_id").reset_index().melt("item_id", var_name="axis", value_name="rate")
    known = base.drop_duplicates("item_id").copy()
    shares = [np.sort(np.asarray(row, dtype=float))[::-1] for row in known["probabilities"]]
    known["margin"] = [row[0] - row[1] if row.size > 1 else np.nan for row in shares]
    known["entropy_bits"] = [_entropy(row) for row in shares]
    known["n_prompt_tokens"] = known["n_prompt_chars"] / 4
    known["base_correct"] = known["is_correct"].astype(float)
    rows = long.merge(known, on="item_id", how="inner")
    rows["flipped"] = np.where(rows["rate"].isna(), np.nan, (rows["rate"] > 0).astype(float))
    return rows


def _entropy(shares: np.ndarray) -> float:
    """Bits over the options' shares, normalised to sum to 1; NaN without any."""
    total = shares.sum()
    if not total > 0:
        return float("nan")
    p = shares[shares > 0] / total
    return float(-(p * np.log2(p)).sum())
