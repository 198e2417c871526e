"""Numbers of a text, from digits and from words, compared as values."""

import pytest

from flipcore.annotation.proposals.checks import numbers


def test_numbers_are_compared_as_values_and_one_is_a_word():
    assert numbers("1,200 and 3.50 and twelve, one by one") == ["7/2", "12", "1200"]


@pytest.mark.parametrize(
    ("said", "values"),
    [
        ("twenty-five", ["25"]),
        ("Twenty five of 25", ["25", "25"]),
        ("one hundred and five", ["105"]),
        ("a hundred", ["100"]),
        ("three hundred twenty-one", ["321"]),
        ("two thousand, five hundred", ["2500"]),
        ("1.5 million", ["1500000"]),
        ("two dozen eggs, a dozen pens", ["12", "24"]),
        ("between five and six", ["5", "6"]),
        ("five six", ["5", "6"]),
        ("twenty and five", ["5", "20"]),
        ("200 thousand", ["200000"]),
        ("two hundred thousand", ["200000"]),
        ("$.50", ["1/2"]),
        ("12 five-packs", ["5", "12"]),
        ("someone weighs tension", []),
        ("zero", ["0"]),
        ("$3.50, 3.5%", ["7/2", "7/2"]),
        ("no one", []),
        ("twenty-one", ["21"]),
        ("one thousand", ["1000"]),
        ("1,234,567.", ["1234567"]),
        ("", []),
    ],
)
def test_numbers_are_read_from_digits_and_words(said, values):
    assert numbers(said) == values
