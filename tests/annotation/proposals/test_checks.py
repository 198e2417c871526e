"""The rules, each on a text that keeps and on one that breaks what it looks at."""

import math

import pytest

from flipcore.annotation.proposals import checks, overlap
from flipcore.annotation.proposals.checks import names

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
