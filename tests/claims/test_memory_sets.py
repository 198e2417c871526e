"""What is said of a set's items: "At least X %" never says more than was shown, and nothing where nothing was."""

import math
import re
from dataclasses import replace

import pytest

from flipcore.claims.claim import Claim
from flipcore.claims.memory_sets import (
    AT_LEAST,
    MIN_N,
    _share_text,
    at_least_claim,
    corrected_accuracy_claim,
    named_claim,
    set_claim,
)
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.memory.exceedance import SetTest
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
