"""Pairs that people label: which come up, in whose order, apart from single labels, and what they say of flips and of the report."""

import json
import shutil
from itertools import pairwise

import numpy as np
import pytest

from flipcore.annotation.judge_labels import agreed_labels, ids_to_label, label_row, labelled_pairs, pairs_to_label
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports.read_by_people import leading, people_on_flips
from flipcore.reports.whole_study import whole_study
from flipcore.store.connection import Store
from flipcore.store.judgements import OUTPUT_LABELS
from flipcore.store.queries import judgements, judges
from tests.stores import store_with

pytestmark = pytest.mark.usefixtures("allowed_folders")

STUDY = Study(
    "pairs",
    (ItemSource("flipscope_choice", n=30),),
    (Part("identity"), Part("option_order", {"n": 3}), Part("label_set")),
    (Part("regex"), Part("first_token")),
    (ModelUse("simulated-noisy"),),
)
S = STUDY.study_id


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    return store_with(tmp_path_factory.mktemp("pairs"), STUDY)


@pytest.fixture
def store(asked, tmp_path):
    """A copy of its own for every test."""
    opened = Store.open(shutil.copy(asked, tmp_path / "flips.duckdb"))
    yield opened
    opened.close()


def label(store, call_ids, other=0):
    """Ada reads what the written answer reads, but another option in the first `other` of the outputs."""
    read = {row["call_id"]: row["answer"] for row in judges.readouts_of(store, S, call_ids) if row["extractor"] == "regex"}
    rows = []
    for i, call_id in enumerate(call_ids):
        answer = read[call_id]
        if i < other:
            answer = "1" if answer == "0" else "0"
        rows.append(label_row(judges.output(store, S, call_id), "Ada", answer, in_pairs=True))
    judgements.keep(store, OUTPUT_LABELS, rows)


@pytest.mark.slow
def test_one_random_pair_of_each_item_and_axis_comes_up_with_its_outputs_apart(store):
    sides = judges.pair_sides(store, S)
    first, second = sides[::2], sides[1::2]
    assert len(first) == len(second) == 60 and "identity" not in {one["axis"] for one in sides}
    for one, two in zip(first, second, strict=True):
        assert all(one[name] == two[name] for name in ("model", "item_id", "axis")) and one["variant"] != two["variant"]
    with_base = np.mean([one["variant"] == "base" or two["variant"] == "base" for one, two in zip(first, second, strict=True)])
    assert 0.3 < with_base < 0.95  # any two variants, not the own wording and another alone

    order = pairs_to_label(sides, "Ada", [])
    assert len(order) == len({one["call_id"] for one in sides}) and order != pairs_to_label(sides, "Bea", [])
    mate = {one["call_id"]: two["call_id"] for one, two in zip(first, second, strict=True)}
    neighbours = sum(mate.get(a) == b or mate.get(b) == a for a, b in pairwise(order))
    assert neighbours < len(order) / 6
    of_item = {one["call_id"]: one["item_id"] for one in sides}
    assert len({of_item[call] for call in order[:60]}) > 28  # an item's second pair after every item's first


@pytest.mark.slow
def test_labels_of_pairs_and_single_ones_stand_apart(store):
    sides = judges.pair_sides(store, S)
    order = pairs_to_label(sides, "Ada", [])
    label(store, order[:20])
    labels = judgements.standing(store, OUTPUT_LABELS)
    assert pairs_to_label(sides, "Ada", labels) == order[20:] and agreed_labels(labels) == ({}, 0)
    assert set(order[:20]) <= set(ids_to_label(judges.outputs(store, S), "Ada", labels))
    judgements.keep(store, OUTPUT_LABELS, [label_row(judges.output(store, S, order[0]), "Ada", "0")])
    both = judgements.standing(store, OUTPUT_LABELS)
    assert len(both) == 21 and agreed_labels(both) == ({order[0]: "0"}, 0)
    assert labelled_pairs(store, S).n_labels == 20 and len(labelled_pairs(store, S).rows) >= 9


@pytest.mark.slow
def test_people_who_read_as_the_reference_change_nothing_and_others_correct_it(store):
    order = pairs_to_label(judges.pair_sides(store, S), "Ada", [])
    label(store, order)
    whole = whole_study(store, S)
    people = whole.flips["simulated-noisy"].people
    assert [(one.raw.axis, one.raw.extractor) for one in people[:2]] == [
        ("all_changes", "first_token"),
        ("all_changes", "regex"),
    ]
    every = people[0]
    assert every.people.n_pairs == 60 and every.people.n_disagreements == 0
    assert every.people.stated.value == pytest.approx(every.raw.G.value)
    assert every.people.artifact.value == pytest.approx(every.raw.A.value)
    together = people_on_flips(
        "simulated-noisy", whole.flips["simulated-noisy"].cells, whole.flip_readouts, labelled_pairs(store, S), {}, at_once=True
    )
    assert together[0].people.stated.low < every.people.stated.low and leading(people[::-1]).raw.extractor == "first_token"
    assert "0 disagreements" in every.people.stated.note and "No labelled pair differs" in every.narrower
    assert every.sentence in whole.text() and "G, corrected by people" in {row.quantity for row in whole.rows}
    assert json.dumps(whole.as_dict()["models"]["simulated-noisy"]["people"], allow_nan=False)


@pytest.mark.slow
def test_labels_that_are_too_few_for_limits_correct_nothing_in_words_or_tables(store):
    """Six labels printed "0.42 of pairs state another answer", which invites belief."""
    label(store, pairs_to_label(judges.pair_sides(store, S), "Ada", [])[:12], other=4)
    whole = whole_study(store, S)
    people = whole.flips["simulated-noisy"].people
    assert 0 < people[0].people.n_pairs < 10
    for one in people:
        row = one.table_row()
        assert (row["G by people"], row["A by people"], row["by labels alone"]) == ("–", "–", "–")
        assert ", too few to correct the flips. No interval: " in one.sentence and "alone: " not in one.sentence
    assert whole.text().count("too few to correct the flips") == 1  # once a model


@pytest.mark.slow
def test_a_closed_gate_withholds_and_pairs_without_an_answer_are_left_out(store):
    label(store, pairs_to_label(judges.pair_sides(store, S), "Ada", []), other=40)
    whole = whole_study(store, S)
    pairs, frame = labelled_pairs(store, S), whole.flip_readouts
    cells = whole.flips["simulated-noisy"].cells
    shut = people_on_flips("simulated-noisy", cells, frame, pairs, {"label_set": "nobody reviewed it."})
    assert {one.raw.axis for one in shut} == {"option_order", "label_set"}  # over one open axis there is no mean over axes
    assert all(("Not claimed: nobody reviewed it." in one.sentence) == (one.raw.axis == "label_set") for one in shut)
    row = pairs.rows[0]
    gone = (frame["item_id"] == row["item_id"]) & (frame["variant"] == row["variants"][0]) & (frame["axis"] == row["axis"])
    fewer = people_on_flips("simulated-noisy", cells, frame[~gone | (frame["extractor"] != "first_token")], pairs, {})
    n_of = {one.raw.extractor: one.people.n_pairs for one in fewer if one.raw.axis == row["axis"]}
    assert n_of["regex"] == n_of["first_token"] + 1
