"""What a number looks like on a page."""

import math

import pytest

from flipcore.stats.base.estimate import Estimate, missing, number_text, p_text, without_interval


def estimate(value, low, high):
    return Estimate(value, low, high, 0.95, "bca", 26, 0)


def test_an_estimate_reads_as_the_pages_say():
    assert estimate(0.5769, 0.3077, 0.6923).text() == "0.58 [0.31, 0.69]"
    assert estimate(0.16, 0.0231, 0.2893).text_points() == "+16.0 points [+2.3, +28.9]"
    assert estimate(-0.021, -0.0514, 0.0).text_points() == "−2.1 points [−5.1, 0.0]"


def test_missing_is_a_dash_and_never_zero():
    assert missing().text() == "–" and missing().text_points() == "–"
    assert missing(note="Nothing came.").note == "Nothing came."
    assert number_text(math.nan) == "–" and p_text(math.nan) == "p –"


def test_a_tiny_negative_number_has_no_minus_zero():
    assert number_text(-0.001) == "0.00" and number_text(-0.001, sign=True) == "0.00"
    assert number_text(-1234.5, 1) == "−1,234.5" and number_text(math.inf) == "∞"


def test_below_ten_items_the_note_says_why_there_is_no_interval():
    few = without_interval(0.5, 1)
    assert few.text() == "0.50" and few.excludes_zero() is None
    assert few.note == "No interval: 1 item; at least 10 items are needed."
    assert without_interval(0.5, 40).note == ""


def test_excluding_zero_is_two_sided():
    assert estimate(0.2, 0.1, 0.3).excludes_zero() and estimate(-0.2, -0.3, -0.1).excludes_zero()
    assert estimate(0.1, 0.0, 0.3).excludes_zero() is False


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0124, "p = .012"),
        (0.0004, "p < .001"),
        (0.426, "p = .43"),
        (0.999, "p > .99"),
        (0.0996, "p = .10"),
        (0.05, "p = .050"),
        (0.001, "p = .001"),
        (1.0, "p > .99"),
    ],
)
def test_p_values_lose_their_leading_zero(p, text):
    assert p_text(p) == text


def test_a_note_is_added_to_what_is_there():
    assert missing(note="One.").noted("Two.").note == "One. Two."


def test_what_a_sum_left_over_does_not_change_a_digit():
    assert number_text(100 * 0.38749999999999996, 1) == number_text(38.75, 1) == "38.8"
