"""Only accepted rewordings are asked unless the study says otherwise."""

import numpy as np
import pytest

from flipcore.axes import axis_of
from flipcore.core.contracts import Material, Paraphrase
from flipcore.core.records import Item

ITEM = Item.make(dataset="t", key="1", kind="number", question="What is 2 + 2?", target="4")
STORED = Material(
    {
        ITEM.item_id: (
            Paraphrase("p/a", "Add 2 to 2.", "accepted", "hand"),
            Paraphrase("p/b", "Sum 2 and 2.", "unreviewed", "hand"),
            Paraphrase("p/c", "What is 2 + 3?", "rejected", "hand"),
        )
    }
)


def asked(material, **params):
    return axis_of("paraphrase", params).variants(ITEM, "plain", np.random.default_rng(0), material)


@pytest.mark.parametrize(("unreviewed", "ids"), [(False, [None, "p/a"]), (True, [None, "p/a", "p/b"])])
def test_rejected_ones_are_never_asked_and_unreviewed_ones_only_when_wanted(unreviewed, ids):
    assert [one.material_id for one in asked(STORED, unreviewed=unreviewed)] == ids


def test_the_question_is_reworded_and_the_rest_stays():
    assert [one.prompt.text for one in asked(STORED)] == ["Question: What is 2 + 2?\nAnswer:", "Question: Add 2 to 2.\nAnswer:"]


def test_an_empty_store_leaves_the_base_alone():
    assert [one.key for one in asked(Material())] == ["base"]


def test_a_key_names_its_pair_whatever_stands_before_it():
    added = Material(
        {ITEM.item_id: (Paraphrase("p/0", "Put 2 and 2 together.", "accepted", "hand"), *STORED.paraphrases[ITEM.item_id])}
    )
    assert [one.key for one in asked(added, unreviewed=True)] == ["base", "reworded-0", "reworded-a", "reworded-b"]


def test_a_key_stays_when_another_rewording_is_struck():
    rows = STORED.paraphrases[ITEM.item_id]
    struck = Material({ITEM.item_id: (Paraphrase("p/a", rows[0].text, "rejected", "hand"), *rows[1:])})
    before = {one.material_id: one.key for one in asked(STORED, unreviewed=True)}
    assert asked(struck, unreviewed=True)[1].key == before["p/b"]
