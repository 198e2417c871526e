"""Another system prompt: the words of the question stay, and none is a variant only where the study has one."""

import numpy as np
import pytest

from flipcore.axes import axis_of
from flipcore.core.contracts import Material
from flipcore.core.errors import BadInput
from flipcore.core.records import Item

ITEM = Item.make(dataset="t", key="1", kind="choice", question="Which?", options=("oak", "tin"), target="0")


def variants(texts=("Be brief.", "Be kind."), **material):
    return axis_of("system_prompt", {"texts": list(texts)}).variants(
        ITEM, "plain", np.random.default_rng(0), Material(**material)
    )


def test_the_text_is_the_bases_and_the_system_prompt_another():
    base, *changed = variants()
    assert [one.prompt.text for one in changed] == [base.prompt.text] * 2
    assert [one.prompt.system for one in (base, *changed)] == ["", "Be brief.", "Be kind."]
    assert len({one.variant_id for one in (base, *changed)}) == 3


def test_none_is_a_variant_where_the_study_has_a_system_prompt_of_its_own():
    assert [one.key for one in variants(has_system=True)] == ["base", "system-1", "system-2", "none"]


@pytest.mark.parametrize("texts", [[], [" "], ["x"] * 11])
def test_texts_that_cannot_be_used_are_a_sentence(texts):
    with pytest.raises(BadInput, match="from 1 to 10 texts"):
        variants(texts)
