"""The same words set out differently."""

import numpy as np

from flipcore.axes import axis_of
from flipcore.core.contracts import Material
from flipcore.core.records import Item


def asked(item, layout, *layouts):
    axis = axis_of("prompt_format", {"layouts": list(layouts)})
    return axis.variants(item, layout, np.random.default_rng(0), Material())


def test_the_layout_of_the_study_is_the_base_whatever_it_is():
    item = Item.make(dataset="t", key="1", kind="choice", question="?", options=("a", "b"), target="0")
    variants = asked(item, "paren", "paren", "plain")
    assert [(one.key, one.layout) for one in variants] == [("base", "paren"), ("plain", "plain")]


def test_layouts_that_only_set_out_options_are_no_change_to_a_problem():
    item = Item.make(dataset="t", key="1", kind="number", question="2 + 2?", target="4")
    assert [one.key for one in asked(item, "plain", "paren", "inline", "bare")] == ["base", "bare"]
