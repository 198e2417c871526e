"""The first half of an item, and what its second half is."""

import pytest

from flipcore.axes import axis_of
from flipcore.axes.completion import INSTRUCTION
from flipcore.core.contracts import Material
from flipcore.core.randomness import generator
from flipcore.core.records import BASE, CONTINUATION, Item

PROBLEM = "Ana has 12 pears and gives 5 of them away. How many pears are left?"
NUMBER = Item.make(dataset="t", key="1", kind="number", question=PROBLEM, target="7")
CHOICE = Item.make(
    dataset="t", key="2", kind="choice", question="Which is a metal?", options=("rye", "barley", "tin", "oats"), target="2"
)


def variant(item, layout="plain", **params):
    (one,) = axis_of("completion", params).variants(item, layout, generator(0, "x"), Material())
    return one


def test_half_of_the_text_is_shown_behind_the_instruction_and_the_rest_is_the_reference():
    one = variant(NUMBER)
    shown = one.prompt.text.removeprefix(INSTRUCTION)
    assert (one.key, one.layout, one.target) == (BASE, CONTINUATION, None)
    assert f"{shown} {one.params['reference']}" == PROBLEM and 0.4 < len(shown) / len(PROBLEM) < 0.6
    assert one.params["n_words"] == len(one.params["reference"].split())
    assert (one.params["n_samples"], one.params["temperature"]) == (1, 0.0)


@pytest.mark.parametrize(("layout", "lead"), [("plain", "Question: "), ("bare", "")])
def test_a_base_model_gets_the_layouts_own_words_in_place_of_an_instruction(layout, lead):
    assert variant(NUMBER, layout, instruction="").prompt.text.startswith(f"{lead}Ana has 12 pears")


def test_options_belong_to_the_text_and_a_passage_has_no_lead():
    one = variant(CHOICE, instruction="")
    whole = "Question: Which is a metal?\nA. rye\nB. barley\nC. tin\nD. oats"
    assert f"{one.prompt.text} {one.params['reference']}".split() == whole.split()
    assert one.params["reference"].endswith("C. tin\nD. oats") and "D. oats" not in one.prompt.text
    passage = Item.make(dataset="t", key="3", kind="completion", question=PROBLEM)
    assert variant(passage, instruction="").prompt.text.startswith("Ana has")


def test_an_item_of_one_word_is_not_asked_and_says_so():
    one = variant(Item.make(dataset="t", key="4", kind="number", question="Why?", target="1"))
    assert one.params["refusal"] == "short" and "reference" not in one.params


def test_a_text_without_blanks_has_room_for_its_characters():
    """A token of such a script may hold one character, which is three bytes."""
    chinese = Item.make(dataset="t", key="5", kind="text", question="甲乙 " + "丙" * 60, target="x")
    assert variant(chinese).params["room"] >= 60
