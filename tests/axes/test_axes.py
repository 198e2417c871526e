"""The contract of every axis, on random items, and of the table that names them."""

import re
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from flipcore.axes import AXES, axis_of
from flipcore.axes.bit_flip import split_text
from flipcore.core.contracts import Material
from flipcore.core.errors import BadInput
from flipcore.core.records import BASE, CONTINUATION, KINDS, Item
from flipcore.text.prompts import LAYOUTS
from tests.axes.items import items, stored

HARMLESS = ["identity", "option_order", "label_set", "prompt_format", "paraphrase", "question_position", "answer_format"]
HARMLESS += ["combined", "system_prompt", "few_shot", "example_order", "typos", "language"]
every_axis = pytest.mark.parametrize("axis", AXES.values(), ids=AXES)


@every_axis
def test_an_axis_says_what_it_is(axis):
    assert is_dataclass(axis) and type(axis).__dataclass_params__.frozen
    assert re.fullmatch(r"[a-z_]+", axis.name) and AXES[axis.name] is axis
    assert axis.title and axis.about.endswith(".")
    assert axis.applies_to and axis.applies_to <= set(KINDS)
    assert axis_of(axis.name) == axis


@pytest.mark.slow
@every_axis
@given(data=st.data(), layout=st.sampled_from(sorted(LAYOUTS)), seed=st.integers(0, 99))
def test_variants_keep_the_contract(axis, data, layout, seed):
    item = data.draw(items(axis.applies_to))
    assume(axis.name != "bit_flip" or split_text(item.question)[1])  # too short to be cut: refused with a sentence
    material = stored(item, "In other words?", item.question, "In other words?", "And once more?")
    variants = axis.variants(item, layout, np.random.default_rng(seed), material)
    assert variants == axis.variants(item, layout, np.random.default_rng(seed), material)
    base, *changed = variants
    own = CONTINUATION if axis.asks == CONTINUATION else layout  # the beginning of a text has no layout
    assert (base.key, base.layout, base.axis) == (BASE, own, axis.name)
    assert base.order == tuple(range(len(item.options)))
    keys = [one.key for one in variants]
    assert len(set(keys)) == len(keys) and len({one.variant_id for one in variants}) == len(keys)
    assert len({(one.prompt.system, one.prompt.text, one.params.get("effort")) for one in variants}) == len(keys)
    for one in variants:
        assert one.item_id == item.item_id and one.compared_with in keys
        assert sorted(one.order) == list(range(len(item.options)))
        assert len(set(one.labels)) == len(one.labels) == len(item.options)
        shown = dict(one.prompt.parts).get("options", "")
        places = [shown.find(f"{one.labels[i]}") for i in range(len(one.labels))]
        assert axis.asks == CONTINUATION or -1 not in places
        # the first half of an item shows the first of its options alone
        assert axis.asks == CONTINUATION or all(item.options[i] in shown for i in one.order)


@pytest.mark.slow
@pytest.mark.parametrize("axis", [axis for axis in AXES.values() if axis.asks != CONTINUATION], ids=lambda axis: axis.name)
@given(data=st.data())
def test_the_base_is_the_same_variant_on_every_axis(axis, data):
    item = data.draw(items(axis.applies_to))
    rng = np.random.default_rng(0)
    assert (
        axis.variants(item, "plain", rng, Material())[0].variant_id
        == AXES["identity"].variants(item, "plain", rng, Material())[0].variant_id
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", HARMLESS)
@given(data=st.data())
def test_a_harmless_change_keeps_the_target(name, data):
    item = data.draw(items(AXES[name].applies_to))
    variants = AXES[name].variants(item, "plain", np.random.default_rng(1), stored(item, "Said otherwise?"))
    assert {one.target for one in variants} == {item.target}


def test_an_unknown_axis_lists_the_known_ones():
    with pytest.raises(BadInput, match="no axis called 'moon'; choose one of identity, option_order"):
        axis_of("moon")


@pytest.mark.parametrize(
    ("name", "params", "why"),
    [
        ("option_order", {"speed": 3}, "unknown parameter 'speed'; it may have kind, n"),
        ("identity", {"n": 3}, "it has no parameters"),
        ("option_order", {"n": "four"}, "must be a whole number"),
        ("option_order", {"n": True}, "must be a whole number"),
        ("option_order", {"n": 1}, "n from 2 to 1000"),
        ("option_order", {"kind": "sideways"}, "cyclic or random"),
        ("label_set", {"sets": ["klingon"]}, "choose one of upper"),
        ("label_set", {"sets": "lower"}, "must be a list of texts"),
        ("prompt_format", {"layouts": ["fancy"]}, "choose one of plain"),
    ],
)
def test_parameters_that_do_not_fit_get_a_sentence(name, params, why):
    with pytest.raises(BadInput, match=re.escape(why)):
        axis_of(name, params)


@every_axis
def test_parameters_that_have_choices_start_from_one_of_them(axis):
    for field in fields(axis):
        value, choices = getattr(axis, field.name), field.metadata.get("choices")
        assert choices is None or set(value if isinstance(value, tuple) else [value]) <= set(choices)


# The instruction stands before the cue, in the words of the item's kind.


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


# Labels change, content and order do not.


def choice(n_options):
    return Item.make(
        dataset="t", key="1", kind="choice", question="?", target="0", options=tuple(f"option {i}" for i in range(n_options))
    )


def asked(item, *sets):
    return axis_of("label_set", {"sets": list(sets)}).variants(item, "plain", np.random.default_rng(0), Material())


def test_each_set_is_one_variant_and_the_own_set_collapses_into_the_base():
    variants = asked(choice(3), "upper", "digits", "roman", "digits")
    assert [(one.key, one.labels) for one in variants] == [
        ("base", ("A", "B", "C")),
        ("digits", ("1", "2", "3")),
        ("roman", ("i", "ii", "iii")),
    ]
    assert dict(variants[2].prompt.parts)["options"] == "i. option 0\nii. option 1\niii. option 2"
    assert {one.order for one in variants} == {(0, 1, 2)}


def test_a_set_shorter_than_the_options_gets_a_sentence():
    with pytest.raises(BadInput, match="'pqrs' has 11 labels, but an item has 12 options"):
        asked(choice(12), "pqrs")


# The question moves behind the options, unless it points to them by place.


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
