"""How often two readouts of the same variant and sample give different answers (arXiv:2402.14499 calls it mismatch)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from flipcore.stats.base.estimate import Estimate
from flipcore.stats.base.intervals import mean_interval


@dataclass(frozen=True)
class Disagreements:
    """`share[i, j]` of the rows present under both; NaN without one. `estimates` carry the interval over items."""

    extractors: list[str]
    share: np.ndarray
    estimates: dict[tuple[str, str], Estimate]
    n_rows: dict[tuple[str, str], int]
    unreadable: dict[str, float]
    absent: dict[str, float]

    def sentence(self, title_of: Callable[[str], str]) -> str:
        worst = max(self.estimates, key=lambda pair: np.nan_to_num(self.estimates[pair].value, nan=-1.0))
        estimate = self.estimates[worst]
        return (
            f"{title_of(worst[0])} and {title_of(worst[1]).lower()} disagree most: on {estimate.text()} of the answers to "
            f"the same prompt ({estimate.n:,} items)."
        )

    def table(self, title_of: Callable[[str], str]) -> pd.DataFrame:
        return pd.DataFrame(
            [
                {
                    "readouts": f"{title_of(a)} v {title_of(b).lower()}",
                    "differ": estimate.text(),
                    "answers": self.n_rows[a, b],
                    "items": estimate.n,
                }
                for (a, b), estimate in self.estimates.items()
            ]
        )


def disagreements(frame: pd.DataFrame) -> Disagreements:
    """All pairs of readouts of one model. Unreadable is an answer of its own; absent readouts are in no pair."""
    frame = frame.drop_duplicates(["item_id", "variant_id", "sample", "extractor"])
    names = list(dict.fromkeys(frame["extractor"]))
    key = ["item_id", "variant_id", "sample"]
    there = frame[frame["status"] != "absent"].assign(said=lambda f: f["answer"].fillna("\0unreadable"))
    wide = there.pivot(index=key, columns="extractor", values="said").reindex(columns=names)
    share = np.full((len(names), len(names)), np.nan)
    np.fill_diagonal(share, 0.0)
    estimates, n_rows = {}, {}
    for a, b in combinations(range(len(names)), 2):
        both = wide[[names[a], names[b]]].dropna()
        differ = (both[names[a]] != both[names[b]]).astype(float)
        n_rows[names[a], names[b]] = len(both)
        estimates[names[a], names[b]] = mean_interval(differ.to_numpy(), both.index.get_level_values("item_id").to_numpy())
        share[a, b] = share[b, a] = differ.mean() if len(both) else np.nan
    counts = frame.groupby(["extractor", "status"]).size().unstack(fill_value=0)
    total = counts.sum(axis=1)
    rate = {
        status: (counts[status] / total).to_dict() if status in counts else dict.fromkeys(names, 0.0)
        for status in ("unreadable", "absent")
    }
    return Disagreements(names, share, estimates, n_rows, rate["unreadable"], rate["absent"])
