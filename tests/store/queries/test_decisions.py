"""The decision record is appended to in one place; a decision names what stood there before, who decided and what was said."""

import json
from types import SimpleNamespace

import pytest

from flipcore.core.errors import BadInput
from flipcore.store.queries import locks
from flipcore.store.queries.decisions import (
    MAX_LETTERS,
    UNKNOWN,
    changes,
    decisions,
    keep_decision,
    keep_move,
    keep_question,
    latest,
    n_moves,
    open_questions,
    record,
    settings_of,
)


def test_a_decision_carries_the_one_that_it_replaces(store):
    keep_decision(store, "s", "holdout", "explore", "The sets differ.", {"margin": 0.1}, " Ada ")
    keep_decision(store, "s", "decomposition", "explore", "More artifact.", {}, "Bea")
    keep_decision(store, "s", "holdout", "locked", "The sets are alike.", {"margin": 0.2}, "Bea")
    record = decisions(store, "s")
    assert record["sentence"].tolist() == ["The sets are alike.", "More artifact.", "The sets differ."]
    assert json.loads(record["came_from"].iloc[0]) == {"sentence": "The sets differ."}
    assert record["came_from"].isna().tolist() == [False, True, True]
    assert record["reviewer"].tolist() == ["Bea", "Bea", "Ada"]
    assert decisions(store, "other").empty


def test_what_people_decide_is_stored_in_their_words_and_is_what_a_later_decision_replaces(store):
    keep_decision(store, "s", "holdout", "explore", "The sets differ.", {}, "Ada", resolution="  not to\npublish it ")
    keep_decision(store, "s", "holdout", "explore", "The sets are alike.", {}, "Bea")
    stored = decisions(store, "s")
    assert stored["resolution"].tolist() == ["", "not to publish it"] and stored["sentence"].tolist()[1] == "The sets differ."
    assert json.loads(stored["came_from"].iloc[0]) == {"sentence": "not to publish it"}
    assert latest(store, "s", "holdout") == "The sets are alike." and latest(store, "s", "ranking") == ""
    keep_decision(store, "s", "ranking", "explore", "The sets differ.", {}, "Ada", resolution="x" * MAX_LETTERS)
    assert latest(store, "s", "ranking") == "x" * 2_000
    with pytest.raises(BadInput, match="at most 2,000"):
        keep_decision(store, "s", "holdout", "explore", "The sets differ.", {}, "Ada", resolution="x" * (MAX_LETTERS + 1))


@pytest.mark.parametrize(("sentence", "reviewer"), [("The sets differ.", "  "), (" ", "Ada")])
def test_a_decision_without_a_name_or_a_sentence_is_refused(store, sentence, reviewer):
    with pytest.raises(BadInput, match="a sentence and the name"):
        keep_decision(store, "s", "holdout", "explore", sentence, {}, reviewer)
    assert decisions(store, "s").empty


def test_each_released_move_is_logged_with_the_range_that_it_crossed(store):
    move = {"control": "level", "from": 0.95, "to": 0.9, "lowest": 0.8, "highest": 0.95}
    keep_move(store, "s", move, "session")
    keep_move(store, "s", move | {"to": 0.8}, "session")
    assert (n_moves(store, "s"), n_moves(store, "t")) == (2, 0)
    assert store.rows("SELECT lowest, highest FROM threshold_moves LIMIT 1") == [(0.8, 0.95)]


def test_neither_changes_what_pages_have_computed(store):
    before = store.revision("s")
    keep_decision(store, "s", "holdout", "explore", "The sets differ.", {}, "Ada")
    keep_move(store, "s", {"control": "level", "from": 0.95, "to": 0.9, "lowest": 0.8, "highest": 0.95}, "session")
    assert store.revision("s") == before
    store.writer.add(
        "study_items", [{"study_id": "s", "item_id": "i", "role": "benchmark", "position": 0, "confirmatory": False}]
    ).result(10)
    assert store.revision("s") == before + 1


def test_a_decision_keeps_its_view_the_outputs_in_sight_and_the_state_of_the_rows(store):
    evidence = {"item": "i", "axis": "identity", "variant": "base", "extractor": "regex", "calls": ["a", "b"]}
    keep_decision(store, "s", "holdout", "explore", "Alike.", {"cutoff": 0.5}, "Ada", query="sets=s&as=Bea", evidence=evidence)
    row = record(store).iloc[0]
    assert json.loads(row["place"]) == {"query": "sets=s"} and json.loads(row["evidence"]) == evidence
    assert json.loads(row["basis"]) == {"items": [0, "0"], "readouts": [0, "0"], "verdicts": {}}
    assert settings_of(store, row["decision_id"], "s", "holdout") == {"cutoff": 0.5}
    assert settings_of(store, row["decision_id"], "t", "holdout") == settings_of(store, "none", "s", "holdout") == {}


def test_a_decision_under_a_lock_rests_on_the_items_that_it_opened_and_another_on_the_open_ones(store):
    items = [{"study_id": "s", "item_id": item, "role": "target", "position": 0, "confirmatory": item == "i"} for item in "ijk"]
    store.writer.add("study_items", items).result(10)
    locks.keep_lock(store, "s", "holdout", {}, "Ada")
    for page, mode in (("holdout", "locked"), ("holdout", "explore"), ("ranking", "locked")):
        keep_decision(store, "s", page, mode, "Alike.", {}, "Ada")
    n_items = [json.loads(basis)["items"][0] for basis in record(store)["basis"]]  # the newest first
    assert n_items == [2, 2, 1]


@pytest.mark.slow
@pytest.mark.parametrize("stored", ['"a text"', "7", "null", "[1]"])
def test_settings_of_a_strange_file_are_none(store, stored):
    keep_decision(store, "s", "holdout", "explore", "Alike.", {"cutoff": 0.5}, "Ada")
    store.rows("UPDATE decisions SET settings = $stored::JSON", stored=stored)
    assert settings_of(store, record(store).iloc[0]["decision_id"], "s", "holdout") == {}


def test_settings_are_taken_where_they_are_of_the_kind_that_the_page_has(store):
    settings = {"level": "0.9", "margin": 0.2, "policy": 3, "rule": "paired", "seed": True, "semantic": [1], "more": 1}
    keep_decision(store, "s", "holdout", "explore", "Alike.", settings, "Ada")
    start = {"level": 0.95, "margin": 0.1, "policy": "drop", "rule": "x", "seed": 0, "semantic": None, "other": 1}
    decision_id = record(store).iloc[0]["decision_id"]
    assert settings_of(store, decision_id, "s", "holdout", start) == {"margin": 0.2, "rule": "paired"}


def test_a_question_is_open_until_it_is_answered_once(store):
    keep_question(store, "s", "holdout", " Why so few? ", " Ada ")
    (row,) = open_questions(store).to_dict("records")
    assert (row["question"], row["author"], row["study_id"]) == ("Why so few?", "Ada", "s")
    keep_question(store, "s", "holdout", "The log was cut.", "Bea", settles=row["question_id"])
    assert open_questions(store).empty
    with pytest.raises(BadInput, match="not open any more"):
        keep_question(store, "s", "holdout", "Because.", "Bea", settles=row["question_id"])


@pytest.mark.parametrize(("question", "author"), [(" ", "Ada"), ("Why?", " "), ("x" * (MAX_LETTERS + 1), "Ada")])
def test_a_question_without_words_or_a_name_or_without_end_is_refused(store, question, author):
    with pytest.raises(BadInput, match="open question|at most"):
        keep_question(store, "s", "holdout", question, author)
    assert open_questions(store).empty


STATE = {"items": [1_000, "a"], "readouts": [2_000, "b"], "verdicts": {"accepted": 3}}


@pytest.mark.parametrize(
    ("after", "sentence"),
    [
        (STATE, ""),
        (STATE | {"items": [1_001, "c"]}, "The data changed: 1,000 items then, 1,001 now."),
        (STATE | {"readouts": [2_000, "c"]}, "The data changed: 2,000 readouts, with other content."),
        (STATE | {"verdicts": {}}, "The data changed: 3 accepted paraphrases then, 0 now."),
        (
            STATE | {"items": [0, "0"], "verdicts": {"accepted": 3, "rejected": 1}},
            "The data changed: 1,000 items then, 0 now; 0 rejected paraphrases then, 1 now.",
        ),
        (STATE | {"verdicts": {"accepted": 3, "rejected": 0, "unreviewed": 0}}, ""),
    ],
)
def test_what_changed_of_the_data_since_a_decision_is_said(after, sentence):
    assert changes(STATE, after) == sentence


@pytest.mark.parametrize(
    "before",
    [
        None,
        {},
        STATE | {"verdicts": None},
        STATE | {"verdicts": {"accepted": "3"}},
        STATE | {"items": [1]},
        STATE | {"items": {"n": 1, "hash": "a"}},
        STATE | {"readouts": [1.0, "b"]},
        STATE | {"readouts": [True, "b"]},
        {name: STATE[name] for name in ("items", "verdicts")},
    ],
)
def test_a_state_that_another_release_wrote_is_not_compared(before):
    assert changes(before, STATE) == UNKNOWN


@pytest.mark.parametrize(
    ("start", "stored", "is_taken"),
    [
        (0.5, "0.7", True),
        (0.5, "1.7976931348623157e308", True),  # the largest number
        (0.5, "-1.7976931348623157e308", True),
        (0.5, "1e309", False),
        (0.5, "1" + 400 * "0", False),
        (0.5, "NaN", False),
        (0.5, "true", False),
        (0.5, '"0.7"', False),
        ("regex", '"judge"', True),
        ("regex", "7", False),
        ("regex", "null", False),
    ],
)
def test_settings_from_anybodys_file_are_taken_where_they_are_of_the_pages_kind(start, stored, is_taken):
    asking = SimpleNamespace(rows=lambda sql, **scope: [(f'{{"known": {stored}, "unknown": {stored}}}',)])
    settings = settings_of(asking, "d", "s", "holdout", {"known": start, "missing": start})
    assert settings == ({"known": json.loads(stored)} if is_taken else {})
    for odd in ("[]", "7"):
        assert settings_of(SimpleNamespace(rows=lambda sql, odd=odd, **scope: [(odd,)]), "d", "s", "holdout") == {}
