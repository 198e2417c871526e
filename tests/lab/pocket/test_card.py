import numpy as np
import pytest

from flipcore.core.paths import POCKET
from flipcore.models.pocket_inference import PocketModel
from flipcore.stats.memory.ground_truth import auc_interval
from tests.lab.pocket.card import GROUPS, against_doses, by_dose, card
from tests.lab.pocket.items import read_items
from tests.lab.pocket.measures import Picks, beside_reference, numbers, question_loss, resampled
from tests.lab.pocket.scores import BESIDE, write_beside


@pytest.fixture(scope="module")
def model():
    return PocketModel.load()


def dosed(family, dose, n=12):
    return [entry for entry in read_items(family) if entry.dose == dose and entry.split != "fresh"][:n]


def test_groups_hold_each_item_once():
    groups = by_dose(list(read_items("problems")))
    assert tuple(groups) == GROUPS and sum(map(len, groups.values())) == 770 and len(groups["256"]) == 60


@pytest.mark.slow
def test_what_was_read_256_times_is_known_by_heart(model):
    entries = dosed("problems", 256)
    assert numbers(model, [entry.question for entry in entries]) == [entry.target for entry in entries]
    assert Picks(model, dosed("choices", 256)).first_right.all()
    assert auc_interval(question_loss(model, dosed("prose", 256)), question_loss(model, dosed("prose", 0))).value > 0.95


def test_new_numbers_come_with_their_own_target():
    made = [resampled(entry) for entry in dosed("problems", 0, 30)]
    kept = [(entry, one) for entry, one in zip(dosed("problems", 0, 30), made, strict=True) if one]
    assert len(kept) > 20 and all(one[0] != entry.question and one[1] != entry.target for entry, one in kept)


def test_an_order_turns_the_options_and_not_the_answers_meaning(model):
    # a model that knows the item by content picks the same option in every order; positions are mapped back to the item's own
    entries = dosed("choices", 256)
    assert Picks(model, entries, turn=4).text == Picks(model, entries).text
    assert np.mean(Picks(model, entries, turn=1).text_right) > 0.5


@pytest.mark.slow
def test_losses_beside_a_reference_model_are_large_where_the_model_alone_has_read(model, monkeypatch):
    """Beside itself at fewer bits, which has read the same, the difference is small and of either sign."""
    known, new = (dosed("prose", dose, 6) for dose in (256, 0))
    assert (beside_reference(model, model, known) == 0).all()
    coarse = PocketModel.load(bits=4)
    beside = beside_reference(model, coarse, known), beside_reference(coarse, model, known)
    assert (
        beside[0] == pytest.approx(-beside[1], abs=1e-3)
        and np.abs(beside[0]).max() > 0.1
        and len(beside_reference(model, coarse, new)) == 6
    )
    stored = {}
    monkeypatch.setattr("tests.lab.pocket.scores.read_scores", lambda: (model.revision, {"min-k %, problems": {}}))
    monkeypatch.setattr("tests.lab.pocket.scores.write_scores", lambda scores, revision: stored.update(scores))
    write_beside(model, coarse, {family: {"256": dosed(family, 256, 2)} for family in ("problems", "choices", "prose")})
    assert set(stored) == {"min-k %, problems", *BESIDE} and all(len(stored[title]["256"]) == 2 for title in BESIDE)


def test_the_card_belongs_to_the_shipped_weights(model):
    assert f"`{model.revision}`" in (POCKET / "CARD.md").read_text(encoding="utf-8")


@pytest.mark.simulation
@pytest.mark.slow
def test_the_card_is_written_from_the_shipped_model(model):
    text = card(quick=True)
    assert model.revision in text and "nan" not in text and text.count("| 256 |") == 2


@pytest.mark.slow
def test_power_rises_with_the_dose_and_what_was_never_read_is_accused_at_nominal():
    rng = np.random.default_rng(7)
    groups = {"0": rng.normal(size=150), "fresh": rng.normal(size=400), "4": rng.normal(1, 1, 40), "64": rng.normal(4, 1, 40)}
    at = against_doses("x", groups, n_sets=200)
    assert at["0"]["power"].low <= 0.05 and at["4"]["power"].value < at["64"]["power"].value == 1
    assert at["64"]["auc"].value > 0.98 and at["4"]["n"] == 40 and "fresh" not in at
    assert against_doses("x", groups, n_sets=200)["4"] == at["4"]  # a seed of its own
