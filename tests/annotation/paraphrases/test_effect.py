"""Striking a rewording out changes the study's estimate at once, and the bounds hold what the rest could do."""

import re

import pandas as pd
import pytest

from flipcore.annotation.judging import Place
from flipcore.annotation.paraphrases.effect import effect, effect_rows, expected_bad, own_effect, own_verdicts, source_gates
from flipcore.annotation.paraphrases.random_order import Order, take
from flipcore.annotation.paraphrases.verdicts import verdict_row
from flipcore.annotation.proposals.proposing import propose_typos
from flipcore.core.errors import BadInput
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.datasets import load
from flipcore.reports.choices import item_facts
from flipcore.reports.whole_study import whole_study
from flipcore.runs import demo, runner
from flipcore.stats.flips.exclusion_bounds import moved_by_all
from flipcore.store.connection import Store
from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.queries import judgements, review, studies
from tests.annotation.paraphrases.pairs import OTHER, SAME, made_pairs
from tests.annotation.paraphrases.test_verdict_messages import message

pytestmark = pytest.mark.usefixtures("allowed_folders", "allowed_callables")


def reworded_study(n=20):
    return Study(
        name="reworded",
        items=(ItemSource("flipscope_choice", n=n),),
        axes=(Part("paraphrase", {"unreviewed": True}),),
        extractors=(Part("first_token"), Part("regex")),
        models=(ModelUse("simulated-brittle"),),
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A study on the shipped rewordings, asked before anybody had judged them."""
    opened = Store.open(tmp_path_factory.mktemp("effect") / "flips.duckdb")
    keep = demo._lines
    demo._lines = lambda name: [] if name == "verdicts.jsonl" else keep(name)
    demo.fill_store(opened)
    demo._lines = keep
    runner.run(reworded_study(), opened)
    yield opened
    opened.close()


def found(store, extractor="first_token"):
    study_id = reworded_study().study_id
    states = studies.paraphrase_states(store)
    frame = studies.readouts(store, study_id, paraphrases="all")
    return effect(frame, review.materials(store, study_id), states, extractor, "regex")


def judge(store, pairs, said):
    """Ada's verdicts on pairs that came up for her in this order."""
    order = Order("Ada", tuple(Place(pair, True) for pair in pairs), True)
    take(store, "Ada", [message({"pair_id": pair}, said, n="effect") for pair in pairs], order)


@pytest.mark.slow
def test_before_any_verdict_everything_counts_and_nothing_is_bounded(store):
    before = found(store)
    (_, n_all, everything), (_, n_standing, standing), (_, n_accepted, accepted) = before.subsets
    assert n_all == n_standing > 0 and n_accepted == 0 and everything.T.value == standing.T.value
    assert accepted.n_items == 0 and before.bounds is None and "No paraphrase" in before.sentence("first token")
    shown = [row[name] for row in effect_rows(before)[:2] for name in ("pairs that flip", "genuine", "artifact")]
    assert all("%" in text for text in shown), "shares are percentages, as on Flips"


@pytest.mark.slow
def test_a_struck_rewording_leaves_the_axis_at_once_and_the_estimate_moves(store):
    study_id = reworded_study().study_id
    materials = review.materials(store, study_id)
    frame = studies.readouts(store, study_id)
    flips = frame[frame["extractor"] == "first_token"].groupby("item_id")["answer"].nunique()
    pairs = [pair for (item, _), pair in sorted(materials.items()) if flips[item] > 1]
    others = [pair for (item, _), pair in sorted(materials.items()) if flips[item] == 1]
    assert pairs and others
    before = found(store).subsets[1][2].T.value
    judge(store, pairs[:1], OTHER)
    judge(store, others[:2], SAME)
    after = found(store)
    gone = next(place for place, pair in materials.items() if pair == pairs[0])
    rows = studies.readouts(store, study_id)
    assert gone not in set(zip(rows["item_id"], rows["variant"], strict=True))
    assert after.subsets[1][2].T.value < before and "1 of" in after.sentence("first token")
    # 1 of 3 reviewed was struck, so a third of the rest might be
    n_left = len(materials) - 3
    assert after.bounds.n_bad == -(-n_left // 3) and after.bounds.n_unreviewed == n_left
    low, high = (one.T.value for one in after.bounds.limits["T"])
    assert low <= after.subsets[1][2].T.value <= high and low < high
    # Every choice may leave out what nobody has reviewed.
    unreviewed = item_facts(whole_study(store, study_id)).unreviewed
    judged = {pairs[0], *others[:2]}
    assert unreviewed == {(item, "paraphrase", key) for (item, key), pair in materials.items() if pair not in judged}


@pytest.mark.slow  # reads the verdicts that the test above wrote
def test_the_gate_counts_each_source_and_says_when_there_are_too_few_pairs(store):
    gates = {one.dataset: one for one in source_gates(studies.paraphrase_states(store))}
    assert gates["flipscope_choice"].gate.accepted.n == 3 and not gates["flipscope_choice"].gate.is_open
    states = studies.paraphrase_states(store)
    choice = states[states["dataset"] == "flipscope_choice"]
    judge(store, choice["pair_id"], SAME)
    opened = source_gates(studies.paraphrase_states(store))[0]
    assert opened.gate.is_open and "may be used" in opened.sentence()
    judge_again = [message({"pair_id": pair}, OTHER, n="again") for pair in choice["pair_id"].head(10)]
    take(store, "Ada", judge_again)
    shut = source_gates(studies.paraphrase_states(store))[0]
    assert not shut.gate.is_open and "all of them have been reviewed" in shut.sentence()


@pytest.mark.slow
def test_too_many_unreviewed_rewordings_of_an_item_leave_the_rest_of_the_effect(store, monkeypatch):
    def refuse(*_, **__):
        raise BadInput("Review some of them first.")

    monkeypatch.setattr("flipcore.annotation.paraphrases.effect.extreme_exclusions", refuse)
    states = studies.paraphrase_states(store)
    asked = set(review.materials(store, reworded_study().study_id).values())
    states["state"] = ["unreviewed" if pair in asked else "rejected" for pair in states["pair_id"]]
    states["in_sample"] = states["state"] != "unreviewed"
    frame = studies.readouts(store, reworded_study().study_id, paraphrases="all")
    shown = effect(frame, review.materials(store, reworded_study().study_id), states, "first_token", "regex")
    assert shown.bounds is None and "Review some of them first" in shown.unbounded and len(shown.subsets) == 3


def test_what_was_struck_before_a_study_began_counts_among_the_reviewed():
    # source a: 1 of 4 reviewed is bad, so of its 5 unreviewed 5/4 are; source b has no verdict and is taken to be like a:
    # 2 * 1/4; together 1.75, rounded up. Source c is none of the study's.
    rows = [("a", "rejected")] + [("a", "accepted")] * 3 + [("a", "unreviewed")] * 5 + [("b", "unreviewed")] * 2
    rows += [("c", "rejected")] * 9
    states = pd.DataFrame(
        {
            "pair_id": [f"p{i}" for i in range(len(rows))],
            "dataset": [name for name, _ in rows],
            "generator": "g",
            "state": [state for _, state in rows],
            "in_sample": [state != "unreviewed" for _, state in rows],
        }
    )
    assert expected_bad(states, [f"p{i}" for i in range(4, 11)]) == (2, 4)
    assert expected_bad(states, ["p9"]) == (0, 0) and expected_bad(states, []) == (0, 0)


@pytest.mark.slow
def test_a_study_answers_for_the_sources_that_it_asked_and_no_other(store):
    study_id = reworded_study().study_id
    (row,) = studies.reviewed(store, study_id)
    dataset, generator, n_reviewed, n_accepted, n_chosen, n_pairs = row
    assert (dataset, generator) == ("flipscope_choice", "flipscope-authors") and n_chosen == 0
    assert n_pairs >= n_reviewed >= n_accepted
    review.keep_pairs(store, made_pairs(3, dataset, "somebody else"))
    assert studies.reviewed(store, study_id) == [row]


@pytest.mark.slow
def test_one_reviewers_verdicts_say_what_they_moved_and_of_which_set(store):
    study_id = reworded_study().study_id
    frame, materials = studies.readouts(store, study_id, paraphrases="all"), review.materials(store, study_id)

    def said(name):
        return own_effect(frame, materials, own_verdicts(store, name), "first_token", "regex")

    flips = frame[frame["extractor"] == "first_token"].groupby("item_id")["answer"].nunique()
    pairs = [pair for (item, _), pair in sorted(materials.items()) if flips[item] > 1][:2]
    assert "has judged none of the" in said("Zoe")
    judgements.keep(store, PAIR_VERDICTS, [verdict_row(row, "Zoe", OTHER) for row in review.pairs(store, pairs)])
    struck = [row["pair_id"] for row in studies.paraphrase_states(store).to_dict("records") if row["state"] == "rejected"]
    assert f"{len(pairs)} verdicts of Zoe on the {len(set(materials.values()))} paraphrases that this study asked" in said(
        "Zoe"
    )
    assert re.search(r"moved the share of pairs that flip from \d+%|changed nothing: \d+%", said("Zoe"))
    assert struck


@pytest.mark.slow
def test_typos_that_were_reviewed_have_an_effect_bounds_and_an_order_of_their_own(tmp_path):
    """Struck out like paraphrases; the verdicts on one axis move no other."""
    store = Store.open(tmp_path / "flips.duckdb")
    try:
        items = list(load(ItemSource("flipscope_choice", n=12)))
        review.keep_pairs(store, [], items)
        pairs = [one.pair_id for one in propose_typos(items, store)]
        judge(store, pairs, SAME)
        axes = (Part("typos", {"reviewed": True, "lower": False}), Part("option_order", {"n": 2}))
        study = Study(**vars(reworded_study(12)) | {"name": "typos", "axes": axes})
        runner.run(study, store)
        materials = review.materials_by_axis(store, study.study_id)
        assert set(materials) == {"typos"} and review.materials(store, study.study_id) == {}
        frame = studies.readouts(store, study.study_id, paraphrases="all")
        moved = moved_by_all(frame, materials)
        assert set(moved) == set(materials["typos"].values()) and max(moved.values()) > 0
        worst = max(moved, key=lambda pair: moved[pair])
        take(store, "Ada", [message({"pair_id": worst}, OTHER, n="again")])

        def of_typos():
            states = studies.paraphrase_states(store)
            return effect(frame, materials["typos"], states, "first_token", "regex", "typos")

        after = of_typos()
        (_, n_all, before), (_, n_left, standing), _ = after.subsets
        assert n_left == n_all - 1 and standing.T.value != before.T.value
        assert f"1 of {n_all} versions with typos were struck out" in after.sentence("first token")
        assert "versions with typos" in effect_rows(after)[0]
        shown = studies.readouts(store, study.study_id)
        gone = next(place for place, pair in materials["typos"].items() if pair == worst)
        assert gone not in set(zip(shown["item_id"], shown["variant"], strict=True))
    finally:
        store.close()
