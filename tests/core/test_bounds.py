"""A study is data from anywhere: every number, text and table of it has a bound, and what is beyond gets a sentence."""

import math

import pytest

from flipcore.core.bounds import MAX_ENTRIES, MAX_NAME, PARAMETERS, check_nested, check_number, check_text
from flipcore.core.errors import BadInput


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (-1, "at least 0"),
        (5.1, "at most 5"),
        (math.nan, "a finite number"),
        (10**400, "at most 5"),
        (-math.inf, "a finite number"),
    ],
)
def test_a_number_beyond_its_bounds_is_named_with_them(value, why):
    with pytest.raises(BadInput, match=f"The study has temperature = .*{why}"):
        check_number("The study", "temperature", value)


def test_numbers_at_their_bounds_pass_and_an_unknown_key_has_wide_ones():
    check_number("The study", "temperature", 5.0)
    check_number("The study", "anything", -1e12)


def test_a_name_may_be_shorter_than_a_text():
    check_text("The study", "question", "x" * (MAX_NAME + 1))
    with pytest.raises(BadInput, match=r"has 1,001 characters in name"):
        check_text("The study", "name", "x" * (MAX_NAME + 1))


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([[[[[[[1]]]]]]], "nested more than 6 deep"),
        ([0] * (MAX_ENTRIES + 1), "2,001 entries"),
        ({"n": 0}, "n = 0; it must be at least 1"),
        (object(), "has a object in x"),
    ],
)
def test_what_is_inside_of_a_table_is_checked_too(value, why):
    with pytest.raises(BadInput, match=why):
        check_nested("An axis", "x", value, PARAMETERS)


def test_texts_numbers_flags_and_lists_may_be_nested():
    check_nested("An axis", "x", {"a": [1, 2.5, "text", True, None], "b": {"n": 3}}, PARAMETERS)
