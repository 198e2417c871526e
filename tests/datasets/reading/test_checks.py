"""A row that is no item says in a sentence why."""

from dataclasses import replace

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.records import Item
from flipcore.datasets.reading.checks import checked

CHOICE = Item.make(dataset="d", key="1", kind="choice", question="Which?", options=("tin", "oak"), target="0")


def test_an_item_that_is_one_comes_back_as_it_was():
    assert checked(CHOICE) is CHOICE
    assert checked(replace(CHOICE, target="0\n1", published="2024-03-01")).target == "0\n1"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"kind": "riddle"}, "a kind is one of choice, number"),
        ({"question": "  "}, "has no question"),
        ({"published": "March 2024"}, "year-month-day"),
        ({"published": "2024-02-30"}, "year-month-day"),
        ({"options": ("tin",)}, "has 1 option; a choice needs at least two"),
        ({"options": ()}, "has no options"),
        ({"options": tuple(map(str, range(27)))}, "there are labels for 26"),
        ({"options": ("tin", " ")}, "has no text in option 2"),
        ({"options": ("tin", "tin ")}, "the same text in options 1 and 2"),
        ({"target": "2"}, "names none of its 2 options"),
        ({"kind": "number"}, "only choice items have options"),
    ],
)
def test_each_way_to_be_no_item_has_a_sentence(change, why):
    with pytest.raises(BadInput, match=why):
        checked(replace(CHOICE, **change))
