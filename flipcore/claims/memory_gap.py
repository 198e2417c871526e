"""Claims about a drop gap: how much more accuracy rewriting costs the benchmark than its control.

The meaning of a gap depends on the kind of control, so the sentence names it.
"""

import math
from dataclasses import replace

from flipcore.claims.claim import Assertion, Claim, description
from flipcore.stats.base.estimate import Estimate, number_text, p_text
from flipcore.stats.memory.gap_decision import CALIBRATED, OTHER, PAIRED, RANDOM, GapDecision
from flipcore.stats.memory.published_score import RANDOM as RANDOM_SCORE
from flipcore.stats.memory.published_score import ScoreGap
from flipcore.text.counts import in_a_row

FAMILY = "all detectors of all models of a study, Holm"
MEMORY = "memory"
LOSES_MORE = "loses more"
NONE_BEYOND = "none beyond the margin"
WITHIN = "loss within the margin"
NONE_SHOWN = "none shown"
UNDECIDED = "undecided"
NO_CLAIM = "no claim"
MARGIN = 0.05  # of a gap, as a share
FAMILY_LEVEL = 0.05

# Worlds of the claims ledger (tests/lab/claims) in which benchmark and control have the same
# distribution, so that any gap is chance.
_NULL_WORLDS = (
    "nothing changing",
    "rare events",
    "brittle both",
    "clean with noise",
    "several rewrites",
    "templated items",
)
# Worlds in which they differ in difficulty, which can look like memory.
_DIFFICULTY_WORLDS = (
    "brittle, .9 v .5",
    "logit shift, easier benchmark",
    "logit shift, harder benchmark",
    "additive loss, .9 v .5",
    "chance floor 1/4",
    "chance floor, .9 v .5",
)
GAP_RANDOM = Assertion(
    "memory by drop gap, random control",
    "rewriting costs the benchmark more than a random half of the same source: memory",
    error_rate=0.025,
    sides=1,
    family=FAMILY,
    worlds=(*_NULL_WORLDS, "chance floor 1/4"),
)
GAP_PAIRED = Assertion(
    "memory by drop gap, paired control",
    (
        "rewriting costs benchmark items more than the controls that they are paired with: "
        "memory, if the pairs are equally hard"
    ),
    error_rate=0.025,
    sides=1,
    family=FAMILY,
    worlds=("nothing changing", "rare events", "brittle both", "pairs of one difficulty"),
)
GAP_OTHER = Assertion(
    "loses more than the control",
    "the benchmark loses more than the control in points, in share kept and in odds",
    error_rate=0.025,
    sides=1,
    family=FAMILY,
    worlds=(*_NULL_WORLDS, *_DIFFICULTY_WORLDS, "wrong keys in the control, 8 %"),
)
GAP_WITHIN = Assertion(
    "no gap beyond the margin",
    "the gap is smaller than the margin",
    error_rate=0.05,
    sides=1,
    family="each claim",
    worlds=(
        "gap at the margin",
        "gap at the margin, rare events",
        "gap at the margin, several rewrites",
        "gap at the margin, pairs",
        "wrong keys hide memory that rewriting breaks",
    ),
)
NO_MEMORY = Assertion(
    "no memory beyond the margin",
    (
        "memory raises the published score by less than the margin above that of a control which "
        "was never published"
    ),
    error_rate=0.05,
    sides=1,
    family="each claim",
    worlds=(
        "memory that survives rewriting, 25 pp",
        "memory that survives rewriting, at the margin",
        "memory that rewriting breaks, at the margin",
        "half survives, at the margin",
        "wrong keys hide memory that rewriting breaks",
        "the control was read too, and nobody declares it unpublished",
    ),
)
ASSERTIONS = (GAP_RANDOM, GAP_PAIRED, GAP_OTHER, GAP_WITHIN, NO_MEMORY)
# Controls of known dose are also paired with the benchmark's items.
_ASSERTION = {RANDOM: GAP_RANDOM, PAIRED: GAP_PAIRED, CALIBRATED: GAP_PAIRED, OTHER: GAP_OTHER}
CONTROL_TITLES = {
    RANDOM: "a random split of the same source",
    PAIRED: "paired 1:1 with the benchmark's items",
    CALIBRATED: "calibrated on known doses of this model",
    OTHER: "from elsewhere",
}
# Start of the sentence, and the control's name. "If", because pairs of equal mean difficulty whose
# spread differs can show a gap without memory.
_WORDS_BY_CONTROL = {
    RANDOM: ("Memory", "random control"),
    PAIRED: ("Memory, if the pairs are equally hard", "paired controls"),
    CALIBRATED: ("Memory", "controls of known dose"),
}
CAUTION = "Unequal difficulty can do the same."


def gap_claim(
    decision: GapDecision,
    margin: float = MARGIN,
    adjusted: float | None = None,
    n_family: int = 1,
    score: ScoreGap | None = None,
) -> Claim:
    """Return the verdict of one drop gap.

    `adjusted` is its p after Holm over `n_family` detectors (`memory.adjusted`), compared with
    .05; None if the gap is the only test. `margin` is a share. `score` is the published score of
    the same items: a gap alone bounds what rewriting costs, both together bound memory.
    """
    # The verdict must also hold without the items that only the rewriting got right.
    if decision.without_mended:
        claim = gap_claim(replace(decision, without_mended=None), margin, adjusted, n_family, score)
        claim_without_mended = gap_claim(decision.without_mended, margin, adjusted, n_family, score)
        drops_benchmark_items = decision.without_mended.units[0] < decision.units[0]
        side = "benchmark" if drops_benchmark_items else "control"
        remaining_gap = decision.without_mended.gap.text_points()
        detail = (
            f"{claim.detail} Without the {side} items that only the rewriting got right: "
            f"{remaining_gap}."
        )
        claim = replace(claim, detail=detail)
        # An item that is right only after rewriting may have a wrong key, which can hide or fake
        # a gap.
        if claim.is_made and claim_without_mended.outcome != claim.outcome:
            n_benchmark, n_control = decision.mended
            return claim.not_claimed(
                f"rewriting mended {n_benchmark:,} benchmark and {n_control:,} control items, as "
                "wrong keys do, and the verdict does not hold without them."
            )
        return claim
    assertion = _ASSERTION[decision.control]
    numbers = {
        "gap": decision.gap,
        "p": decision.p,
        "p_adjusted": decision.p if adjusted is None else adjusted,
    }
    if decision.withheld:
        claim = Claim(assertion, NO_CLAIM, "No verdict on the drop gap.", numbers=numbers)
        return claim.not_claimed(decision.withheld)
    detail = _detail(decision, adjusted, n_family)
    if decision.is_larger:
        if adjusted is not None and adjusted > FAMILY_LEVEL:
            sentence = (
                f"Undecided: rewriting costs the benchmark {decision.gap.text_points()} more than "
                f"its control by this test alone, and {holm_text(adjusted, n_family)}."
            )
            return Claim(assertion, UNDECIDED, sentence, detail=detail, numbers=numbers)
        outcome, sentence = _shown_gap(decision)
        return Claim(assertion, outcome, sentence, asserted=True, detail=detail, numbers=numbers)
    # Two one-sided tests at .05 are a 90% interval within the margin.
    low, high = decision.gap_90.low, decision.gap_90.high
    if -margin < low and high < margin:
        assertion, outcome, sentence = _bounded_gap(decision, margin, score)
        return Claim(assertion, outcome, sentence, asserted=True, detail=detail, numbers=numbers)
    outcome, sentence = _open_gap(decision, margin)
    return Claim(assertion, outcome, sentence, detail=detail, numbers=numbers)


def _shown_gap(decision: GapDecision) -> tuple[str, str]:
    """Return outcome and sentence of a gap that is shown."""
    gap = decision.gap.text_points()
    # A control from elsewhere may differ in difficulty, so a gap need not be memory.
    if decision.control == OTHER:
        sentence = f"The benchmark loses more than the control: {gap}, and on all three scales."
        return LOSES_MORE, f"{sentence} {CAUTION}"
    start, control = _WORDS_BY_CONTROL[decision.control]
    costs = f"rewriting costs the benchmark more than its {control}, {gap}"
    return MEMORY, f"{start}: {costs} ({p_text(decision.p)})."


def _bounded_gap(
    decision: GapDecision, margin: float, score: ScoreGap | None
) -> tuple[Assertion, str, str]:
    """Return assertion, outcome and sentence of a gap that is within the margin."""
    cost = bound_text(decision.gap_90.high)
    # Memory that survives rewriting makes no gap, so a gap alone does not bound memory. Nor does a
    # control from a published set: if the model has read both, gap and score stay at 0.
    is_score_bounded = score is not None and score.control == RANDOM_SCORE and score.high < margin
    if decision.control == RANDOM and score and is_score_bounded and score.is_unpublished:
        sentence = (
            f"No memory beyond {number_text(100 * margin, 0)} points, against a control that was "
            f"never published: at most {cost} more lost by rewriting, at most "
            f"{bound_text(score.high)} higher as published (one-sided 95%)."
        )
        return NO_MEMORY, NONE_BEYOND, sentence
    start = f"Rewriting costs the benchmark at most {cost} more than its control (one-sided 95%)."
    unseen = "Memory that survives rewriting is not seen by this."
    if decision.control == OTHER:
        unseen = "Memory that survives rewriting, or that unequal difficulty hides, is not seen."
    elif decision.control == RANDOM and is_score_bounded:
        unseen = "Memory of both sets is not seen: the control may have been published too."
    return GAP_WITHIN, WITHIN, f"{start} {unseen}"


def holm_text(adjusted: float, n_family: int) -> str:
    """Return words for a p that is corrected over the family."""
    return f"{p_text(adjusted)} by Holm over {n_family} tests"


def bound_text(high: float) -> str:
    """Return an upper limit, given as a share, in points."""
    # Rounded up, so that the printed limit is never lower than the true one.
    return f"{number_text(math.ceil(1000 * high - 1e-9) / 10, 1)} points"


def _open_gap(decision: GapDecision, margin: float) -> tuple[str, str]:
    """Return outcome and sentence of a gap that is neither shown nor bounded."""
    gap, size = decision.gap.text_points(), number_text(100 * margin, 0)
    if decision.control == OTHER:
        losing = [test.scale for test in decision.scales if test.loses_more]
        not_losing = [test.scale for test in decision.scales if not test.loses_more]
        # Sets of unequal difficulty can differ on one scale alone, so all of them must agree.
        if losing:
            sentence = (
                f"Undecided: the benchmark loses more in {in_a_row(losing)}, but not in "
                f"{in_a_row(not_losing)}. {CAUTION}"
            )
            return UNDECIDED, sentence
        return NONE_SHOWN, f"No larger loss than the control's is shown: {gap}."
    # The interval is below the margin but not within it, so it reaches below -margin.
    if decision.gap_90.high < margin:
        return NONE_SHOWN, f"No memory shown: the benchmark loses less than the control, {gap}."
    figures = f"{gap} ({p_text(decision.p)})"
    return NONE_SHOWN, f"No memory shown: {figures}; {size} points cannot be ruled out."


def _detail(decision: GapDecision, adjusted: float | None, n_family: int) -> str:
    """Return the small print: sizes, kind of control, scales, and the corrected p."""
    n_benchmark, n_control = decision.units
    if decision.families:
        size = f"{n_benchmark:,} benchmark and {n_control:,} control families of items"
    elif decision.control in (PAIRED, CALIBRATED):
        size = f"{n_benchmark:,} pairs"
    else:
        size = f"{n_benchmark:,} benchmark and {n_control:,} control items"
    detail = f"{size}; the control is {CONTROL_TITLES[decision.control]}."
    if decision.control == RANDOM and decision.is_larger:
        detail += (
            " It rests on that: a set that is easier or harder from the start can lose more "
            "without any memory."
        )
    detail += f" {decision.note}" if decision.note else ""
    if decision.scales:
        scales = "; ".join(
            f"{scale_test.scale} {number_text(scale_test.value, 2, sign=True)} "
            f"[{number_text(scale_test.low, 2, sign=True)}, "
            f"{number_text(scale_test.high, 2, sign=True)}]"
            for scale_test in decision.scales
        )
        detail += f" {scales} (share kept and odds as differences of logarithms)."
    if adjusted is not None and n_family > 1:
        detail += f" {holm_text(adjusted, n_family)}."
    return detail


def old_rule(perm_p: float, cond_gap: Estimate) -> Claim:
    """Describe the numbers of the withdrawn decision rule, which decides nothing any more."""
    return description(
        f"The rule of an earlier release, for comparison: permutation {p_text(perm_p)} and gap "
        f"among items answered right before {cond_gap.text_points()}.",
        perm_p=perm_p,
        cond_gap=cond_gap,
    )


def source_rule(gap: Estimate, *, is_literal: bool, is_directional: bool) -> Claim:
    """Describe the source's rule: its bootstrap interval excludes 0 (`is_literal`) or not.

    `is_directional` is True if it would also flag as a one-sided test.
    """
    verdict = "excludes" if is_literal else "includes"
    caution = ""
    if is_literal and not is_directional:
        caution = " As a one-sided test it would not flag: the gap is negative."
    return description(
        f"The source's rule, for comparison: its bootstrap interval {verdict} 0, gap "
        f"{gap.text_points()}.{caution}",
        gap=gap,
    )
