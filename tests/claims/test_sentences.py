"""A verdict is at most 25 words. `tests/conftest.py` measures every claim that any test makes; here stands that it does, and
that the headings of every page are measured where `test_only_claims_assert` walks them."""

import pytest

from flipcore.claims.claim import Claim, description
from flipcore.claims.memory import ANY_DETECTOR
from tests.claims.sentences import MOST_WORDS, n_words, too_long

LONG = "word " * (MOST_WORDS + 1)


def test_numbers_and_intervals_are_no_words():
    assert n_words("0.58 [0.31, 0.69] of pairs flip, p = .012 (n = 40)") == 5  # of, pairs, flip, p, n


def test_a_long_verdict_is_refused_as_it_is_made():
    with pytest.raises(AssertionError, match="26 words"):
        Claim(ANY_DETECTOR, "memory", LONG, True)
    with pytest.raises(AssertionError, match="26 words"):
        description("Short.").not_claimed(LONG)
    assert not too_long("word " * MOST_WORDS) and Claim(ANY_DETECTOR, "memory", "word " * MOST_WORDS).text
