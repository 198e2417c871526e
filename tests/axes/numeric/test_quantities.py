"""Which numbers of a problem may be drawn anew, and which stay."""

import pytest

from flipcore.axes.numeric.quantities import mentions


def test_clock_times_years_ordinals_and_fractions_stay():
    frozen = {m.text: m.frozen for m in mentions("In 1999 at 5 p.m. the 3rd of 40 boys ate 1/2 of 12 pies.")}
    assert frozen["1999"] == "year" and frozen["5"] == "clock time" and frozen["3"] == "ordinal"
    assert frozen["1"] and frozen["2"] and not frozen["40"] and not frozen["12"]


@pytest.mark.parametrize(
    "text, number, kind",
    [
        ("He has six $20 bills.", "20", "name of a thing"),
        ("He has two 20 dollar bills.", "20", "name of a thing"),
        ("There are 31 days in March.", "31", "unit definition"),
        ("He works in a 30 day month.", "30", "unit definition"),
        ("He rides for 5 days, and twice on the other days.", "5", "part of a week"),
        ("His bills come to $20.", "20", ""),
    ],
)
def test_what_has_one_value_only_in_this_world_stays(text, number, kind):
    assert {m.text: m.frozen for m in mentions(text)}[number] == kind
