"""What is said of a set's items: "At least X %" never says more than was shown, and nothing where nothing was."""

import math
import re
from dataclasses import replace

import pytest

from flipcore.claims.claim import Claim
from flipcore.claims.memory_gap import FAMILY_LEVEL, MEMORY, NO_CLAIM, NONE_SHOWN
from flipcore.claims.memory_sets import (
    ASSERTIONS,
    AT_LEAST,
    BEYOND,
    MIN_CONTROLS,
    MIN_N,
    TEMPLATED,
    _share_text,
    any_cutoff_claim,
    at_least_claim,
    corrected_accuracy_claim,
    dragged_bound,
    named_claim,
    set_claim,
)
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.memory.exceedance import SetTest
from flipcore.stats.memory.gap_decision import OTHER, PAIRED, RANDOM
from flipcore.stats.memory.loss_analysis import CorrectedAccuracy

TEST = SetTest(n=300, m=300, k=15, n_beyond=60, chance=0.05, p=0.001, n_least=29, sd=1.0, control_sd=1.0, spread_p=0.5)
SHOWN = Claim(AT_LEAST, "shown", "Shown.", asserted=True)


def test_a_share_is_a_bound_that_is_rounded_down():
    claim = at_least_claim(TEST, SHOWN, "problems")
    assert claim.text == "At least 9.6% of the 300 problems are beyond chance (one-sided 95%)."  # 29 of 300 are 9.67%
    assert claim.is_made and claim.outcome == "at least" and claim.numbers == {"n_least": 29, "share_least": 29 / 300}


@pytest.mark.parametrize("n", [7, 300, 1000, 2630])
def test_no_bound_is_printed_as_more_than_it_is_nor_as_a_tenth_less(n):
    for n_least in range(1, n + 1):
        text = at_least_claim(replace(TEST, n=n, n_least=n_least), SHOWN).text
        printed = float(re.match(r"At least ([\d.]+)%", text).group(1))
        assert n != 1000 or printed == n_least / 10  # what is a tenth of a percent exactly stays one
        assert 0 <= 100 * n_least / n - printed + 1e-6 < 0.1 + 1e-5, (n_least, n, text)


def test_no_bound_is_claimed_where_none_is_left_or_the_set_itself_is_not_claimed():
    none = at_least_claim(replace(TEST, n_least=0), SHOWN)
    assert not none.is_made and none.text == "No share beyond chance can be claimed." and none.outcome == "none shown"
    withheld = at_least_claim(TEST, Claim(AT_LEAST, "none", "Not shown.", withheld="The gate is closed."))
    assert not withheld.is_made and withheld.text == "Not claimed: The gate is closed." and withheld.numbers["n_least"] == 29
    silent = at_least_claim(TEST, Claim(AT_LEAST, "none", "Not shown."))
    assert not silent.is_made and silent.text == "No share beyond chance is claimed."


def test_a_set_without_items_has_no_least_share():
    assert math.isnan(replace(TEST, n=0).share_least)


def accuracy_of(n_flagged, n=80):
    shares = [
        Estimate(x, x - 0.1, x + 0.1, 0.95, "wilson", m, None)
        for x, m in ((0.96, n), (1.0, n - n_flagged), (0.68, 120), (0.7, 110))
    ]
    return CorrectedAccuracy(*shares, n_flagged, 10)


def test_accuracy_after_dropping_flagged_items_is_never_given_as_the_clean_one():
    with_random = corrected_accuracy_claim(accuracy_of(60), "random").text
    assert (
        "What it would be without memory is the random control's: 68%" in with_random and "it does not correct" in with_random
    )
    most = corrected_accuracy_claim(accuracy_of(60), "other").text
    assert "100%" not in most and "None is given without the 60 items beyond the cut-off" in most
    few = corrected_accuracy_claim(accuracy_of(8), "other").text
    assert "which selects and does not correct. Placebo" in few


def test_a_set_of_the_least_size_is_judged_and_one_item_fewer_is_not():
    assert set_claim(replace(TEST, n=MIN_N), items="problems").is_made
    fewer = set_claim(replace(TEST, n=MIN_N - 1), items="problems")
    assert not fewer.is_made and f"{MIN_N - 1} problems" in fewer.text


@pytest.mark.parametrize("n_named", [0, 1, 7])
@pytest.mark.parametrize("verdict", [SHOWN, Claim(AT_LEAST, "none", "Not shown.")])
def test_single_items_are_named_only_in_a_set_that_is_shown_to_differ(n_named, verdict):
    claim = named_claim(n_named, verdict, "problems")
    assert claim.numbers == {"n_named": n_named}
    assert claim.is_made == (verdict is SHOWN and n_named > 0)
    none = "No single one of the problems can be named." if verdict is SHOWN else "No single one of the problems stands out."
    assert claim.text.startswith(f"{n_named} problems" if n_named else none)


@pytest.mark.parametrize(
    ("family", "ending"), [({}, ""), ({"n_family": 1}, ""), ({"n_family": 2}, " p is corrected for all 2 tests (Holm).")]
)
def test_a_correction_is_named_where_there_are_several_tests(family, ending):
    assert set_claim(TEST, adjusted=0.01, **family).detail == set_claim(TEST).detail + ending


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (0, "unknown (no item is left)"),
        (MIN_N - 1, f"60% (only {MIN_N - 1} items are left, so no interval)"),
        (MIN_N, "60% [50, 70]"),
    ],
)
def test_a_share_of_what_is_left_says_of_how_many(n, text):
    limits = (0.5, 0.7) if n >= MIN_N else (math.nan, math.nan)
    assert _share_text(Estimate(0.6, *limits, 0.95, "wilson", n, None)) == text


def test_a_set_and_every_cut_off_may_be_called_beyond_falsely_in_1_of_20():
    assert {(assertion.error_rate, assertion.sides) for assertion in ASSERTIONS} == {(FAMILY_LEVEL, 1)} == {(0.05, 1)}


@pytest.mark.parametrize("control", [OTHER, RANDOM, PAIRED])
@pytest.mark.parametrize(
    ("p", "adjusted", "is_shown"),
    [
        (0.05, None, True),
        (0.051, None, False),
        (0.01, 0.05, True),
        (0.01, 0.06, False),
        (0.05, 0.06, False),
        (0.06, 0.1, False),
        (math.nan, None, False),
    ],
)
def test_a_set_is_judged_by_its_corrected_p_and_named_by_its_control(control, p, adjusted, is_shown):
    claim = set_claim(replace(TEST, p=p), "problems", control, adjusted, n_family=4)
    starts = {
        OTHER: "The set lies beyond its controls: ",
        RANDOM: "Memory: ",
        PAIRED: "Memory, if the pairs are equally hard: ",
    }
    none = "No more than chance is shown: " if control == OTHER else "No memory shown: "
    assert claim.text.startswith(
        f"{starts[control] if is_shown else none}60 of 300 problems beyond the controls' mark, chance 0.1 ("
    )
    assert claim.is_made == is_shown and claim.outcome == ((BEYOND if control == OTHER else MEMORY) if is_shown else NONE_SHOWN)
    assert claim.text.endswith("Controls of another kind can do the same.") == (is_shown and control == OTHER)
    assert ("Holm" in claim.text) == (adjusted is not None and not is_shown and p <= 0.05)
    assert claim.numbers["p_adjusted"] == pytest.approx(p if adjusted is None else adjusted, nan_ok=True)


def test_without_enough_controls_or_with_templates_nothing_is_said_of_a_set():
    fewer = set_claim(replace(TEST, m=MIN_CONTROLS - 1))
    assert fewer.text == f"Not claimed: {MIN_CONTROLS - 1} controls with a score; at least {MIN_CONTROLS} are needed."
    assert set_claim(replace(TEST, m=MIN_CONTROLS)).is_made
    templated = set_claim(TEST, templated=True)
    assert templated.text == f"Not claimed: {TEMPLATED}" and templated.outcome == NO_CLAIM
    assert set_claim(TEST) == set_claim(TEST, control=OTHER)


@pytest.mark.parametrize(
    ("k", "words"),
    [
        (1, "largest"),
        (2, "2nd largest"),
        (3, "3rd largest"),
        (4, "4th largest"),
        (11, "11th largest"),
        (12, "12th largest"),
        (13, "13th largest"),
        (21, "21st largest"),
        (111, "111th largest"),
        (122, "122nd largest"),
    ],
)
def test_the_mark_is_named_by_its_rank(k, words):
    detail = set_claim(replace(TEST, k=k, mark=1.5, chance=99.94)).detail
    assert f"The mark, 1.500, is the {words} of 300 controls (" in detail and "(m + 1) = 99.9 beyond it." in detail
    assert "The mark is the " in set_claim(TEST).detail and "= 100 beyond it." in set_claim(replace(TEST, chance=99.96)).detail


@pytest.mark.parametrize(("spread_p", "is_said"), [(0.049, True), (0.05, False), (math.nan, False)])
def test_an_unequal_spread_is_said(spread_p, is_said):
    detail = set_claim(replace(TEST, spread_p=spread_p, sd=2.0)).detail
    assert ("standard deviation 2.000 against 1.000." in detail) == is_said


@pytest.mark.parametrize(("n_flagged", "is_given"), [(40, True), (41, False)])
def test_accuracy_without_flagged_items_is_given_up_to_half_of_them(n_flagged, is_given):
    text = corrected_accuracy_claim(accuracy_of(n_flagged), "other").text
    assert ("None is given" not in text) == is_given
    assert corrected_accuracy_claim(accuracy_of(0)).text == "No item lies beyond the cut-off, so accuracy stays as it is."


def test_the_drop_beyond_the_placebo_has_a_minus():
    accuracy = accuracy_of(8)
    drop = accuracy.beyond_placebo
    assert drop == pytest.approx(0.96 - 1.0 - (0.68 - 0.7))
    assert " Beyond the placebo: +2.0 points, without an interval." in corrected_accuracy_claim(accuracy).text


def test_a_cut_off_that_was_dragged_is_judged_over_all_of_them():
    shown, most = any_cutoff_claim(0.05, RANDOM), any_cutoff_claim(0.05, PAIRED, n_family=3)
    assert shown.is_made and shown.text.endswith("(p = .050, all cut-offs at once).") and shown.numbers == {"p": 0.05}
    assert most.text.endswith("all cut-offs and 3 tests at once). Controls of another kind can do the same.")
    none = any_cutoff_claim(0.051, RANDOM)
    assert none.outcome == NONE_SHOWN and not none.is_made
    assert dragged_bound(is_simultaneous=True) == " (lower bound {low|percent} at any cut-off, 95% confidence)"
    assert (
        "exploratory" in dragged_bound(is_simultaneous=False)
        and dragged_bound(is_simultaneous=True, withheld="Templates.") == ""
    )
