"""The instruction stands before the cue, in the words of the item's kind."""

import numpy as np
import pytest

from flipcore.axes import axis_of
from flipcore.core.contracts import Material
from flipcore.core.errors import BadInput
from flipcore.core.records import Item

CHOICE = Item.make(dataset="t", key="1", kind="choice", question="Which?", options=("oak", "tin"), target="0")
NUMBER = Item.make(dataset="t", key="2", kind="number", question="1 + 1?", target="2")


def texts(item, forms):
    axis = axis_of("answer_format", {"forms": forms})
    return {one.key: one.prompt.text for one in axis.variants(item, "plain", np.random.default_rng(0), Material())}


def test_the_instruction_stands_on_a_line_before_the_cue():
    choice = texts(CHOICE, ["bare", "last line"])
    assert choice["bare"] == (
        "Question: Which?\nA. oak\nB. tin\nReply with the label of the right option and nothing else.\nAnswer:"
    )
    assert choice["last-line"].count("\n") == choice["base"].count("\n") + 1
    assert texts(NUMBER, ["bare"])["bare"] == "Question: 1 + 1?\nReply with the number and nothing else.\nAnswer:"


@pytest.mark.parametrize("forms", [[], ["poem"]])
def test_an_unknown_form_is_a_sentence(forms):
    with pytest.raises(BadInput, match="one of bare, sentence, last line"):
        texts(CHOICE, forms)
