"""Typos are few, stay inside of long words, and never touch what carries meaning."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipcore.axes import axis_of
from flipcore.axes.stored_wordings import misspellings
from flipcore.core.contracts import Material
from flipcore.core.errors import BadInput
from flipcore.core.records import Item

QUESTION = "Which gardener from Vienna planted twelve different flowers behind the beautiful old kitchen yesterday morning?"


def variants(question, **params):
    item = Item.make(dataset="t", key="1", kind="number", question=question, target="0")
    return axis_of("typos", params).variants(item, "plain", np.random.default_rng(0), Material())


@given(st.integers(0, 500), st.sampled_from([0.05, 0.1, 0.2]))
def test_a_typo_swaps_two_inner_letters_of_a_long_word_in_lower_case(seed, share):
    for text in misspellings(QUESTION, 2, share, np.random.default_rng(seed)):
        words = list(zip(re.findall(r"\w+", QUESTION), re.findall(r"\w+", text), strict=True))
        changed = [(one, other) for one, other in words if one != other]
        assert 1 <= len(changed) <= max(1, share * len(words))
        for one, other in changed:
            assert len(one) >= 6 and one.islower() and (one[0], one[-1]) == (other[0], other[-1])
            places = [i for i in range(len(one)) if one[i] != other[i]]
            assert len(places) == 2 and places[1] == places[0] + 1 and sorted(one) == sorted(other)


@pytest.mark.parametrize(
    "question",
    [
        "Solve $x^2 = 4$ completely?",
        "What does print(values) return tomorrow?",
        "Who is Bernadette Washington?",
        "1 + 1?",
        "sliver united?",
    ],
)
def test_formulas_names_numbers_and_words_that_become_others_are_left(question):
    assert misspellings(question, 3, 0.2, np.random.default_rng(0)) == []


def test_lower_case_is_left_where_a_capital_carries_meaning():
    assert [one.key for one in variants("Which gardener is older?", versions=0)] == ["base", "lower"]
    for question in ("How many mW does the US need?", "What is point B of it?", "How much H2O is there?"):
        (base,) = variants(question, versions=0)
        assert base.params["refusal"] == "no word"


@pytest.mark.parametrize("params", [{"share": 0.5}, {"versions": 99}, {"versions": 0, "lower": False}])
def test_more_than_a_fifth_of_the_words_is_refused(params):
    with pytest.raises(BadInput, match="at most 0.2"):
        variants(QUESTION, **params)
