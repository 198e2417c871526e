"""Options that name places or other options are not moved or relabelled, or stay last."""

import csv
import io

import numpy as np
import pytest

from flipcore.axes import axis_of
from flipcore.axes.options import BY_LABEL, NOT_LAST, referring
from flipcore.core.contracts import Material
from flipcore.core.records import Item
from flipcore.core.study import ItemSource
from flipcore.datasets import load_report


def item(*options, target="0"):
    return Item.make(dataset="t", key="1", kind="choice", question="?", options=options, target=target)


def asked(axis, one, **params):
    return axis_of(axis, params).variants(one, "plain", np.random.default_rng(0), Material())


@pytest.mark.parametrize(
    "option",
    ["A and B", "a and b", "both A and C.", "Both (a) and (b).", "(A), (B), and (C)", "B and C only", "Neither A nor B"]
    + ["A only", "Option B", "Only A", "A & C", "Either A or B", "A and B but not C", "all of the above except B and D"],
)
def test_an_option_that_names_others_by_label_keeps_its_item_as_it_is(option):
    one = item("tin", "oak", "rye", option)
    for axis in ("option_order", "label_set"):
        (base,) = asked(axis, one)
        assert base.key == "base" and base.params["why"] == BY_LABEL and base.params["refusal"] == "refers"
    assert len(asked("prompt_format", one)) > 1  # the same order and labels in another layout stay harmless


@pytest.mark.parametrize(
    "option",
    ["None of the above", "all of the above.", "Both of the above", "none of these", "None of these choices is correct."]
    + ["All of them", "Neither of these", "Any of the above", "More than one of the above", "None of the other answers"],
)
@pytest.mark.parametrize("kind", ["cyclic", "random"])
def test_one_that_means_the_others_stays_last_while_they_move(option, kind):
    variants = asked("option_order", item("tin", "oak", "rye", option), kind=kind, n=3)
    assert len(variants) == 3 and len({one.order for one in variants}) == 3
    assert all(one.order[-1] == 3 for one in variants) and variants[1].params == {"kept_last": [option]}
    assert len(asked("label_set", item("tin", "oak", "rye", option))) == 3  # other labels do not move it


def test_where_it_does_not_stand_last_the_item_is_not_reordered():
    (base,) = asked("option_order", item("tin", "none of these", "oak", "rye"))
    assert base.params["why"] == NOT_LAST


@pytest.mark.parametrize(
    "options",
    [
        ("I only", "II only", "I and II", "III"),  # statements of the question
        ("Not at all", "A little", "A great deal", "Always"),
        ("Both", "Neither", "Either", "None"),
        ("above average", "below average", "average", "none that I know"),
        ("A major key", "B minor", "vitamin A and zinc", "the letter b"),
        ("all dogs are cats", "no dog is a cat", "some dogs are cats", "neither dogs nor cats"),
    ],
)
def test_words_that_only_look_like_it_are_left_alone(options):
    assert referring(options).why_not_reordered == "" and referring(options).about_others == ()


def test_an_item_without_such_options_is_asked_as_before():
    orders = [one.order for one in asked("option_order", item("tin", "oak", "rye", "oats"), n=4)]
    assert orders == [(0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2)]
    for name in ("pocket_choice", "flipscope_choice"):
        items = load_report(ItemSource(name)).items
        assert items and not [one for one in items if referring(one.options).about_others or referring(one.options).by_label]


@pytest.mark.stand_in("test_an_item_without_such_options_is_asked_as_before")
def test_a_few_percent_of_mmlu_are_kept_harmless(shared_data):
    """46 items name others by label, about 1 % may not be reordered, some 3 % keep one option last."""
    counts = {"still": 0, "last": 0}
    n = 0
    for path in sorted((shared_data / "mmlu" / "test").glob("*.csv")):
        for row in csv.reader(io.StringIO(path.read_text(encoding="utf-8"))):
            found = referring(row[1:5])
            n += 1
            counts["still"] += bool(found.why_not_reordered)
            counts["last"] += bool(found.about_others) and not found.why_not_reordered
    assert n > 6000
    assert 0.004 * n <= counts["still"] <= 0.015 * n and 0.015 * n <= counts["last"] <= 0.045 * n
