"""Canonical answers are exact."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipcore.core.records import Item
from flipcore.text.answers import answer_text, canonical_number, decimal_text, option_text, text_answer


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("1,450.00", "1450"),
        ("$14.50", "29/2"),
        ("3/4", "3/4"),
        ("6/8", "3/4"),
        ("-2", "-2"),
        ("12%", "12"),
        (" 7. ", "7"),
        (".5", "1/2"),
        ("-$3", "-3"),
        ("$-3", "-3"),
        ("−4", "-4"),
        ("£1,000,000", "1000000"),
        ("0", "0"),
        ("-0", "0"),
    ],
)
def test_numbers_are_read_exactly(text, canonical):
    assert canonical_number(text) == canonical


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-",
        ".",
        "$",
        "tin",
        "3 tins",
        "1,45",
        "1,4500",
        "3/0",
        "1e9",
        "9" * 5000,
        "½",
        "²",
        "1/2/3",
        "nan",
        "inf",
        "1.2.3",
        "12,",
        "%",
    ],
)
def test_what_is_not_one_number_is_none(text):
    assert canonical_number(text) is None


@given(st.fractions(max_denominator=10**6))
def test_a_canonical_number_is_its_own_canonical_form(value):
    assert canonical_number(str(value)) == str(value)


@given(st.integers(-(10**12), 10**12), st.integers(0, 4))
def test_thousands_and_decimals_do_not_change_the_number(cents, places):
    value = Fraction(cents, 10**places)
    assert Fraction(canonical_number(f"{cents // 1:,}")) == cents
    whole, rest = divmod(abs(cents), 10**places)
    written = f"{'-' if cents < 0 else ''}${whole:,}.{rest:0{places}d}" if places else f"{cents:,}"
    assert Fraction(canonical_number(written)) == value


@pytest.mark.slow
@given(st.text(max_size=30))
def test_any_text_gives_a_fraction_or_none(text):
    found = canonical_number(text)
    assert found is None or str(Fraction(found)) == found


@pytest.mark.parametrize(
    ("answer", "target", "is_right"),
    [
        ("157.00", "157", True),
        ("7.50", "7.5", True),
        ("7.5", "7.50", True),
        ("-0.5", "0.5", False),
        ("\u22120.5", "-0.50", True),
        ("70", "7", False),
        ("7.05", "7.5", False),
        ("1.2.0", "1.2", False),
    ],
)
def test_zeros_that_end_a_number_change_no_answer(answer, target, is_right):
    """ "157.00" was wrong where 157.0 was right, and -0.5 was right where 0.5 was."""
    assert (text_answer(answer, target) == target) == is_right


def test_answers_are_shown_as_the_options_they_name():
    item = Item.make(dataset="t", key="1", kind="choice", question="?", options=("tin", "oak"), target="1")
    assert [option_text(item, a) for a in ("0", "1", "2", None, "²", "-1")] == ["tin", "oak", None, None, None, None]
    assert [answer_text(item, a) for a in ("0", "7", None)] == ["tin", "7", "—"]


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        ("29/2", "14.5"),
        ("-1/20", "-0.05"),
        ("7/1000000", "0.000007"),
        ("1/3", "1/3"),
        ("1450", "1450"),
        ("3/0", "3/0"),
        ("north/2", "north/2"),
        ("1/" + "2" * 30, "1/" + "2" * 30),
    ],
)
def test_numbers_are_shown_as_people_write_them(number, shown):
    """ "read as 3/10; right answer: 3/10" stood beside "The answer is 0.3."."""
    assert decimal_text(number) == shown
    for kind, text in (("number", shown), ("text", number)):
        assert answer_text(Item.make(dataset="t", key="1", kind=kind, question="?", target=number), number) == text
