"""Other orders and other examples, through the study's own prompt; without one the base alone, with the reason."""

from dataclasses import replace

import numpy as np
import pytest

from flipcore.axes import axis_of
from flipcore.core.contracts import Material
from flipcore.core.errors import BadInput
from flipcore.core.study import ItemSource, OwnPrompt, Part
from flipcore.runs.plan import plan
from tests.runs.test_runner import tiny_study

OWN = OwnPrompt(template="Q: {{ question }}\nA:", system="Be brief.", n_examples=3)
STUDY = tiny_study(
    items=(ItemSource("flipscope_problems", n=10),),
    axes=(
        Part("example_order", {"orders": 2, "choices": 1}),
        Part("system_prompt"),
        Part("answer_format", {"forms": ["bare"]}),
    ),
    prompt=OWN,
)


def shots(variant):
    return [part for part in dict(variant.prompt.parts)["examples"].split("\n\n") if part]


def test_an_order_has_the_same_examples_and_a_choice_has_others_and_never_the_item_itself():
    for one in plan(STUDY).items:
        by_key = {v.key: v for v in one.variants if v.axis == "example_order"}
        base = shots(by_key["base"])
        assert len(base) == 3 and all(one.item.question not in shot for v in by_key.values() for shot in shots(v))
        orders = [shots(v) for key, v in by_key.items() if key.startswith("order")]
        assert all(sorted(order) == sorted(base) and order != base for order in orders)
        assert all(len(shots(v)) == 3 for v in by_key.values())
        assert {v.prompt.system for v in by_key.values()} == {"Be brief."}
    keys = {v.key for one in plan(STUDY).items for v in one.variants if v.axis == "example_order"}
    assert {"base", "order-1", "order-2", "choice-1"} <= keys


def test_system_prompts_and_formats_stand_beside_the_same_examples():
    one = plan(STUDY).items[0]
    systems = {v.key: v.prompt.system for v in one.variants if v.axis == "system_prompt"}
    assert systems == {"base": "Be brief.", "system-1": "You are a helpful assistant.", "none": ""}
    base, bare = (v.prompt for v in one.variants if v.axis == "answer_format")
    assert bare.text == base.text.replace(
        "Q: " + one.item.question, "Reply with the number and nothing else.\n\nQ: " + one.item.question
    )


def test_without_examples_there_is_no_order():
    (base,) = axis_of("example_order").variants(plan(STUDY).items[0].item, "plain", np.random.default_rng(0), Material())
    assert base.params["refusal"] == "no examples"
    none = plan(replace(STUDY, prompt=None, axes=(Part("example_order"),)))
    assert {len(one.variants) for one in none.items} == {1}


@pytest.mark.parametrize("params", [{"orders": 0, "choices": 0}, {"orders": 11}])
def test_counts_are_bounded(params):
    with pytest.raises(BadInput, match="from 0 to 10"):
        axis_of("example_order", params)
