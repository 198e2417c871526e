import math

import numpy as np
import pytest

from flipcore.pocket.card import GROUPS, auc, auc_interval, card, grouped
from flipcore.pocket.inference import FOLDER, PocketModel
from flipcore.pocket.items import read_items
from flipcore.pocket.measures import Picks, numbers, question_loss, resampled


@pytest.fixture(scope="module")
def model():
    return PocketModel.load()


def dosed(family, dose, n=12):
    return [entry for entry in read_items(family) if entry.dose == dose and entry.split != "fresh"][:n]


def test_auc_counts_pairs_and_halves_ties():
    # pairs (2,1) (2,2) (3,1) (3,2): won, tied, won, won -> 3.5 of 4
    assert auc(np.array([2.0, 3.0]), np.array([1.0, 2.0])) == 0.875
    assert math.isnan(auc(np.array([]), np.array([1.0])))


def test_the_auc_interval_is_that_of_hanley_and_mcneil():
    # a = .875, n = m = 2: q1 = .875/1.125 = .77778, q2 = 1.53125/1.875 = .81667; the sum of
    # .109375 + (.77778 - .765625) + (.81667 - .765625) = .17257 over 4 = .043143, se = .207708
    value, low, high = auc_interval(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    assert (value, high) == (0.875, 1.0) and low == pytest.approx(0.875 - 1.96 * 0.207708, abs=1e-4)


def test_groups_hold_each_item_once():
    groups = grouped(list(read_items("problems")))
    assert tuple(groups) == GROUPS and sum(map(len, groups.values())) == 770 and len(groups["256"]) == 60


def test_what_was_read_256_times_is_known_by_heart(model):
    entries = dosed("problems", 256)
    assert numbers(model, [entry.question for entry in entries]) == [entry.target for entry in entries]
    assert Picks(model, dosed("choices", 256)).first_right.all()
    assert auc(question_loss(model, dosed("prose", 256)), question_loss(model, dosed("prose", 0))) > 0.95


def test_new_numbers_come_with_their_own_target():
    made = [resampled(entry) for entry in dosed("problems", 0, 30)]
    kept = [(entry, one) for entry, one in zip(dosed("problems", 0, 30), made, strict=True) if one]
    assert len(kept) > 20 and all(one[0] != entry.question and one[1] != entry.target for entry, one in kept)


def test_an_order_turns_the_options_and_not_the_answers_meaning(model):
    # a model that knows the item by content picks the same option in every order; positions are mapped back to the item's own
    entries = dosed("choices", 256)
    assert Picks(model, entries, turn=4).text == Picks(model, entries).text
    assert np.mean(Picks(model, entries, turn=1).text_right) > 0.5


def test_the_card_belongs_to_the_shipped_weights(model):
    assert f"`{model.revision}`" in (FOLDER / "CARD.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_card_is_written_from_the_shipped_model(model):
    text = card(quick=True)
    assert model.revision in text and "nan" not in text and text.count("| 256 |") == 2
