"""What may be said of a drop gap. It depends on what the control is, and the sentence says so."""

import math
from dataclasses import replace

from flipcore.claims.claim import Assertion, Claim, description
from flipcore.stats.base.estimate import Estimate, number_text, p_text
from flipcore.stats.memory.gap_decision import CALIBRATED, OTHER, PAIRED, RANDOM, GapDecision
from flipcore.stats.memory.published_score import RANDOM as RANDOM_SCORE
from flipcore.stats.memory.published_score import ScoreGap

FAMILY = "all detectors of all models of a study, Holm"
MEMORY, LOSES_MORE, NONE_BEYOND, WITHIN, NONE_SHOWN, UNDECIDED, NO_CLAIM = (
    "memory",
    "loses more",
    "none beyond the margin",
    "loss within the margin",
    "none shown",
    "undecided",
    "no claim",
)
MARGIN = 0.05
FAMILY_LEVEL = 0.05

_ONE_LAW = (
    "nothing changing",
    "rare events",
    "brittle both",
    "clean with noise",
    "several rewrites",
    "templated items",
)
_UNLIKE = (
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
    0.025,
    1,
    FAMILY,
    (*_ONE_LAW, "chance floor 1/4"),
)
GAP_PAIRED = Assertion(
    "memory by drop gap, paired control",
    "rewriting costs benchmark items more than the controls that they are paired with: memory, if "
    "the pairs are equally hard",
    0.025,
    1,
    FAMILY,
    ("nothing changing", "rare events", "brittle both", "pairs of one difficulty"),
)
GAP_OTHER = Assertion(
    "loses more than the control",
    "the benchmark loses more than the control in points, in share kept and in odds",
    0.025,
    1,
    FAMILY,
    (*_ONE_LAW, *_UNLIKE, "wrong keys in the control, 8 %"),
)
GAP_WITHIN = Assertion(
    "no gap beyond the margin",
    "the gap is smaller than the margin",
    0.05,
    1,
    "each claim",
    (
        *(
            f"gap at the margin{more}"
            for more in ("", ", rare events", ", several rewrites", ", pairs")
        ),
        "wrong keys hide memory that rewriting breaks",
    ),
)
NO_MEMORY = Assertion(
    "no memory beyond the margin",
    "memory raises the published score by less than the margin above that of a control which was "
    "never published",
    0.05,
    1,
    "each claim",
    (
        "memory that survives rewriting, 25 pp",
        "memory that survives rewriting, at the margin",
        "memory that rewriting breaks, at the margin",
        "half survives, at the margin",
        "wrong keys hide memory that rewriting breaks",
        "the control was read too, and nobody declares it unpublished",
    ),
)
ASSERTIONS = (GAP_RANDOM, GAP_PAIRED, GAP_OTHER, GAP_WITHIN, NO_MEMORY)
_ASSERTS = {RANDOM: GAP_RANDOM, PAIRED: GAP_PAIRED, CALIBRATED: GAP_PAIRED, OTHER: GAP_OTHER}
CONTROL_TITLES = {
    RANDOM: "a random split of the same source",
    PAIRED: "paired 1:1 with the benchmark's items",
    CALIBRATED: "calibrated on known doses of this model",
    OTHER: "from elsewhere",
}
_MEMORY = {  # pairs of one mean difficulty and another spread lose differently without any memory
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
    """The verdict of one drop gap. `adjusted` is its p after Holm over `n_family` detectors, on the scale of a family at .05
    (`memory.adjusted`); without it the gap stands alone. `score` is the published score of the same items: a gap bounds what
    rewriting costs, and only both together bound memory."""
    if decision.without_mended:
        claim = gap_claim(replace(decision, without_mended=None), margin, adjusted, n_family, score)
        other = gap_claim(decision.without_mended, margin, adjusted, n_family, score)
        bound = decision.without_mended.gap.text_points()
        claim = replace(
            claim,
            detail=f"{claim.detail} Without the items that rewriting mended on the side with more: "
            f"{bound}.",
        )
        first, second = decision.mended
        why = (
            f"rewriting mended {first:,} benchmark and {second:,} control items, as wrong keys "
            "do, and the verdict does not hold "
            "without them."
        )
        return claim.not_claimed(why) if claim.is_made and other.outcome != claim.outcome else claim
    numbers = {
        "gap": decision.gap,
        "p": decision.p,
        "p_adjusted": decision.p if adjusted is None else adjusted,
    }
    if decision.withheld:
        claim = Claim(
            _ASSERTS[decision.control],
            NO_CLAIM,
            "No verdict on the drop gap.",
            False,
            "",
            "",
            numbers,
        )
        return claim.not_claimed(decision.withheld)
    detail = _detail(decision, adjusted, n_family)
    if decision.is_larger:
        if adjusted is not None and adjusted > FAMILY_LEVEL:
            sentence = (
                f"Undecided: rewriting costs the benchmark {decision.gap.text_points()} more than "
                "its control by this test alone, and "
                f"{holm_text(adjusted, n_family)}."
            )
            return Claim(
                _ASSERTS[decision.control], UNDECIDED, sentence, False, detail, "", numbers
            )
        return Claim(_ASSERTS[decision.control], *_larger(decision), True, detail, "", numbers)
    low, high = decision.gap_90.low, decision.gap_90.high
    if -margin < low and high < margin:
        return Claim(*_within(decision, margin, score), True, detail, "", numbers)
    return Claim(_ASSERTS[decision.control], *_open(decision, margin), False, detail, "", numbers)


def _larger(decision: GapDecision) -> tuple[str, str]:
    gap = decision.gap.text_points()
    if decision.control == OTHER:
        return (
            LOSES_MORE,
            f"The benchmark loses more than the control: {gap}, and on all three scales. {CAUTION}",
        )
    start, control = _MEMORY[decision.control]
    return (
        MEMORY,
        f"{start}: rewriting costs the benchmark more than its {control}, {gap} "
        f"({p_text(decision.p)}).",
    )


def _within(
    decision: GapDecision, margin: float, score: ScoreGap | None
) -> tuple[Assertion, str, str]:
    """The bound that decided. Memory that survives rewriting moves no gap, so that a gap alone bounds no memory.

    Nor does a random half of a published set: what was read of both halves moves neither the gap nor the score."""
    cost = bound_text(decision.gap_90.high)
    is_bounded = score is not None and score.control == RANDOM_SCORE and score.high < margin
    if decision.control == RANDOM and score and is_bounded and score.is_unpublished:
        beyond = (
            f"No memory beyond {number_text(100 * margin, 0)} points, against a control that was "
            "never published"
        )
        sentence = f"{beyond}: at most {cost} more lost by rewriting, "
        return (
            NO_MEMORY,
            NONE_BEYOND,
            f"{sentence}at most {bound_text(score.high)} higher as published (one-sided 95%).",
        )
    start = f"Rewriting costs the benchmark at most {cost} more than its control (one-sided 95%)."
    if decision.control == OTHER:
        return (
            GAP_WITHIN,
            WITHIN,
            f"{start} Memory that survives rewriting, or that unequal difficulty hides, is not "
            "seen.",
        )
    unseen = f"{start} Memory that survives rewriting is not seen by this."
    if decision.control == RANDOM and is_bounded:
        unseen = (
            f"{start} Memory of both sets is not seen: the control may have been published too."
        )
    return GAP_WITHIN, WITHIN, unseen


def holm_text(adjusted: float, n_family: int) -> str:
    """A p over the family, where the p alone is not what decides."""
    return f"{p_text(adjusted)} by Holm over {n_family} tests"


def bound_text(high: float) -> str:
    """An upper limit in points, rounded away from 0 so that it is never printed as less than it is."""
    return f"{number_text(math.ceil(1000 * high - 1e-9) / 10, 1)} points"


def _open(decision: GapDecision, margin: float) -> tuple[str, str]:
    gap, size = decision.gap.text_points(), number_text(100 * margin, 0)
    if decision.control == OTHER:
        more = [one.scale for one in decision.scales if one.is_lower]
        if more:
            rest = [one.scale for one in decision.scales if not one.is_lower]
            return (
                UNDECIDED,
                f"Undecided: the benchmark loses more in {_and(more)}, but not in {_and(rest)}. "
                f"{CAUTION}",
            )
        return NONE_SHOWN, f"No larger loss than the control's is shown: {gap}."
    if decision.gap_90.high < margin:
        return NONE_SHOWN, f"No memory shown: the benchmark loses less than the control, {gap}."
    return (
        NONE_SHOWN,
        f"No memory shown: {gap} ({p_text(decision.p)}); {size} points cannot be ruled out.",
    )


def _and(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _detail(decision: GapDecision, adjusted: float | None, n_family: int) -> str:
    first, second = decision.units
    unit = (
        "families of items"
        if decision.families
        else "pairs"
        if decision.control in (PAIRED, CALIBRATED)
        else "items"
    )
    n = (
        f"{first:,} {unit}"
        if unit == "pairs"
        else f"{first:,} benchmark and {second:,} control {unit}"
    )
    detail = f"{n}; the control is {CONTROL_TITLES[decision.control]}."
    if decision.control == RANDOM and decision.is_larger:
        detail += (
            " It rests on that: a set that is easier or harder from the start can lose more "
            "without any memory."
        )
    detail += f" {decision.note}" if decision.note else ""
    if decision.scales:
        scales = "; ".join(
            f"{one.scale} {number_text(one.value, 2, sign=True)} "
            f"[{number_text(one.low, 2, sign=True)}, "
            f"{number_text(one.high, 2, sign=True)}]"
            for one in decision.scales
        )
        detail += f" {scales} (share kept and odds as differences of logarithms)."
    if adjusted is not None and n_family > 1:
        detail += f" {holm_text(adjusted, n_family)}."
    return detail


def old_rule(perm_p: float, cond_gap: Estimate) -> Claim:
    """The earlier decision, withdrawn: its two numbers, described and deciding nothing."""
    return description(
        f"The rule of an earlier release, for comparison: permutation {p_text(perm_p)} and gap "
        "among items answered right before "
        f"{cond_gap.text_points()}.",
        perm_p=perm_p,
        cond_gap=cond_gap,
    )


def source_rule(gap: Estimate, literal: bool, directional: bool) -> Claim:
    """The source's rule as it reads: whether its bootstrap interval excludes 0. Described, and deciding nothing."""
    verdict = "excludes" if literal else "includes"
    twist = (
        " As a one-sided test it would not flag: the gap is negative."
        if literal and not directional
        else ""
    )
    return description(
        f"The source's rule, for comparison: its bootstrap interval {verdict} 0, gap "
        f"{gap.text_points()}.{twist}",
        gap=gap,
    )
