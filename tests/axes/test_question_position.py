"""The question moves behind the options, unless it points to them by place."""

import numpy as np
import pytest

from flipcore.axes import axis_of
from flipcore.core.contracts import Material
from flipcore.core.records import Item


def variants(question):
    item = Item.make(dataset="t", key="1", kind="choice", question=question, options=("oak", "tin"), target="0")
    return axis_of("question_position").variants(item, "plain", np.random.default_rng(0), Material())


def test_the_options_come_first_and_keep_their_order_and_labels():
    base, behind = variants("Which is a tree?")
    assert behind.prompt.text == "A. oak\nB. tin\nQuestion: Which is a tree?\nAnswer:"
    assert (behind.order, behind.labels, behind.target) == (base.order, base.labels, base.target)


@pytest.mark.parametrize(
    "question", ["Which of the following is a tree?", "A tree is", "Which word below is a tree?", "A tree: ___"]
)
def test_a_question_that_points_to_its_options_stays_and_says_why(question):
    (base,) = variants(question)
    assert base.params["refusal"] == "points" and base.params["why"].endswith("not moved.")
