"""Translations are asked once reviewers accepted them; nothing else of the store is taken for one."""

import numpy as np
import pytest

from flipcore.axes import axis_of
from flipcore.core.contracts import Material, Paraphrase
from flipcore.core.records import Item

ITEM = Item.make(dataset="t", key="1", kind="number", question="What is 2 + 2, dear pupils of mathematics?", target="4")
STORED = Material(
    {
        ITEM.item_id: (
            Paraphrase("t/1/a", "Wie viel ist 2 + 2?", "accepted", "m", "language:German"),
            Paraphrase("t/1/b", "Combien font 2 + 2 ?", "unreviewed", "m", "language:French"),
            Paraphrase("t/1/c", "Was ist 2 + 3?", "rejected", "m", "language:German"),
            Paraphrase("t/1/d", "Add 2 to 2.", "accepted", "m"),
            Paraphrase("t/1/e", "What is 2 + 2, dear puipls of mathematics?", "accepted", "rule", "typos"),
        )
    }
)


def keys(axis, **params):
    return [one.key for one in axis_of(axis, params).variants(ITEM, "plain", np.random.default_rng(0), STORED)]


@pytest.mark.parametrize(
    "params, expected",
    [
        ({}, ["base", "german-a"]),
        ({"unreviewed": True}, ["base", "german-a", "french-b"]),
        ({"language": "french", "unreviewed": True}, ["base", "french-b"]),
        ({"language": "Basque"}, ["base"]),
    ],
)
def test_accepted_translations_are_asked_and_others_only_where_they_are_wanted(params, expected):
    assert keys("language", **params) == expected


def test_each_axis_asks_its_own_kind_of_wording():
    assert keys("paraphrase") == ["base", "reworded-d"]
    assert keys("typos", reviewed=True) == ["base", "reviewed-e"]
    assert all(not key.startswith("reviewed") for key in keys("typos"))


def test_the_question_alone_is_translated():
    base, german = axis_of("language").variants(ITEM, "plain", np.random.default_rng(0), STORED)
    assert german.prompt.text == "Question: Wie viel ist 2 + 2?\nAnswer:" and german.material_id == "t/1/a"
    assert german.target == base.target
