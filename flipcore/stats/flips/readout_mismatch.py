"""How often two readouts of the same variant and sample give different answers (arXiv:2402.14499 calls it mismatch).

Reported twice: with unreadable as an answer of its own, and among answers that both read. An
extractor that reads little disagrees much in the first and may agree in the second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from flipcore.core.records import ABSENT, CUT
from flipcore.stats.base.estimate import MIN_N, Estimate
from flipcore.stats.base.intervals import mean_interval

_UNREADABLE = "\0unreadable"


@dataclass(frozen=True)
class Disagreements:
    """`share[i, j]` of the rows present under both; NaN without one. `estimates` carry the interval over items (families of
    items); `both_read` is the same on the rows where both extractors read an answer, `n_both_read` of them."""

    extractors: list[str]
    share: np.ndarray
    estimates: dict[tuple[str, str], Estimate]
    n_rows: dict[tuple[str, str], int]
    unreadable: dict[str, float]
    absent: dict[str, float]
    both_read: dict[tuple[str, str], Estimate]
    n_both_read: dict[tuple[str, str], int]

    def sentence(self, title_of: Callable[[str], str]) -> str:
        worst = max(self.estimates, key=lambda pair: np.nan_to_num(self.estimates[pair].value, nan=-1.0))
        estimate = self.estimates[worst]
        return (
            f"{title_of(worst[0])} and {title_of(worst[1]).lower()} disagree most: on {estimate.text()} of the answers to "
            f"the same prompt ({estimate.n:,} items){self._among_read(worst)}."
        )

    def _among_read(self, pair: tuple[str, str]) -> str:
        """The second number, where it is not the first."""
        if self.n_both_read[pair] == self.n_rows[pair]:
            return ""
        return f"; {self.both_read[pair].text()} where both read an answer"

    def table(self, title_of: Callable[[str], str]) -> pd.DataFrame:
        return pd.DataFrame(
            [
                {
                    "extractors": f"{title_of(a)} v {title_of(b).lower()}",
                    "differ": estimate.text(),
                    "answers": self.n_rows[a, b],
                    "differ, both read": self.both_read[a, b].text(),
                    "answers, both read": self.n_both_read[a, b],
                    "items": estimate.n,
                }
                for (a, b), estimate in self.estimates.items()
            ]
        )


def disagreements(frame: pd.DataFrame) -> Disagreements:
    """All pairs of readouts of one model. Absent readouts and answers that were cut off are in no pair."""
    frame = frame.drop_duplicates(["item_id", "variant_id", "sample", "extractor"])
    family_of = dict(zip(frame["item_id"], frame["family"], strict=True)) if "family" in frame else {}
    names = list(frame["extractor"].unique())
    key = ["item_id", "variant_id", "sample"]
    there = frame[~frame["status"].isin((ABSENT, CUT))].assign(readout=lambda f: f["answer"].fillna(_UNREADABLE))
    wide = there.pivot(index=key, columns="extractor", values="readout").reindex(columns=names)
    share = np.full((len(names), len(names)), np.nan)
    np.fill_diagonal(share, 0.0)
    estimates, n_rows, both_read, n_both_read = {}, {}, {}, {}
    for a, b in combinations(range(len(names)), 2):
        both = wide[[names[a], names[b]]].dropna()
        pair, read = (names[a], names[b]), both[(both != _UNREADABLE).all(axis=1)]
        n_rows[pair], n_both_read[pair] = len(both), len(read)
        estimates[pair], both_read[pair] = _differing(both, family_of), _differing(read, family_of)
        share[a, b] = share[b, a] = (both.iloc[:, 0] != both.iloc[:, 1]).mean() if len(both) else np.nan
    counts = frame.groupby(["extractor", "status"]).size().unstack(fill_value=0)
    total = counts.sum(axis=1)
    rate = {
        status: {str(name): float(one) for name, one in (counts[status] / total).items()}
        if status in counts
        else dict.fromkeys(names, 0.0)
        for status in ("unreadable", "absent")
    }
    return Disagreements(names, share, estimates, n_rows, rate["unreadable"], rate["absent"], both_read, n_both_read)


def _differing(pairs: pd.DataFrame, family_of: Mapping[str, str]) -> Estimate:
    """The share of rows whose two answers differ, with its interval over items, or over families where items share one."""
    differ = (pairs.iloc[:, 0] != pairs.iloc[:, 1]).astype(float)
    items = pairs.index.get_level_values("item_id").to_numpy(dtype=object)
    code, names = pd.factorize(items)
    families = np.array([family_of.get(name, name) for name in names], dtype=object)[code]
    if len(set(families)) == len(set(items)):
        return mean_interval(differ.to_numpy(), items)
    few = len(set(families)) < MIN_N
    return mean_interval(differ.to_numpy(), families, kind="default" if few else "clt_cluster")
