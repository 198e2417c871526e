"""Judgements of every kind are one path: rows with the ids of earlier releases, taken back and read alike, in a stable order."""

import datetime as dt
from types import SimpleNamespace

import pytest

from flipcore.annotation.judge_labels import IN_PAIRS, ids_to_label, label_row, pairs_to_label
from flipcore.annotation.judging import queue
from flipcore.annotation.key_review import ids_to_review, key_verdict_row
from flipcore.annotation.paraphrases.verdicts import verdict_row
from flipcore.annotation.surveys.sheets import Survey, answer_row, sheet
from flipcore.core.errors import BadInput
from flipcore.core.records import Item, digest
from flipcore.store.judgements import FLIP_MARKS, KEY_VERDICTS, KINDS, OUTPUT_LABELS, PAIR_VERDICTS, SURVEY_ANSWERS
from flipcore.store.queries import judgements
from flipcore.store.schema import tables

PAIR = {"pair_id": "p", "original": "How many?", "paraphrase": "What number?"}
TEXT = {"item_id": "i", "call_id": "c", "kind": "choice", "options": ["a", "b"], "text": "It is b."}
ITEM = Item("i", "set", "choice", "Which?", ("a", "b"), target="0")
SURVEY = Survey("two", tuple(f"t{i}" for i in range(40)), tuple(f"r{i}" for i in range(40)))
FLIP = {"study_id": "s", "model": "m", "item_id": "i", "axis": "option_order"}
FLIP |= {"variant_id": "a", "other_variant_id": "b", "extractor": "regex"}


def verdict():
    return verdict_row(PAIR, " Ada  L ", {"meaning": "yes", "difficulty": "no"}, " why ", by_choice=True)


def mark(word="genuine"):
    return FLIP_MARKS.row({**FLIP, "verdict": word, "reviewer": "Ada L"})


# One judgement of each kind, with its id and that of its undo in a database of the releases before they had one path.
GIVEN = {
    PAIR_VERDICTS.table: (PAIR_VERDICTS, verdict, "1c680370af10a3953751", None),
    OUTPUT_LABELS.table: (OUTPUT_LABELS, lambda: label_row(TEXT, "Ada", "1"), "102b7d7bc3d7d99f3c65", "b531ff96642b1e121c33"),
    KEY_VERDICTS.table: (
        KEY_VERDICTS,
        lambda: key_verdict_row(ITEM, "Ada", "answer", "1", by_choice=True),
        "16e2e6e27b48609a85ff",
        "a9bed89e3910e5f9a3bd",
    ),
    FLIP_MARKS.table: (FLIP_MARKS, mark, "822590ec828fd2afdac6", None),
    SURVEY_ANSWERS.table: (
        SURVEY_ANSWERS,
        lambda: SURVEY_ANSWERS.row(answer_row(SURVEY, "Ada", 0, 1)),
        "ccc7f52ef8c4b2b66a35",
        None,
    ),
}


@pytest.fixture
def january(monkeypatch):
    monkeypatch.setattr("flipcore.store.judgements.now", lambda: dt.datetime(2026, 1, 1, tzinfo=dt.UTC))


@pytest.mark.parametrize(("kind", "given", "row_id", "undo_id"), GIVEN.values(), ids=GIVEN)
def test_a_row_and_its_undo_have_the_ids_of_earlier_releases(january, kind, given, row_id, undo_id):
    row = given()
    assert row[kind.key] == row_id
    # A browser makes the id of an undo of a pair's verdict.
    assert undo_id in (None, kind.has_undo and kind.undo(row)[kind.key])


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.table)
def test_what_a_kind_declares_is_in_its_table(kind):
    named = {kind.key, kind.reviewer, *kind.subject, *kind.series, *kind.words, *kind.emptied, *kind.order}
    assert named | {*kind.in_files} <= {*tables()[kind.table].names, "created"}
    assert kind.has_undo == ("undoes" in tables()[kind.table].names) and (kind.key,) == tables()[kind.table].key
    assert set(GIVEN) == {one.table for one in KINDS}


@pytest.mark.parametrize(("kind", "given"), [one[:2] for one in GIVEN.values()], ids=GIVEN)
def test_a_later_answer_of_one_reviewer_stands_and_an_undo_brings_the_first_back(store, kind, given):
    first = given()
    if kind is FLIP_MARKS:
        sql = "INSERT INTO study_items (study_id, item_id, role, position, confirmatory) VALUES ('s', 'i', 'item', 0, false)"
        store.writer.transact(lambda connection: connection.execute(sql)).result(10)
    judgements.keep(store, kind, [first])
    judgements.keep(store, kind, [first])
    (row,) = judgements.standing(store, kind)
    assert row[kind.key] == first[kind.key] and judgements.n_rows(store, kind) == 1
    second = given()
    judgements.keep(store, kind, [second])
    assert [one[kind.key] for one in judgements.standing(store, kind)] == [second[kind.key]]
    name, subject = first[kind.reviewer], first[kind.subject[0]]
    assert len(judgements.standing(store, kind, name)) == 1 and judgements.standing(store, kind, "Bea") == []
    assert len(judgements.standing(store, kind, among=[subject])) == 1 and judgements.standing(store, kind, among=["x"]) == []
    if kind.has_undo:
        judgements.keep(store, kind, [kind.undo(second)])
        assert [one[kind.key] for one in judgements.standing(store, kind)] == [first[kind.key]]
        judgements.keep(store, kind, [kind.undo(first)])
        assert judgements.standing(store, kind) == [] and judgements.n_rows(store, kind) == 4


def test_an_answer_that_a_kind_does_not_have_is_refused():
    with pytest.raises(BadInput, match=r"A flip is marked genuine, artifact, ambiguous; this mark says 'perhaps'\."):
        mark("perhaps")
    with pytest.raises(BadInput, match=r"answered, or it is ambiguous or unanswerable; this verdict says 'wrong'\."):
        key_verdict_row(ITEM, "Ada", "wrong")


def pairs(n, dataset, generator="maker"):
    return [{"pair_id": f"{dataset}-{generator}-{i:03d}", "dataset": dataset, "generator": generator} for i in range(n)]


def test_every_order_is_that_of_earlier_releases():
    """Whoever stopped in the middle of a review goes on where they were."""
    all_pairs = pairs(60, "algebra") + pairs(30, "ethics") + pairs(30, "ethics", "machine")
    assert digest([(place.pair_id, place.is_shared) for place in queue(all_pairs, "Ada")]) == "a90dcc6349cc18836f95"
    texts = [
        {"call_id": f"c{i}", "dataset": "d", "model": f"m{i % 3}", "item_id": f"i{i % 20}", "doubt": i % 7} for i in range(60)
    ]
    labels = [
        {"call_id": f"c{i}", "reviewer": "Bea" if i % 2 else "Ada", "rule_version": "label-1", "by_choice": i % 5 == 0}
        for i in range(30)
    ]
    assert digest(ids_to_label(texts, "Ada", [])) == "8a094d006fd5be789332"
    assert digest(ids_to_label(texts, "Ada", [], by_doubt=True)) == "824bf5a883f40a4eda9a"
    assert digest(ids_to_label(texts, "Ada", labels)) == "a4d46b1dfa8f2a43386f"
    sides = [
        {"call_id": f"s{i}", "dataset": "d", "model": f"m{i // 2 % 3}", "axis": f"a{i // 2 % 2}", "item_id": f"i{i // 2 % 9}"}
        for i in range(80)
    ]
    of_pairs = [{"call_id": f"s{i}", "reviewer": "Bea" if i % 2 else "Ada", "rule_version": IN_PAIRS} for i in range(30)]
    assert digest(pairs_to_label(sides, "Ada", [])) == "d81403cd0e588167aae4"
    assert digest(pairs_to_label(sides, "Ada", of_pairs)) == "f5b40c03fab8146f74f1"
    suspects = [
        SimpleNamespace(
            item=Item(f"k{i}", f"d{i % 2}", "number", "How many?", (), target="1"),
            suspicion=SimpleNamespace(is_suspect=i % 2 == 0, score=i / 50),
        )
        for i in range(40)
    ]
    chosen = [{"item_id": "k4", "reviewer": "Ada", "by_choice": True}]
    assert digest(ids_to_review(suspects, "Ada", [], by_suspicion=False)) == "9255a89a2bfffe99c4d8"
    assert digest(ids_to_review(suspects, "Ada", chosen)) == "d4506b9ccab59493d217"
    questions = [[question.kind, question.choices, question.right] for question in sheet(SURVEY, "Ada").questions]
    assert digest(questions) == "68f0978f533c43c2d8e4"
