"""Sentences about a plan: the items that a rule needs for a power, or why there is no such plan.

The power is that of the rule itself.
"""

import math
from functools import lru_cache

from flipcore.claims.claim import Claim, description
from flipcore.stats.base.estimate import percent_text
from flipcore.stats.base.power import n_for_gap, n_to_author
from flipcore.stats.holdout.planning import MOST, Plan, detectable_margin, equivalence_plan
from flipcore.stats.memory.gap_power import GapDesign, detectable_gap, detectable_sentence


def equality_plan(accuracy: float, margin: float, power: float = 0.8) -> Claim:
    """Count the items per set that show two equal accuracies equivalent within a margin."""
    return _claim(equivalence_plan(accuracy, margin, power), "shows equivalence", power)


def _claim(plan: Plan, finding: str, power: float) -> Claim:
    if plan.n is None:
        sentence = (
            f"Not even {MOST:,} items a set reach {percent_text(power)}: the rule then {finding} "
            f"in {percent_text(plan.power)}."
        )
        return description(sentence, "impossible", power=plan.power)
    sentence = (
        f"{plan.n:,} items a set: the rule then {finding} in {percent_text(plan.power)} of studies."
    )
    detail = "Exact power of the rule that the Holdout page uses."
    return description(sentence, "plan", detail=detail, n=plan.n, power=plan.power)


def gap_design(n_benchmark: int, n_control: int, control: str) -> Claim:
    """Return the least drop gap that two sets show four times in five, by this control's rule."""
    gap = _detectable_gap(n_benchmark, n_control, control)
    sentence = detectable_sentence(_design(n_benchmark, n_control, control), gap)
    detail = "Simulated at accuracy 0.70 where rewriting alone changes a tenth of the answers."
    return description(sentence, "plan", detail=detail, gap=gap)


# A page asks again at every rerun, and a simulation takes seconds.
@lru_cache(maxsize=64)
def _detectable_gap(n_benchmark: int, n_control: int, control: str) -> float:
    return detectable_gap(_design(n_benchmark, n_control, control), n_runs=60)


def _design(n_benchmark: int, n_control: int, control: str) -> GapDesign:
    return GapDesign((n_benchmark, n_control), (0.7, 0.7), 0.1, 0.1, control)


def equality_design(n_target: int, n_retro: int) -> Claim:
    """Return the margin within which two sets of equal accuracy are shown alike."""
    # The smaller set limits what both can show.
    n = min(n_target, n_retro)
    margin = detectable_margin(0.7, min(n, MOST))
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

    `gap`, `drop` and `coverage` are shares, `gains` that of answers which rewriting alone sets
    right.
    """
    if gap + drop > 1:
        sentence = (
            f"No benchmark can drop by {100 * (gap + drop):.0f} points: lower the gap or the drop "
            "on the control."
        )
        return description(sentence, "impossible")
    # As many wrong answers as rewriting alone sets right must outweigh them, so gains count twice.
    n = n_for_gap(gap, gap + drop + 2 * gains, gap + drop, drop + 2 * gains, drop, power=power)
    if not math.isfinite(n) or n < 1:
        return description(
            "Such a gap has no plan: every item changes alike, so lower the gap.", "impossible"
        )
    # The approximation says nothing of fewer items.
    n = max(n, 10)
    sentence = (
        f"{n:,.0f} rewritten items a set, so {n_to_author(n, coverage):,.0f} items to start from."
    )
    detail = "Normal approximation, two-sided at 5%, of one detector alone."
    return description(sentence, "plan", detail=detail, n=n)
