"""Ways of asking drawn at random: several settings at once, the same way for every item."""

from collections import Counter

import numpy as np
import pytest

from flipcore.axes import AXES, axis_of
from flipcore.axes.combined import PARTS
from flipcore.core.contracts import Material
from flipcore.core.errors import BadInput
from flipcore.core.records import BASE, Item

CAT = Item("cat", "zoo", "choice", "Which of these is a cat?", ("lion", "wolf", "eel", "ant"), "0")
NONE = Item("none", "zoo", "choice", "Which of these is a cat?", ("wolf", "eel", "ant", "none of these"), "3")
SUM = Item("sum", "zoo", "number", "How much is 2 + 2?", (), "4")


def ways(item, material=None, **params):
    return axis_of("combined", params).variants(item, "plain", np.random.default_rng(0), material or Material())


def test_a_way_joins_the_settings_of_its_parts_and_keeps_the_answer():
    base, *changed = ways(CAT, n=8)
    assert (base.key, len(changed)) == (BASE, 8)
    assert {one.target for one in changed} == {"0"}
    assert len({one.prompt.text for one in changed}) == 8
    assert max(sum(key != "base" for key in one.params["settings"].values()) for one in changed) >= 3
    for one in changed:
        settings = one.params["settings"]
        alone = {
            name: {v.key: v for v in AXES[name].variants(CAT, "plain", np.random.default_rng(0), Material())}
            for name in settings
        }
        if settings["option_order"] != "base":
            assert one.order == alone["option_order"][settings["option_order"]].order
        if settings["label_set"] != "base":
            assert one.labels == alone["label_set"][settings["label_set"]].labels
        if settings["prompt_format"] != "base":
            assert one.layout == settings["prompt_format"]
        assert ("Reply" in one.prompt.text) == (settings["answer_format"] != "base")


def test_a_way_is_the_same_for_every_item_that_has_its_settings():
    other = Item("dog", "zoo", "choice", "Which of these is a dog?", ("lion", "wolf", "eel", "ant"), "1")
    assert [one.params.get("settings") for one in ways(CAT)] == [one.params.get("settings") for one in ways(other)]
    assert [one.params.get("settings") for one in ways(CAT)] != [one.params.get("settings") for one in ways(CAT, draw=1)]


def test_every_setting_is_drawn_about_as_often():
    counts = Counter()
    for draw in range(60):
        for one in ways(CAT, n=8, draw=draw)[1:]:
            counts.update(one.params["settings"].items())
    orders = [n for (axis, _), n in counts.items() if axis == "option_order"]
    assert len(orders) == 4
    assert min(orders) > 480 / 4 * 0.7
    assert max(orders) < 480 / 4 * 1.3


def test_what_an_item_cannot_have_is_left_out_and_ways_stay_different():
    for one in ways(NONE, n=20)[1:]:
        assert one.order[-1] == 3
    numbers = ways(SUM, n=20)
    assert len(numbers) == 6  # two layouts that differ for a number, three instructions: all of them, with the base
    assert set(numbers[1].params["settings"]) == {"prompt_format", "answer_format"}


def test_parameters_that_the_study_declares_for_a_part_are_those_of_the_ways():
    declared = Material(axes={"label_set": axis_of("label_set", {"sets": ["roman"]})})
    labels = {one.params["settings"]["label_set"] for one in ways(CAT, declared, n=20)[1:]}
    assert labels == {"base", "roman"}


def test_a_system_prompt_and_a_paraphrase_are_settings_too():
    worded = Item("cat", "zoo", "choice", CAT.question, CAT.options, "0", meta={"paraphrases": ["Name the cat among these:"]})
    seen = ways(worded, n=12, parts=["paraphrase", "system_prompt", "label_set"])[1:]
    assert {one.prompt.system for one in seen} == {"", "You are a helpful assistant."}
    assert any("Name the cat" in one.prompt.text and one.prompt.system and one.labels[0] != "A" for one in seen)


def test_a_change_that_cannot_be_joined_is_no_part():
    assert "question_position" not in PARTS
    with pytest.raises(BadInput, match="changes of option_order"):
        axis_of("combined", {"parts": ["question_position"]})
    with pytest.raises(BadInput, match="from 1 to 64 ways"):
        axis_of("combined", {"n": 65})
