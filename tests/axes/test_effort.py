"""Effort: the same prompt with another reasoning effort, asked only of models that take one and read only where it is written."""

import pytest

from flipcore.axes import axis_of
from flipcore.core.contracts import Ask, History, Material
from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.core.records import Item, Request
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.extractors import extractor_of
from flipcore.models.cards import ModelCard
from flipcore.models.openai.client import OpenAICompatible
from flipcore.protocols import PROTOCOLS

ITEM = Item.make(dataset="x", key="1", kind="choice", question="Why?", options=("a", "b"), target="0")


def variants(**params):
    return axis_of("effort", params).variants(ITEM, "plain", generator(0), Material())


def history(ask=None, extractors=("regex", "first_token"), **changes):
    card = ModelCard("lab", "openai_compatible", "m", "http://127.0.0.1:9/v1", **changes)
    readers = [extractor_of(name) for name in extractors]
    return History(ITEM, variants(), readers, OpenAICompatible(card), ask or Ask(), 1, {})


def test_the_levels_share_a_prompt_and_are_variants_of_their_own():
    base, low, high = variants()
    assert base.prompt == low.prompt == high.prompt and len({base.variant_id, low.variant_id, high.variant_id}) == 3
    assert base.variant_id == axis_of("identity").variants(ITEM, "plain", generator(0), Material())[0].variant_id
    assert [one.key for one in variants(levels=("high",))] == ["base", "high"]


def test_an_effort_that_no_server_knows_is_a_sentence():
    with pytest.raises(BadInput, match="one of none, minimal, low"):
        axis_of("effort", {"levels": ["heroic"]})


def test_each_level_is_a_request_of_its_own_and_a_first_token_is_asked_once():
    calls = PROTOCOLS["single_shot"].next_calls(history())
    assert sorted(call.request.effort for call in calls if call.request.kind == "generate") == ["", "high", "low"]
    assert [call.request.effort for call in calls if call.request.kind == "first_token"] == [""]


@pytest.mark.parametrize("changes", [{"refuses": ("reasoning_effort",)}, {"api": "completions"}])
def test_a_model_that_takes_no_effort_is_absent_and_never_asked_twice_the_same(changes):
    past = history(**changes)
    assert [call.request.effort for call in PROTOCOLS["single_shot"].next_calls(past) if call.request.kind == "generate"] == [
        ""
    ]
    readouts = {(one.variant_id, one.extractor): one.reading for one in PROTOCOLS["single_shot"].readouts(past)}
    for variant in past.variants[1:]:
        reading = readouts[variant.variant_id, "regex"]
        assert reading.status == "absent" and "takes no effort" in reading.reason


def test_a_study_asks_with_its_own_effort_and_budget():
    ask = Ask(effort="minimal", reasoning_budget=64)
    (call,) = [one for one in PROTOCOLS["single_shot"].next_calls(history(ask, ("regex",), preset="openrouter")) if one][:1]
    assert (call.request.effort, call.request.reasoning_budget) == ("minimal", 64)
    assert PROTOCOLS["single_shot"].next_calls(history(ask, ("regex",))) == []  # no way to tell this server a budget


def test_ids_without_an_effort_are_those_of_before():
    request = Request("generate", "Why?", max_tokens=8)
    assert "effort" not in request.declared() and "reasoning_budget" not in request.declared()
    assert Request("generate", "Why?", max_tokens=8, effort="low").declared()["effort"] == "low"
    study = Study("s", (ItemSource("flipscope_choice"),), (Part("identity"),), (Part("regex"),), (ModelUse("pocket"),))
    assert "effort" not in study.to_toml() and Study.from_toml(study.to_toml()) == study
    assert study.study_id == "d13c599def07"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('effort = "heroic"', "effort = 'heroic'"),
        ("reasoning_budget = 256", "must be larger"),
        ("reasoning_budget = -1", "at least 0"),
    ],
)
def test_a_setting_that_cannot_be_is_a_sentence(line, why):
    text = f"""name = "s"
[[items]]
dataset = "flipscope_choice"
[[axes]]
name = "identity"
[[extractors]]
name = "regex"
[[models]]
name = "pocket"
{line}
"""
    with pytest.raises(BadInput, match=why):
        Study.from_toml(text)
