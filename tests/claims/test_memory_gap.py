"""The verdict of a drop gap: by the kind of control, beside the published score, and within the margin."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from flipcore.claims.catalogue import BY_NAME
from flipcore.claims.memory_gap import (
    ASSERTIONS,
    CAUTION,
    GAP_OTHER,
    GAP_PAIRED,
    GAP_RANDOM,
    GAP_WITHIN,
    LOSES_MORE,
    MEMORY,
    NO_CLAIM,
    NO_MEMORY,
    NONE_BEYOND,
    NONE_SHOWN,
    UNDECIDED,
    WITHIN,
    bound_text,
    gap_claim,
    holm_text,
    old_rule,
    source_rule,
)
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.memory.gap_decision import CALIBRATED, OTHER, PAIRED, RANDOM, GapDecision
from flipcore.stats.memory.published_score import FRESH, ScoreGap
from flipcore.stats.memory.published_score import RANDOM as RANDOM_SCORE

SHOWN = "+10.0 points [+6.0, +14.0]"


def interval(value, low, high):
    return Estimate(value, low, high, 0.95, "t", 100, None)


def decision_of(value=0.1, half=0.04, p=0.001, control=RANDOM, is_lower=(True, True, True), **more):
    """A gap whose 90% interval is by a fifth narrower than its interval."""
    gap, gap_90 = (interval(value, value - width, value + width) for width in (half, 0.8 * half))
    names = ("points", "share kept", "odds")
    scales = []
    if control == OTHER:
        for name, is_below in zip(names, is_lower, strict=True):
            scales.append(SimpleNamespace(scale=name, value=-0.5, low=-0.9, high=0.25, loses_more=is_below))
    counts = {"units": (1_200, 900), "changed": (30, 10)}
    return GapDecision(control, gap, gap_90, p, scales=tuple(scales), **counts | more)


def score_of(high=0.04, control=RANDOM_SCORE, is_unpublished=True):
    share = interval(0.5, 0.4, 0.6)
    return ScoreGap(control, share, share, interval(0.0, -0.04, high), 0.5, high, is_unpublished=is_unpublished)


@pytest.mark.parametrize(
    ("control", "assertion", "outcome", "sentence"),
    [
        (
            RANDOM,
            GAP_RANDOM,
            MEMORY,
            f"Memory: rewriting costs the benchmark more than its random control, {SHOWN} (p = .001).",
        ),
        (
            PAIRED,
            GAP_PAIRED,
            MEMORY,
            "Memory, if the pairs are equally hard: rewriting costs the benchmark more than its paired controls, "
            f"{SHOWN} (p = .001).",
        ),
        (
            CALIBRATED,
            GAP_PAIRED,
            MEMORY,
            f"Memory: rewriting costs the benchmark more than its controls of known dose, {SHOWN} (p = .001).",
        ),
        (
            OTHER,
            GAP_OTHER,
            LOSES_MORE,
            f"The benchmark loses more than the control: {SHOWN}, and on all three scales. {CAUTION}",
        ),
    ],
)
def test_a_gap_that_is_shown_names_its_control(control, assertion, outcome, sentence):
    claim = gap_claim(decision_of(control=control))
    assert (claim.assertion, claim.outcome, claim.text) == (assertion, outcome, sentence) and claim.is_made
    assert claim.numbers["p"] == claim.numbers["p_adjusted"] == 0.001 and claim.numbers["gap"].value == 0.1


@pytest.mark.parametrize(("adjusted", "is_made"), [(0.05, True), (0.0501, False)])
def test_a_gap_must_also_hold_among_all_detectors(adjusted, is_made):
    claim = gap_claim(decision_of(), adjusted=adjusted, n_family=2)
    assert claim.is_made == is_made and claim.numbers["p_adjusted"] == adjusted
    assert claim.detail.endswith("p = .050 by Holm over 2 tests.")
    if not is_made:
        assert claim.outcome == UNDECIDED and claim.text == (
            f"Undecided: rewriting costs the benchmark {SHOWN} more than its control by this test alone, and p = .050 by "
            "Holm over 2 tests."
        )


@pytest.mark.parametrize(
    ("control", "score", "assertion", "ending"),
    [
        (RANDOM, None, GAP_WITHIN, "Memory that survives rewriting is not seen by this."),
        (RANDOM, score_of(0.05), GAP_WITHIN, "Memory that survives rewriting is not seen by this."),
        (RANDOM, score_of(control=FRESH), GAP_WITHIN, "Memory that survives rewriting is not seen by this."),
        (
            RANDOM,
            score_of(is_unpublished=False),
            GAP_WITHIN,
            "Memory of both sets is not seen: the control may have been published too.",
        ),
        (PAIRED, score_of(), GAP_WITHIN, "Memory that survives rewriting is not seen by this."),
        (OTHER, score_of(), GAP_WITHIN, "Memory that survives rewriting, or that unequal difficulty hides, is not seen."),
        (RANDOM, score_of(), NO_MEMORY, "at most 4.0 points higher as published (one-sided 95%)."),
    ],
)
def test_no_memory_needs_the_published_score_and_a_control_that_nobody_published(control, score, assertion, ending):
    claim = gap_claim(decision_of(0.0, p=0.5, control=control), score=score)
    assert claim.assertion is assertion and claim.is_made and claim.text.endswith(ending)
    assert claim.outcome == (NONE_BEYOND if assertion is NO_MEMORY else WITHIN)
    start = "Rewriting costs the benchmark at most 3.2 points more than its control (one-sided 95%)."
    if assertion is NO_MEMORY:
        start = (
            "No memory beyond 5 points, against a control that was never published: at most 3.2 points more lost by rewriting"
        )
    assert claim.text.startswith(start)


@pytest.mark.parametrize(
    ("value", "half", "outcome"),
    [
        (0.0, 0.0625, NONE_SHOWN),
        (0.0, 0.0624, WITHIN),
        (-0.01, 0.05, NONE_SHOWN),
        (0.01, 0.05, NONE_SHOWN),
        (0.009, 0.05, WITHIN),
    ],
)
def test_a_gap_is_within_the_margin_where_both_ends_are(value, half, outcome):
    assert gap_claim(decision_of(value, half, p=0.5)).outcome == outcome


@pytest.mark.parametrize(("low", "high"), [(-0.05, 0.04), (-0.04, 0.05)])
def test_an_end_at_the_margin_is_not_within_it(low, high):
    assert gap_claim(replace(decision_of(0.0, p=0.5), gap_90=interval(0.0, low, high))).outcome == NONE_SHOWN


def test_a_wider_margin_is_said():
    assert gap_claim(decision_of(0.1, 0.8, p=0.5), margin=0.6).text.endswith("; 60 points cannot be ruled out.")


@pytest.mark.parametrize(
    ("decision", "outcome", "sentence"),
    [
        ({"value": 0.02}, NONE_SHOWN, "No memory shown: +2.0 points [-6.0, +10.0] (p = .50); 5 points cannot be ruled out."),
        (
            {"value": -0.1},
            NONE_SHOWN,
            "No memory shown: the benchmark loses less than the control, -10.0 points [-18.0, -2.0].",
        ),
        ({"value": -0.014}, NONE_SHOWN, "No memory shown: -1.4 points [-9.4, +6.6] (p = .50); 5 points cannot be ruled out."),
        (
            {"control": OTHER, "is_lower": (True, True, False)},
            UNDECIDED,
            f"Undecided: the benchmark loses more in points and share kept, but not in odds. {CAUTION}",
        ),
        (
            {"control": OTHER, "is_lower": (False, False, False)},
            NONE_SHOWN,
            "No larger loss than the control's is shown: +10.0 points [+2.0, +18.0].",
        ),
    ],
)
def test_a_gap_that_is_neither_shown_nor_bounded_is_open(decision, outcome, sentence):
    claim = gap_claim(decision_of(**{"p": 0.5, "half": 0.08} | decision))
    assert (claim.outcome, claim.text.replace("−", "-")) == (outcome, sentence) and not claim.is_made


def test_a_gap_that_may_not_be_claimed_says_why():
    claim = gap_claim(decision_of(withheld="few items."))
    assert claim.text == "Not claimed: few items." and claim.outcome == NO_CLAIM and claim.detail == ""


@pytest.mark.parametrize(
    ("decision", "detail"),
    [
        (
            {"control": RANDOM},
            "1,200 benchmark and 900 control items; the control is a random split of the same source. It rests on that: a set "
            "that is easier or harder from the start can lose more without any memory.",
        ),
        ({"value": 0.0, "p": 0.5}, "1,200 benchmark and 900 control items; the control is a random split of the same source."),
        ({"control": PAIRED}, "1,200 pairs; the control is paired 1:1 with the benchmark's items."),
        (
            {"control": CALIBRATED, "note": "By subject."},
            "1,200 pairs; the control is calibrated on known doses of this model. By subject.",
        ),
        (
            {"control": PAIRED, "families": True},
            "1,200 benchmark and 900 control families of items; the control is paired 1:1 with the benchmark's items.",
        ),
        (
            {"control": OTHER},
            "1,200 benchmark and 900 control items; the control is from elsewhere. "
            + "; ".join(f"{name} -0.50 [-0.90, +0.25]" for name in ("points", "share kept", "odds"))
            + " (share kept and odds as differences of logarithms).",
        ),
    ],
)
def test_the_small_print_names_sizes_and_control(decision, detail):
    for family in ({}, {"n_family": 1}):
        assert gap_claim(decision_of(**decision), adjusted=0.01, **family).detail.replace("−", "-") == detail


@pytest.mark.parametrize(("units", "side"), [((1_199, 900), "benchmark"), ((1_200, 899), "control")])
def test_a_gap_that_needs_the_mended_items_is_not_claimed(units, side):
    without = decision_of(0.09, units=units)
    held = gap_claim(decision_of(without_mended=without, mended=(3, 1)))
    ending = f" Without the {side} items that only the rewriting got right: {without.gap.text_points()}."
    assert held.is_made and held.detail.endswith(ending)
    fallen = gap_claim(decision_of(without_mended=replace(without, p=0.5), mended=(3, 1)))
    assert not fallen.is_made and fallen.text == (
        "Not claimed: rewriting mended 3 benchmark and 1 control items, as wrong keys do, and the verdict does not hold "
        "without them."
    )
    unshown = gap_claim(decision_of(0.02, 0.08, p=0.5, without_mended=without, mended=(3, 1)))
    assert unshown.outcome == NONE_SHOWN and not unshown.withheld


@pytest.mark.parametrize(
    ("high", "words"), [(0.0321, "3.3 points"), (0.032, "3.2 points"), (0.1 + 0.2, "30.0 points"), (-0.0119, "-1.1 points")]
)
def test_an_upper_limit_is_rounded_up(high, words):
    assert bound_text(high).replace("−", "-") == words


@pytest.mark.parametrize(
    ("is_literal", "is_directional", "verdict", "twist"),
    [
        (True, True, "excludes", ""),
        (True, False, "excludes", " As a one-sided test it would not flag: the gap is negative."),
        (False, True, "includes", ""),
        (False, False, "includes", ""),
    ],
)
def test_the_sources_rule_says_where_a_one_sided_test_would_not_flag(is_literal, is_directional, verdict, twist):
    claim = source_rule(interval(0.1, 0.06, 0.14), is_literal=is_literal, is_directional=is_directional)
    assert claim.text == f"The source's rule, for comparison: its bootstrap interval {verdict} 0, gap {SHOWN}.{twist}"
    assert claim.assertion is None and claim.numbers["gap"].value == 0.1


def test_the_withdrawn_rule_is_only_described():
    claim = old_rule(0.02, interval(0.1, 0.06, 0.14))
    assert claim.text == (
        "The rule of an earlier release, for comparison: permutation p = .020 and gap among items answered right before "
        f"{SHOWN}."
    )
    assert claim.assertion is None and set(claim.numbers) == {"perm_p", "cond_gap"}
    assert holm_text(np.nan, 2) == "p – by Holm over 2 tests"


def test_no_memory_errs_in_one_of_twenty_and_each_side_of_memory_in_half_as_many():
    assert (NO_MEMORY.error_rate, NO_MEMORY.sides) == (0.05, 1)
    assert {assertion.sides for assertion in ASSERTIONS} == {1}
    assert {name: BY_NAME[name].error_rate for name in BY_NAME if name.startswith("memory by drop gap")} == {
        "memory by drop gap, random control": 0.025,
        "memory by drop gap, paired control": 0.025,
    }
