"""Translations and versions with typos go the way of paraphrases: proposed or brought in, reviewed, gated, struck when rejected."""

from dataclasses import replace

import pytest

from flipcore.annotation import gates
from flipcore.annotation.paraphrases.pair_files import Inventory, guessed_columns, incoming, pair_rows
from flipcore.annotation.paraphrases.random_order import take
from flipcore.annotation.proposals.proposing import propose, propose_typos, translation, translation_checks
from flipcore.core.errors import BadInput
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.datasets import load
from flipcore.datasets.reading.rows import Row
from flipcore.runs.plan import plan
from flipcore.runs.runner import run
from flipcore.store.queries import review, studies
from flipcore.store.queries.locks import keep_lock
from tests.annotation.paraphrases.pairs import OTHER, SAME
from tests.annotation.paraphrases.test_verdict_messages import message
from tests.annotation.proposals.test_proposing import lab, reply  # noqa: F401
from tests.models.server import Server

pytestmark = pytest.mark.usefixtures("allowed_callables")

SOURCE = ItemSource("flipscope_choice", n=8)
ITEMS = list(load(SOURCE))


def study(*axes):
    return Study(
        name="in other languages",
        items=(SOURCE,),
        axes=axes,
        extractors=(Part("regex"),),
        models=(ModelUse("simulated-brittle"),),
    )


def bring(store, language="German"):
    """A translation of every question, as a file brings it."""
    rows = [
        Row(i + 2, {"original": item.question, "paraphrase": f"Frage {i}: {item.question}", "language": language})
        for i, item in enumerate(ITEMS)
    ]
    columns = guessed_columns(rows[0].values)
    inventory = Inventory({}, {" ".join(item.question.split()).casefold(): item.item_id for item in ITEMS})
    found = incoming(rows, columns, dataset="flipscope_choice", generator="bureau", inventory=inventory)
    assert found.refusals == ()
    review.keep_pairs(store, found.pairs, ITEMS)
    return [pair["pair_id"] for pair in found.pairs]


def judge(store, pairs, words):
    take(store, "Ada", [message({"pair_id": pair}, words, n=str(words)) for pair in pairs])


def asked_pairs(store, study_id, **how):
    frame = studies.readouts(store, study_id, **how)
    return set(frame[frame["variant"] != "base"]["item_id"])


def test_a_file_that_names_a_language_brings_translations_and_they_go_out_as_such(store):
    bring(store)
    assert {row["change"] for row in pair_rows(store)} == {"language:German"}
    bad = Row(2, {"original": "What?", "paraphrase": "Was?", "language": "<script>"})
    found = incoming([bad], guessed_columns(bad.values), dataset="d", generator="g", inventory=Inventory())
    assert "no name of a language" in found.refusals[0][1] and found.pairs == ()


def test_no_study_asks_a_translation_before_it_is_accepted(store):
    pairs = bring(store)
    note = plan(study(Part("language")), store).notes
    assert any("No item has an accepted translation" in one for one in note)
    judge(store, pairs[:3], SAME)
    planned = plan(study(Part("language"), Part("paraphrase")), store)
    by_axis = [v for item in planned.items for v in item.variants if v.key != "base"]
    assert [v.axis for v in by_axis] == ["language"] * 3 and {v.material_id for v in by_axis} == set(pairs[:3])


@pytest.mark.slow
def test_an_unreviewed_translation_is_in_no_flip_until_it_is_accepted_and_a_rejected_one_leaves(store):
    pairs = bring(store)
    one = study(Part("language", {"unreviewed": True}))
    assert run(one, store).state == "done"
    assert asked_pairs(store, one.study_id) == set() and len(asked_pairs(store, one.study_id, everything=True)) == 8
    judge(store, pairs[:4], SAME)
    assert len(asked_pairs(store, one.study_id)) == 4
    why = gates.reasons(store, one.study_id)["language"]
    assert why.startswith("Translations of flipscope_choice by bureau:") and "paraphrase" not in gates.reasons(
        store, one.study_id
    )
    judge(store, pairs[3:4], OTHER)
    assert len(asked_pairs(store, one.study_id)) == 3


@pytest.mark.slow
def test_a_lock_counts_the_translations_that_were_accepted_when_it_was_stored(store):
    pairs = bring(store)
    judge(store, pairs[:5], SAME)
    one = replace(study(Part("language", {"unreviewed": True})), confirmatory_share=0.6)
    assert run(one, store).state == "done"
    lock = keep_lock(store, one.study_id, "decomposition", {}, "Ada")
    before = asked_pairs(store, one.study_id, lock=lock)
    judge(store, pairs[5:], SAME)
    assert before and asked_pairs(store, one.study_id, lock=lock) == before


@pytest.mark.slow
def test_typos_through_review_are_asked_when_accepted_and_gated_like_any_wording(store):
    review.keep_pairs(store, [], ITEMS)
    proposals = propose_typos(ITEMS, store)
    assert proposals and all(one.pair_id and one.text != one.original for one in proposals)
    assert [one.pair_id for one in propose_typos(ITEMS, store)] == [one.pair_id for one in proposals]
    one = study(Part("typos", {"reviewed": True}))
    assert all(v.key == "base" for item in plan(one, store).items for v in item.variants)
    judge(store, [proposals[0].pair_id], SAME)
    assert run(one, store).state == "done"
    assert asked_pairs(store, one.study_id) == {proposals[0].item_id}
    assert gates.reasons(store, one.study_id)["typos"].startswith("Versions with typos of flipscope_choice by rule: typos:")
    judge(store, [proposals[0].pair_id], OTHER)
    assert asked_pairs(store, one.study_id) == set()
    by_rule = study(Part("typos"))
    assert run(by_rule, store).state == "done" and gates.reasons(store, by_rule.study_id) == {}


def test_a_model_proposes_a_translation_that_keeps_the_figures(store, lab):  # noqa: F811
    item = replace(ITEMS[0], question="How many legs do 4 horses have?")
    with Server(reply("Wie viele Beine haben 4 Pferde?"), reply("Wie viele Beine haben 5 Pferde?")) as server:
        lab(server)
        good, bad = (propose([item], translation(name), ModelUse("lab"), store)[0] for name in ("German", "Low German"))
        assert "Translate the text into German." in server.bodies[0]["messages"][0]["content"]
    assert good.pair_id and bad.pair_id is None
    assert store.rows("SELECT change, generator FROM paraphrases") == [("language:German", "lab: translation into German")]
    with pytest.raises(BadInput, match="no name of a language"):
        translation("{text}")


@pytest.mark.parametrize(
    "text, passes",
    [
        ("Es kostet 1.200,50 Euro.", True),
        ("Es kostet 1.200,05 Euro.", False),
        ("It costs 1,200.50 euros.", False),
        ("1200.50", False),
    ],
)
def test_figures_are_kept_however_a_language_writes_them(text, passes):
    assert all(ok for _, ok, _ in translation_checks("It costs 1,200.50 euros.", text)) == passes
