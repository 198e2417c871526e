"""An item with one wrong option hidden, and what a model is to fill in."""

import pytest

from flipcore.axes import axis_of
from flipcore.core.contracts import Material
from flipcore.core.randomness import generator
from flipcore.core.records import BASE, CONTINUATION, Item

METALS = ("rye", "barley", "tin", "oats")


def item(options=METALS, target="2", question="Which is a metal?"):
    return Item.make(dataset="t", key="1", kind="choice", question=question, options=options, target=target)


def variant(asked, seed=0, **params):
    (only,) = axis_of("masked_option", params).variants(asked, "plain", generator(seed, "x"), Material())
    return only


def test_one_wrong_option_is_hidden_and_is_the_reference():
    masked = variant(item())
    assert (masked.key, masked.layout, masked.target) == (BASE, CONTINUATION, None)
    assert (masked.params["n_samples"], masked.params["temperature"]) == (1, 0.0)
    lines = masked.prompt.text.splitlines()[-4:]
    (hidden,) = [line for line in lines if "[MASK]" in line]
    assert hidden == f"{masked.params['label']}. [MASK]"
    assert masked.params["reference"] == METALS["ABCD".index(masked.params["label"])]
    assert masked.params["reference"] not in masked.prompt.text.partition("Question")[2]
    assert all(option in masked.prompt.text for option in METALS if option != masked.params["reference"])


def test_the_right_option_is_never_hidden_and_the_seed_decides_which_other_is():
    hidden = {variant(item(), seed).params["reference"] for seed in range(40)}
    assert hidden == {"rye", "barley", "oats"}
    assert {variant(item(target="0\n2"), seed).params["reference"] for seed in range(40)} == {"barley", "oats"}


def test_a_base_model_is_shown_the_text_up_to_its_last_wrong_option():
    masked = variant(item(), instruction="")
    assert masked.prompt.text == "Question: Which is a metal?\nA. rye\nB. barley\nC. tin\nD."
    assert masked.params["reference"] == "oats" and "label" not in masked.params
    assert variant(item(target="3"), instruction="").prompt.text.endswith("B. barley\nC.")


@pytest.mark.parametrize(
    ("options", "target"),
    [
        (("yes", "no", "both"), "0"),
        (("True", "False"), "1"),
        (("tin", "All of the above", "None of these"), "0"),
        (("tin", "!", "?"), "0"),
        (("the cat sat on the red mat", "the cat sat on the blue mat", "the cat sat on the green mat"), "0"),
        (METALS, None),
    ],
)
def test_an_option_that_anybody_would_guess_is_not_asked_for(options, target):
    masked = variant(item(options, target))
    assert masked.params["refusal"] == "guessable" and masked.params["why"].endswith(".")
    assert "reference" not in masked.params


def test_an_option_that_can_be_guessed_is_left_and_another_hidden():
    options = ("tin", "None of these", "barley", "yes")
    assert {variant(item(options, "0"), seed).params["reference"] for seed in range(20)} == {"barley"}
