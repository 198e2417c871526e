"""The rules, each on a text that keeps and on one that breaks what it looks at."""

import math

import pytest

from flipcore.annotation.proposals.proposing import checks, names, overlap
from flipcore.text.numerals import numbers

ORIGINAL = "Every ferry that Brannock runs holds 12 people. If Ada's ferry is not full, how many are on 3 of them?"


def failed(text, original=ORIGINAL, options=()):
    return [name for name, passed, _ in checks(original, text, options) if not passed]


def test_a_faithful_rewording_passes_every_rule():
    assert (
        failed(
            "Each of the ferries run by Brannock carries twelve people. How many are on three of them, if the ferry of "
            "Ada is not full?"
        )
        == []
    )


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        (ORIGINAL.upper(), ["different"]),
        ("", ["different", "numbers", "names", "negations", "length"]),
        (ORIGINAL.replace("12", "21") + " Say it.", ["numbers"]),
        (ORIGINAL.replace("Ada", "Eve") + " Say it.", ["names"]),
        (ORIGINAL.replace("is not", "is always"), ["negations"]),
        (ORIGINAL + " " + "Tell me all about it please and do not leave anything out at all. " * 3, ["length"]),
    ],
)
def test_each_rule_sees_what_it_is_for(text, broken):
    assert failed(text) == broken


def test_an_option_must_neither_be_given_away_nor_lost():
    assert failed("Which of these things is a metal like tin?", "Which of these is a metal?", ["tin", "rye"]) == ["options"]
    assert failed("Which is nearer to it, then?", "Is rye or tin nearer to it?", ["tin", "rye"]) == ["options"]


def test_a_number_may_be_written_out():
    assert failed("He sold one pen to twenty-five people, for two dozen days.", "He sold 1 pen to 25 people for 24 days.") == []
    assert failed("He sold one pen to twenty-six people, for two dozen days.", "He sold 1 pen to 25 people for 24 days.") == [
        "numbers"
    ]
    assert failed("He sold a cap and 2 pens.", "He sold 1 cap and 2 pens.") == ["numbers"]


def test_a_name_is_a_capital_inside_a_sentence():
    assert names("'It rains.' Which is it? (No!) Then") == set()
    assert names("Yesterday Ada's cat met Bob. Then I left. In May it rained") == {"Ada", "Bob", "May"}


def test_overlap_is_the_share_of_words_in_common():
    assert overlap("the red tin", "The tin can") == 2 / 4 and math.isnan(overlap("", "?"))


# Numbers of a text, from digits and from words, compared as values.


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
