"""A claim that is not allowed says why in the place of its sentence; the first reason stays."""

import json

import pytest

from flipcore.claims.catalogue import BY_NAME
from flipcore.claims.claim import Assertion, Claim, description
from flipcore.claims.memory import ANY_DETECTOR
from tests.claims.sentences import MAX_WORDS, check_made, n_words, too_long
from tests.conftest import ROOT

COIN = Assertion("coin", "heads", 0.05, 1, "each claim", ("fair",))


def test_a_claim_is_made_until_it_is_withheld_and_then_says_why():
    claim = Claim(COIN, "heads", "Heads.", asserted=True)
    assert claim.is_made and claim.text == "Heads."
    withheld = claim.not_claimed("The gate is closed.").not_claimed("Another reason.")
    assert not withheld.is_made and withheld.text == "Not claimed: The gate is closed." and withheld.sentence == "Heads."
    assert claim.not_claimed("") is claim


def test_a_claim_takes_what_follows_its_sentence_by_keyword():
    with pytest.raises(TypeError, match="positional"):
        Claim(COIN, "heads", "Heads.", True)


def test_a_description_asserts_nothing_and_keeps_its_numbers():
    sentence = description("0.20 of pairs flip.", n=5)
    assert (
        sentence.assertion is None and not sentence.is_made and sentence.numbers == {"n": 5} and sentence.outcome == "described"
    )


def test_some_detector_sees_memory_falsely_in_one_of_twenty():
    assert (ANY_DETECTOR.error_rate, ANY_DETECTOR.sides) == (0.05, 1)


def test_an_assertion_states_the_rate_that_was_simulated():
    """A stated error rate cannot be raised without simulating the claim again."""
    for path in sorted((ROOT / "tests" / "stats" / "claims").glob("*.json")):
        for row in json.loads(path.read_text(encoding="utf-8")):
            assert BY_NAME[row["claim"]].error_rate == row["nominal"], row["name"]


# A verdict is at most 25 words. `tests/conftest.py` measures every claim that any test makes; here stands that it does, and that the
# headings of every page are measured where `test_only_claims_assert` walks them.


LONG = "word " * (MAX_WORDS + 1)


def test_numbers_and_intervals_are_no_words():
    assert n_words("0.58 [0.31, 0.69] of pairs flip, p = .012 (n = 40)") == 5  # of, pairs, flip, p, n


def test_a_long_verdict_is_told_from_a_short_one():
    for claim in (Claim(ANY_DETECTOR, "memory", LONG, asserted=True), description("Short.").not_claimed(LONG)):
        with pytest.raises(AssertionError, match="26 words"):
            check_made(claim)
    assert not too_long("word " * MAX_WORDS) and Claim(ANY_DETECTOR, "memory", "word " * MAX_WORDS).text


def test_the_rates_that_are_not_one_in_twenty():
    rates = {}
    for assertion in BY_NAME.values():
        if assertion.error_rate != 0.05:
            rates.setdefault(assertion.error_rate, set()).add(assertion.name)
    assert {rate: len(names) for rate, names in rates.items()} == {0.025: 8, 0.09: 4, 0.03: 2, 0.2: 1, 0.0: 1}
    assert rates[0.2] == {"plan of flips"} and rates[0.0] == {"locked"}
