"""When absent scores must be stated, and how far they widen an interval."""

import math

import pytest

from flipcore.stats.base.estimate import Estimate
from flipcore.stats.score.absence import absence_matters, absence_words, widen_for_absence


def estimate(low, high):
    return Estimate(0.5, low, high, level=0.95, method="x", n=40, seed=None)


@pytest.mark.parametrize(
    ("share", "shift", "matters"),
    [(0.011, 0.0, True), (0.01, 0.5, False), (0.01, 0.51, True), (0.0, 9.0, False), (0.001, 0.6, True), (0.5, 0.1, True)],
)
def test_more_than_one_in_a_hundred_or_a_shift_of_half_an_error_matters(share, shift, matters):
    assert absence_matters(share, shift, 1.0) == matters


def test_an_interval_is_widened_to_both_ends_and_says_so():
    widened = widen_for_absence(estimate(0.4, 0.6), estimate(0.3, 0.5), estimate(0.5, 0.7), 0.02)
    assert (widened.low, widened.high, widened.value) == (0.3, 0.7, 0.5) and "2% of calls have no score" in widened.note
    kept = widen_for_absence(estimate(0.4, 0.6), estimate(0.45, 0.5), estimate(0.5, 0.55), 0.02)
    assert (kept.low, kept.high) == (0.4, 0.6)
    none = estimate(math.nan, math.nan)
    for estimates in ((estimate(0.4, 0.6), none, estimate(0.5, 0.7)), (estimate(0.4, 0.6), estimate(0.3, 0.5), none)):
        assert widen_for_absence(*estimates, 0.02) is estimates[0]


@pytest.mark.parametrize(("share", "text"), [(0.0095, "1%"), (0.0094, "0.9%"), (0.123, "12%"), (0.0004, "0.0%")])
def test_a_share_below_one_in_a_hundred_has_a_decimal(share, text):
    assert absence_words(share).startswith(f"{text} of calls have no score")
