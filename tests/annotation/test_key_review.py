"""Suspect keys under review: what is suspect, in which order it is asked, what people say, and what changes without disputed items."""

import pandas as pd
import pytest

from flipcore.annotation.key_review import (
    AMBIGUOUS,
    ANSWER,
    UNANSWERABLE,
    UNDECIDED,
    errata,
    ids_to_review,
    key_reviews,
    key_verdict_row,
    rate_of_disputed,
    suspects,
)
from flipcore.core.errors import BadInput
from flipcore.core.records import Item
from flipcore.store.connection import Store
from flipcore.store.judgements import KEY_VERDICTS
from flipcore.store.queries import judgements

ITEMS = {
    name: Item(name, "set", "choice", f"Which is {name}?", ("a", "b", "c"), target="0", category="s")
    for name in ("i0", "i1", "i2", "i3")
}
NUMBER = Item("n", "set", "number", "How many?", (), target="5")


def readouts(answers):
    """One model and extractor, a variant an answer."""
    return pd.DataFrame(
        [
            {"model": "m", "item_id": item, "variant_id": f"{item}-{i}", "sample": 0, "extractor": "regex"}
            | {"answer": one, "is_correct": one == "0"}
            for item, given in answers.items()
            for i, one in enumerate(given)
        ]
    )


ANSWERS = {"i0": "0000", "i1": "1110", "i2": "1111", "i3": "0120"}


@pytest.fixture
def of():
    return suspects(readouts(ANSWERS), ITEMS)


def said(item, who, verdict, answer=None, **more):
    return key_verdict_row(ITEMS[item], who, verdict, answer, **more)


def test_items_whose_answers_agree_against_the_key_come_first(of):
    assert [one.item.item_id for one in of][:2] == ["i2", "i1"]
    assert [one.item.item_id for one in of if one.suspicion.is_suspect] == ["i2", "i1"]
    assert ids_to_review(of, "Ada", []) == ["i2", "i1"]
    twice = pd.concat([readouts(ANSWERS), readouts({"i0": "0000"})])  # a prompt that stands on two axes is one output
    assert next(one for one in suspects(twice, ITEMS) if one.item.item_id == "i0").suspicion.n == 4
    assert suspects(readouts({"gone": "1"}), ITEMS) == []


def test_one_or_two_outputs_speak_against_no_key():
    """A log of one run has one output an item: each of its wrong answers was a suspect key."""
    few = suspects(readouts({"i0": "1", "i1": "11", "i2": "111"}), ITEMS)
    assert {one.item.item_id: (one.suspicion.n, one.suspicion.is_suspect) for one in few} == {
        "i0": (0, False),
        "i1": (0, False),
        "i2": (3, True),
    }
    two_readers = pd.concat([readouts({"i0": "11"}), readouts({"i0": "11"}).assign(extractor="cloze")])
    assert not suspects(two_readers, ITEMS)[0].suspicion.is_suspect  # four answers, two outputs


def test_an_order_at_random_is_of_all_items_and_asks_a_suspect_again(of):
    rows = [said("i2", "Ada", ANSWER, "1", by_choice=True)]
    assert ids_to_review(of, "Ada", rows) == ["i1"] and ids_to_review(of, "Bea", rows) == ["i2", "i1"]
    everything = ids_to_review(of, "Ada", rows, by_suspicion=False)
    assert sorted(everything) == sorted(ITEMS) and everything == ids_to_review(of, "Ada", [], by_suspicion=False)
    orders = {tuple(ids_to_review(of, who, [], by_suspicion=False)) for who in "ABCDEFGH"}
    assert len(orders) > 1


def test_people_dispute_a_key_and_nothing_else_does(of):
    rows = [
        said("i1", "Ada", ANSWER, "1"),
        said("i1", "Bea", AMBIGUOUS),
        said("i1", "Cyd", ANSWER, "1"),
        said("i2", "Ada", ANSWER, "0"),
        said("i3", "Ada", UNANSWERABLE),
        said("i3", "Bea", ANSWER, "0"),
    ]
    reviews = key_reviews(ITEMS, rows)
    assert {name: one.outcome for name, one in reviews.items()} == {"i1": "other", "i2": "key right", "i3": UNDECIDED}
    assert [name for name, one in reviews.items() if one.is_disputed] == ["i1"]
    table = errata(of, reviews)
    assert [row["item_id"] for row in table] == ["i1", "i3"]
    assert table[0]["key"] == "a" and table[0]["their answers"] == "b" and table[0]["most answers say"] == "b"
    assert (table[0]["say other"], table[0]["say ambiguous"], table[0]["reviewers"]) == (2, 1, 3)
    assert table[0]["share that says so"] == 0.75 and ITEMS["i1"].target == "0"


def test_only_what_came_up_at_random_says_how_many_keys_are_disputed():
    rows = [said("i1", "Ada", ANSWER, "1", by_choice=True), said("i2", "Ada", ANSWER, "1"), said("i3", "Ada", ANSWER, "0")]
    rate = rate_of_disputed(key_reviews(ITEMS, rows))
    assert (rate.value, rate.n) == (0.5, 2) and rate_of_disputed({}).n == 0


def test_a_verdict_on_another_wording_of_the_item_does_not_count():
    row = said("i1", "Ada", AMBIGUOUS)
    assert key_reviews({"i1": Item("i1", "set", "choice", "Which is it now?", ("a", "b"), target="0")}, [row]) == {}
    for item, verdict, answer in ((ITEMS["i1"], ANSWER, "7"), (ITEMS["i1"], "wrong", None), (NUMBER, ANSWER, "many")):
        with pytest.raises(BadInput):
            key_verdict_row(item, "Ada", verdict, answer)
    assert key_verdict_row(NUMBER, "Ada", ANSWER, "5.0")["answer"] == "5"


def test_verdicts_are_stored_and_taken_back(tmp_path):
    store = Store.open(tmp_path / "flips.duckdb")
    judgements.keep(store, KEY_VERDICTS, [said("i1", "Ada", AMBIGUOUS), said("i2", "Ada", ANSWER, "1")])
    judgements.keep(store, KEY_VERDICTS, [said("i1", "Ada", ANSWER, "1")])
    stored = judgements.standing(store, KEY_VERDICTS)
    assert [(row["item_id"], row["verdict"]) for row in stored] == [("i2", ANSWER), ("i1", ANSWER)]
    judgements.keep(store, KEY_VERDICTS, [KEY_VERDICTS.undo(stored[0])])
    assert [row["item_id"] for row in judgements.standing(store, KEY_VERDICTS)] == ["i1"]
    store.close()
