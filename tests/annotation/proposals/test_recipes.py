"""Prompts that ask for a paraphrase: one template or a chain, edited under a name of its own."""

import pytest

from flipcore.annotation.proposals.proposing import RECIPES
from flipcore.core.errors import BadInput


def test_every_step_of_every_recipe_has_the_text_once():
    assert all(step.count("{text}") == 1 for recipe in RECIPES.values() for step in recipe.steps)
    assert len(RECIPES["chain"].steps) == 4


def test_braces_in_a_text_stay_as_they_are():
    assert "Text: {x} and {text}\n" in RECIPES["paraphrase"].prompt(0, "{x} and {text}")


def test_edited_prompts_have_a_name_of_their_own_and_the_same_ones_do_not():
    recipe = RECIPES["paraphrase"]
    assert recipe.with_steps(recipe.steps).name == "paraphrase"
    edited = recipe.with_steps(["Again: {text}"])
    assert edited.name.startswith("paraphrase, edited ") and edited.prompt(0, "x") == "Again: x"


def test_a_prompt_without_the_text_is_a_sentence():
    with pytest.raises(BadInput, match=r"step 1 has \{text\} 0 times"):
        RECIPES["paraphrase"].with_steps(["Say it again."])
