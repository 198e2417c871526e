"""Sentences of a plan: how many items a decision rule needs for a given power, or why none do."""

import math
from functools import lru_cache

from flipcore.claims.claim import Claim, description
from flipcore.stats.base.estimate import percent_text
from flipcore.stats.base.power import n_for_gap, n_to_author
from flipcore.stats.holdout.planning import MAX_ENTRIES, detectable_margin, equivalence_plan
from flipcore.stats.memory.gap_power import GapDesign, detectable_gap, detectable_sentence


def equality_plan(accuracy: float, margin: float, power: float = 0.8) -> Claim:
    """Count the items per set that show equal accuracies within a margin; all are shares."""
    plan = equivalence_plan(accuracy, margin, power)
    if plan.n is None:
        sentence = (
            f"Not even {MAX_ENTRIES:,} items a set reach {percent_text(power)}: the rule then "
            f"shows equivalence in {percent_text(plan.power)}."
        )
        return description(sentence, "impossible", power=plan.power)
    sentence = (
        f"{plan.n:,} items a set: the rule then shows equivalence in "
        f"{percent_text(plan.power)} of studies."
    )
    detail = "Exact power of the rule that the Holdout page uses."
    return description(sentence, "plan", detail=detail, n=plan.n, power=plan.power)


def gap_design(n_benchmark: int, n_control: int, control: str) -> Claim:
    """Return the smallest drop gap that two sets show four times in five, by the control's rule."""
    gap = _detectable_gap(n_benchmark, n_control, control)
    sentence = detectable_sentence(_design(n_benchmark, n_control, control), gap)
    detail = "Simulated at accuracy 0.70 where rewriting alone changes a tenth of the answers."
    return description(sentence, "plan", detail=detail, gap=gap)


# Cached, because a page calls this at every rerun and a simulation takes seconds.
@lru_cache(maxsize=64)
def _detectable_gap(n_benchmark: int, n_control: int, control: str) -> float:
    return detectable_gap(_design(n_benchmark, n_control, control), n_runs=60)


def _design(n_benchmark: int, n_control: int, control: str) -> GapDesign:
    return GapDesign((n_benchmark, n_control), (0.7, 0.7), breaks=0.1, fixes=0.1, control=control)


def equality_design(n_target: int, n_retro: int) -> Claim:
    """Return the margin within which two sets of equal accuracy are shown equivalent."""
    # The smaller set limits what both can show.
    n = min(n_target, n_retro)
    margin = detectable_margin(0.7, min(n, MAX_ENTRIES))
    if math.isnan(margin):
        return description(
            f"With {n:,} items in the smaller set no margin up to 50 points can be shown.",
            "impossible",
        )
    sentence = (
        f"Two sets of equal accuracy are shown alike within {100 * margin:.0f} points four times "
        f"in five, from {n:,} items a set."
    )
    detail = "Exact power of the rule that the Holdout page uses, at accuracy 0.70."
    return description(sentence, "plan", detail=detail, margin=margin)


def gap_plan(
    gap: float, drop: float, coverage: float, power: float = 0.8, gains: float = 0.0
) -> Claim:
    """Count the rewritten items per set for a drop gap, by the normal approximation.

    `drop` is the control's drop and `gap` what the benchmark drops beyond it. `coverage` is the
    share of items that can be rewritten, and `gains` that of answers which only rewriting makes
    right. All are shares.
    """
    if gap + drop > 1:
        sentence = (
            f"No benchmark can drop by {100 * (gap + drop):.0f} points: lower the gap or the drop "
            "on the control."
        )
        return description(sentence, "impossible")
    # An equal share of losses must make up for the gains, so the changed answers include both.
    n = n_for_gap(gap, gap + drop + 2 * gains, gap + drop, drop + 2 * gains, drop, power=power)
    if not math.isfinite(n) or n < 1:
        return description(
            "Such a gap has no plan: every item changes alike, so lower the gap.", "impossible"
        )
    # The normal approximation does not hold for fewer items.
    n = max(n, 10)
    sentence = (
        f"{n:,.0f} rewritten items a set, so {n_to_author(n, coverage):,.0f} items to start from."
    )
    detail = "Normal approximation, two-sided at 5%, of one detector alone."
    return description(sentence, "plan", detail=detail, n=n)
