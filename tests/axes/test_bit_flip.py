"""Flipped bits as an axis: what stays, what changes, and what each level says about itself."""

import re

import pytest

from flipcore.axes import axis_of
from flipcore.axes.bit_flip import flipped_text
from flipcore.core.contracts import Material
from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.core.records import BASE, CONTINUATION, Item

TEXT = "The harbour wakes before the town does, and the lamps along the quay still burn when the first men come down to it."
ITEM = Item.make(dataset="t", key="1", kind="completion", question=TEXT, meta={"summary": "A harbour at dawn."})


def variants(axis="bit_flip", **params):
    return axis_of(axis, params).variants(ITEM, "plain", generator(5, "bits"), Material())


def test_level_0_is_the_beginning_and_the_rest_is_the_reference():
    base = variants()[0]
    assert base.key == BASE and base.layout == CONTINUATION
    assert base.prompt.text + " " + base.params["reference"] == TEXT
    assert 0.7 < len(base.prompt.text) / len(TEXT) < 0.9


def test_each_level_flips_its_share_of_the_bits_by_the_sources_rule():
    begin = variants()[0].prompt.text
    rng = generator(5, "bits")
    for one in variants():
        assert (one.prompt.text, one.params["characters_changed"]) == flipped_text(begin, one.params["level_pct"], rng)
        assert one.compared_with == BASE and one.target is None
    assert [one.params["level_pct"] for one in variants()] == [0, 1, 2, 3, 4, 5]


def test_seven_bit_flips_stay_ascii():
    assert all(one.prompt.text.isascii() for one in variants(ascii7=True))
    assert not all(one.prompt.text.isascii() for one in variants(levels_pct=[0, 20]))


def test_the_summary_task_shows_the_whole_text_and_compares_with_the_summary():
    base = variants("bit_flip_summary")[0]
    assert dict(base.prompt.parts)["stem"] == TEXT and base.params["reference"] == "A harbour at dawn."


def test_without_a_summary_the_models_own_of_the_unchanged_text_is_asked_for():
    bare = Item.make(dataset="t", key="2", kind="completion", question=TEXT)
    made_of = axis_of("bit_flip_summary").variants(bare, "plain", generator(0, "x"), Material())
    assert {one.params["reference_prompt"] for one in made_of} == {made_of[0].prompt.text}
    assert made_of[0].prompt.text == TEXT + "\n\nSummary:" and "reference" not in made_of[0].params


def test_levels_that_flip_nothing_are_one_variant():
    short = Item.make(dataset="t", key="2", kind="completion", question="go on now")
    made_of = axis_of("bit_flip", {"levels_pct": [0, 0.1, 0.2]}).variants(short, "plain", generator(1, "x"), Material())
    assert [one.key for one in made_of] == [BASE]


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"levels_pct": [1, 2]}, "at least two rising shares up to 100, 0 first"),
        ({"levels_pct": [0]}, "at least two"),
        ({"levels_pct": [0, 2, 2]}, "rising"),
        ({"levels_pct": [0, 101]}, "at most 100"),
        ({"n_samples": 1001}, "at most 1,000"),
        ({"n_samples": 0}, "at least 1"),
    ],
)
def test_parameters_that_do_not_fit_are_sentences(params, why):
    with pytest.raises(BadInput, match=re.escape(why)):
        axis_of("bit_flip", params)


def test_an_item_that_cannot_be_cut_is_refused():
    word = Item.make(dataset="t", key="3", kind="completion", question="Word")
    with pytest.raises(BadInput, match="too short to be cut"):
        axis_of("bit_flip").variants(word, "plain", generator(0, "x"), Material())
