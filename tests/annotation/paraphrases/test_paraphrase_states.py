"""What stands of a pair: people decide, models are counted beside, and the verdict that settles a pair decides it."""

import datetime as dt

import pytest

from flipcore.annotation.judging import queue
from flipcore.annotation.paraphrases.effect import own_acceptance, own_verdicts, source_gates
from flipcore.annotation.paraphrases.random_order import review_view
from flipcore.annotation.paraphrases.ratings import disagreements, verdicts_by_models, verdicts_by_people
from flipcore.annotation.paraphrases.verdicts import ADJUDICATION, settling_row, verdict_row
from flipcore.core.errors import BadInput
from flipcore.runs import demo
from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.queries import judgements, review, studies
from tests.annotation.paraphrases.pairs import OTHER, SAME, made_pairs, stored

pytestmark = pytest.mark.usefixtures("allowed_callables")

START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def given(store, pair, name, said, day=0, **rest):
    rest = {"note": "why"} | rest
    judgements.keep(store, PAIR_VERDICTS, [verdict_row(pair, name, said, created_at=START + dt.timedelta(days=day), **rest)])


def standing(store, pair):
    return next(row for row in studies.paraphrase_states(store).to_dict("records") if row["pair_id"] == pair["pair_id"])


def test_models_neither_accept_nor_reject_nor_open_a_gate_however_many_they_are(store):
    pairs = made_pairs(60)
    stored(store, pairs)
    rows = [verdict_row(pair, f"model {i}", SAME, reviewer_kind="model") for pair in pairs for i in range(5)]
    judgements.keep(store, PAIR_VERDICTS, rows)
    states = studies.paraphrase_states(store)
    assert set(states["state"]) == {"unreviewed"} and set(states["n_reviewers"]) == {0} and set(states["n_models"]) == {5}
    (one,) = source_gates(states)
    assert not one.gate.is_open and one.gate.accepted.n == 0
    assert "model reviewers keep 60 of 60 pairs" in one.models_sentence() and "open no gate" in one.models_sentence()
    given(store, pairs[0], "Ada", OTHER)  # one person outweighs five models
    assert standing(store, pairs[0])["state"] == "rejected"
    assert (
        len(verdicts_by_people(judgements.standing(store, PAIR_VERDICTS))) == 1
        and len(verdicts_by_models(judgements.standing(store, PAIR_VERDICTS))) == 300
    )


@pytest.mark.slow
def test_chosen_pairs_are_struck_out_but_neither_open_nor_close_a_gate_until_all_are_reviewed(store):
    pairs = made_pairs(120)
    stored(store, pairs)
    judgements.keep(store, PAIR_VERDICTS, [verdict_row(pair, "Ada", SAME, by_choice=True) for pair in pairs[:60]])
    (one,) = source_gates(studies.paraphrase_states(store))
    assert not one.gate.is_open and (one.gate.accepted.n, one.gate.n_chosen, one.n_reviewed) == (0, 60, 60)
    assert "60 reviewed pairs were chosen, not drawn at random" in one.sentence()
    assert own_acceptance(own_verdicts(store, "Ada"))[0].endswith("Accepted, as before: unknown.")
    given(store, pairs[0], "Bea", OTHER, day=1, by_choice=True)
    assert standing(store, pairs[0])["state"] == "rejected"  # an even split, as everywhere
    # drawn at random: 50 of the rest; what was chosen stays beside
    judgements.keep(store, PAIR_VERDICTS, [verdict_row(pair, "Cem", SAME) for pair in pairs[60:110]])
    (one,) = source_gates(studies.paraphrase_states(store))
    assert one.gate.is_open and (one.gate.accepted.n, one.gate.n_chosen) == (50, 60)
    # a pair that came up at random for somebody else counts, whoever chose it before
    given(store, pairs[1], "Cem", SAME, day=1)
    assert source_gates(studies.paraphrase_states(store))[0].gate.accepted.n == 51
    # once all are reviewed none stands for another
    judgements.keep(store, PAIR_VERDICTS, [verdict_row(pair, "Dan", OTHER, by_choice=True) for pair in pairs[110:]])
    (one,) = source_gates(studies.paraphrase_states(store))
    assert (one.gate.accepted.n, one.gate.n_chosen) == (120, 0) and one.gate.accepted.value == 109 / 120


def test_models_leave_every_pair_to_a_new_person(store):
    demo.fill_store(store)
    strata = review.pairs_with_source(store)
    assert len(strata) == 128
    assert review_view(store, "Ada", queue(strata, "Ada")).data["n_left"] == 128
    given(store, review.pairs(store)[0], "model-reviewer-a", SAME)  # a person under a model's name is a person
    assert review_view(store, "Ada", queue(strata, "Ada", shared=0)).data["n_left"] == 127


@pytest.mark.slow
def test_the_verdict_that_settles_a_pair_decides_it_against_any_number_before(store):
    pair, even = made_pairs(2)
    stored(store, [pair, even])
    for name in ("Ada", "Bea", "Cem"):
        given(store, pair, name, SAME if name == "Ada" else OTHER)
    assert standing(store, pair)["state"] == "rejected"
    (one,) = disagreements(judgements.standing(store, PAIR_VERDICTS))
    blind = {row["reviewer"] for row in one.verdicts}
    judgements.keep(store, PAIR_VERDICTS, [settling_row(pair, blind, "Dan", SAME, "Both ask for the same number.")])
    row = standing(store, pair)
    assert row["state"] == "accepted" and (row["n_kept"], row["n_reviewers"]) == (1, 3)  # as one more vote: 2 of 4, rejected
    assert (row["settled_by"], row["settled_why"]) == ("Dan", "Both ask for the same number.")
    given(store, pair, "Eve", OTHER, day=400)  # a late blind verdict does not unsettle it
    assert standing(store, pair)["state"] == "accepted"


def test_nobody_settles_their_own_pair_and_no_model_settles_any(store):
    pair = made_pairs(1)[0]
    stored(store, [pair])
    given(store, pair, "Ada", OTHER)
    given(store, pair, "Bea", SAME)
    with pytest.raises(BadInput, match="somebody else has to settle"):
        settling_row(pair, {"Ada", "Bea"}, " Ada ", SAME, "why")
    with pytest.raises(BadInput, match="give the reason"):
        settling_row(pair, {"Ada", "Bea"}, "Cem", SAME, " ")
    with pytest.raises(BadInput, match="give the reason"):
        settling_row(pair, {"Ada", "Bea"}, "Cem", SAME | {"meaning": None}, "why")
    with pytest.raises(BadInput, match="needs a person"):
        verdict_row(pair, "m", SAME, "why", reviewer_kind="model", rule_version=ADJUDICATION)
    # a file may bring such a row past the page: it is kept as a verdict and settles nothing
    given(store, pair, "Ada", SAME, day=1, rule_version=ADJUDICATION)
    assert standing(store, pair)["state"] == "rejected" and standing(store, pair)["settled_by"] is None
    assert (
        disagreements(judgements.standing(store, PAIR_VERDICTS)) == []
        or disagreements(judgements.standing(store, PAIR_VERDICTS))[0].settled is None
    )
