"""What a server sends as log-probabilities is used where it can be one, and is missing where it is a placeholder."""

import math

import pytest

from flipcore.text.logprobs import usable_alternatives, usable_tokens


@pytest.mark.parametrize(
    "top",
    [None, {}, {"A": 0.0}, {"A": 0.0, "B": 0.0}, {"A": 0.5}, {"A": math.nan}, {"A": -math.inf}, {"A": -0.01, "B": -0.01}],
    ids=["none", "empty", "zero", "zeros", "above one", "nan", "impossible", "more than one in sum"],
)
def test_placeholders_are_no_alternatives(top):
    assert usable_alternatives(top) is None


def test_alternatives_keep_their_nats_and_lose_what_has_none():
    assert usable_alternatives({"A": -0.1, "B": -3.0, "C": -math.inf}) == {"A": -0.1, "B": -3.0}


@pytest.mark.parametrize("tokens", [None, [], [("a", 0.0), ("b", 0.0)], [("a", -1.0), ("b", math.nan)], [("a", 0.2)]])
def test_one_unusable_token_makes_a_text_unscored(tokens):
    assert usable_tokens(tokens) is None


def test_scored_tokens_come_back_in_order():
    assert usable_tokens([("a", -1), ("b", 0.0)]) == (("a", -1.0), ("b", 0.0))
