"""Accuracy by the harness of source 002 (rotation until one option leads) beside that of a single vote.

A favourite of many votes is right more often than one vote is (statistics.md, F25), so the first never stands alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from flipcore.stats.estimate import Estimate
from flipcore.stats.intervals import SIGNED, mean_interval
from flipcore.stats.rewritten import share_estimate

LED, SINGLE = "rotation", "rotation_single"


@dataclass(frozen=True)
class HarnessAccuracy:
    """`led` by the option that leads in the end, `single` by the first vote, and their paired difference, of `n` items; no
    vote at all is wrong."""

    led: Estimate
    single: Estimate
    difference: Estimate
    n: int

    def sentence(self) -> str:
        return (f"By rotation {self.led.text()} of {self.n:,} choices are right, by a single vote {self.single.text()}: "
                f"{self.difference.text_pp()} from voting alone.")


def harness_accuracy(frame: pd.DataFrame) -> HarnessAccuracy | None:
    """Of one model's readouts (`queries.readouts(..., everything=True)`); None where nothing was asked by rotation."""
    mine = frame[frame["extractor"].isin((LED, SINGLE)) & (frame["status"] != "absent")]
    if mine.empty:
        return None
    right = mine.assign(right=mine["is_correct"].fillna(False).astype(bool).astype(float))
    wide = right.pivot_table(index="item_id", columns="extractor", values="right", sort=False)
    wide = wide.reindex(columns=[LED, SINGLE]).dropna()
    if wide.empty:
        return None
    led, single = (wide[name].to_numpy() for name in (LED, SINGLE))
    shares = [share_estimate(int(np.sum(values)), len(values)) for values in (led, single)]
    return HarnessAccuracy(*shares, mean_interval(led - single, bounds=SIGNED), len(wide))
