"""A difficulty test held against what answers that were cut off could have been (statistics.md, section 16.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flipcore.stats.holdout.verdict import HoldoutTest


def whatever_was_cut(test: HoldoutTest, cases: Sequence[HoldoutTest]) -> HoldoutTest:
    """The test with limits and p that hold in every case: the largest p, and intervals that span all of them."""
    every = (test, *cases)

    def spanned(name: str) -> tuple[float, float]:
        ends = [end for one in every for end in getattr(one, name)]
        return min(ends), max(ends)

    low, high = min(one.estimate.low for one in every), max(one.estimate.high for one in every)
    return replace(
        test,
        p=max(one.p for one in every),
        estimate=replace(test.estimate, low=low, high=high, method="worst cases of cut answers"),
        bound=spanned("bound"),
        outer=spanned("outer"),
    ).against_margin(test.margin)
