"""Claims about a published score above that of the controls or above the hardness curve."""

from typing import Any

from flipcore.claims.claim import Assertion, Claim, description
from flipcore.claims.memory_gap import (
    CAUTION,
    FAMILY,
    FAMILY_LEVEL,
    MEMORY,
    NO_CLAIM,
    NONE_SHOWN,
    UNDECIDED,
    holm_text,
)
from flipcore.stats.base.estimate import p_text
from flipcore.stats.memory.hardness_curve import Excess
from flipcore.stats.memory.published_score import FRESH, RANDOM, ScoreGap
from flipcore.text.counts import with_capital, without_capital

_EQUAL_WORLDS = (
    "equal accuracies",
    "equal accuracies, unequal sets",
    "equal accuracies, ceiling",
    "answers not read",
    "templated items",
)
SCORE_MEMORY = Assertion(
    "memory by published score",
    "the benchmark is answered better as published than a random half of the same source: memory",
    error_rate=0.025,
    sides=1,
    family=FAMILY,
    worlds=(*_EQUAL_WORLDS, "fresh control, 5 pp harder"),
)
SCORE_HIGHER = Assertion(
    "published score above a fresh control",
    "the benchmark is answered better than items written after the model's training",
    error_rate=0.025,
    sides=1,
    family=FAMILY,
    worlds=_EQUAL_WORLDS,
)
ASSERTIONS = (SCORE_MEMORY, SCORE_HIGHER)
HIGHER = "higher than fresh"
FRESH_IS_LOWER = (
    f"The published score is higher than on fresh questions; {without_capital(CAUTION)}"
)
_CONTROLS = {RANDOM: "the random control", FRESH: "fresh questions"}


def score_claim(score: ScoreGap, adjusted: float | None = None, n_family: int = 1) -> Claim:
    """Return the verdict of a published score; `adjusted` and `n_family` as in `gap_claim`."""
    assertion = SCORE_MEMORY if score.control == RANDOM else SCORE_HIGHER
    numbers = {
        "score_gap": score.gap,
        "p": score.p,
        "p_adjusted": score.p if adjusted is None else adjusted,
    }
    if score.withheld:
        claim = Claim(assertion, NO_CLAIM, "No verdict on the published score.", numbers=numbers)
        return claim.not_claimed(score.withheld)
    gap, detail = score.gap.text_points(), _detail(score, adjusted, n_family)
    if score.is_higher and (adjusted is None or adjusted <= FAMILY_LEVEL):
        higher = (
            f"published questions are answered better than {_CONTROLS[score.control]}, {gap} "
            f"({p_text(score.p)})."
        )
        # Fresh questions were written later and may be harder. Only a random half excludes that.
        outcome, sentence = HIGHER, f"{with_capital(higher)} {CAUTION}"
        if score.control == RANDOM:
            outcome, sentence = MEMORY, f"Memory: {higher}"
        return Claim(assertion, outcome, sentence, asserted=True, detail=detail, numbers=numbers)
    if score.is_higher and adjusted is not None:
        p = holm_text(adjusted, n_family)
        sentence = (
            f"Undecided: the published score is {gap} against {_CONTROLS[score.control]} by this "
            f"test alone, and {p}."
        )
        return Claim(assertion, UNDECIDED, sentence, detail=detail, numbers=numbers)
    finding = (
        f"the published score is {gap} against {_CONTROLS[score.control]} ({p_text(score.p)})."
    )
    opening = "No memory shown" if score.control == RANDOM else "No higher score is shown"
    return Claim(assertion, NONE_SHOWN, f"{opening}: {finding}", detail=detail, numbers=numbers)


def _detail(score: ScoreGap, adjusted: float | None, n_family: int) -> str:
    """Return the small print: both scores, unread answers, and the corrected p."""
    benchmark, control = score.benchmark, score.control_accuracy
    detail = (
        f"{benchmark.text_percent()} of {benchmark.n:,} published questions, "
        f"{control.text_percent()} of {control.n:,} controls."
    )
    if score.n_unread:
        detail += (
            f" {score.n_unread:,} answers could not be read; they are taken as right or wrong, "
            "whichever is worse for the claim."
        )
    if adjusted is not None and n_family > 1:
        detail += f" {holm_text(adjusted, n_family)}."
    return detail


# A score above the hardness curve is only described, because its detector was not tested at all
# known doses.
NO_DOSES = (
    "Its false verdicts are simulated, and known doses were tried once, so this is a description."
)
BLIND = (
    "What all reference models have read, too, raises their curve and is not seen; what some have "
    "read widens the interval."
)


def curve_claim(curve: Excess) -> Claim:
    """Give the figures and why they are no verdict, or the condition that is not met."""
    numbers: dict[str, Any] = {"excess": curve.excess, "expected": curve.expected, "p": curve.p}
    if curve.withheld:
        return description("No curve.", "described", **numbers).not_claimed(curve.withheld)
    figures = (
        f"the benchmark score lies {curve.excess.text_points()} from what {curve.n_references} "
        f"reference models expect ({p_text(curve.p)})."
    )
    detail = (
        f"{curve.benchmark.text_percent()} of {curve.benchmark.n:,} benchmark items, "
        f"{curve.expected.text_percent()} expected; {BLIND}"
    )
    # The reason includes the figures, because a withheld claim shows only its reason.
    claim = description(figures, "described", detail=detail, **numbers)
    return claim.not_claimed(f"{figures} {NO_DOSES}")
