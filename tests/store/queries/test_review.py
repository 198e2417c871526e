"""What review asks of stored paraphrases."""

import pytest

from flipcore.access.acting import ALL_SOURCES, QUEUE, Level, Person, acting_as
from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.queries import review


def test_stored_paraphrases_are_counted_once_each(store):
    assert review.n_pairs(store) == 0
    pair = {"item_id": "i", "dataset": "d", "original": "o", "paraphrase": "p", "generator": "g"}
    for names in ("ab", "bc"):
        review.keep_pairs(store, [pair | {"pair_id": name} for name in names])
    assert review.n_pairs(store) == 3


@pytest.fixture
def pairs(store):
    """Two pairs of one source, and one of another, each with a verdict of a person who chose the pair."""
    pair = {"item_id": "i", "dataset": "d", "original": "o", "paraphrase": "p"}
    review.keep_pairs(store, [pair | {"pair_id": name, "generator": generator} for name, generator in ("ag", "bg", "ch")])
    values = {"reviewer": "Ada", "meaning": "yes", "difficulty": "same", "solution_path": "same", "note": ""}
    for name in "abc":
        row = {"verdict_id": name, "pair_id": name, "original_hash": "", "paraphrase_hash": "", "rule_version": "majority-1"}
        row |= {"undoes": None, "created_at": review.now(), "by_choice": True}
        store.writer.add(PAIR_VERDICTS.table, [values | row]).result(10)
    return store


@pytest.mark.parametrize(
    ("scope", "shown"), [(QUEUE + "d · g", "ab"), (QUEUE + "d · h", "c"), (QUEUE + ALL_SOURCES, "abc"), (QUEUE + "d · x", "")]
)
def test_a_reviewer_sees_the_pairs_of_the_source_of_the_invitation(pairs, monkeypatch, scope, shown):
    monkeypatch.setattr("flipcore.access.acting.is_access_on", lambda: True)
    assert [row["pair_id"] for row in review.pairs(pairs)] == list("abc")
    with acting_as(Person("Bea", Level.REVIEWER, scope)):
        for rows in (review.pairs(pairs), review.pairs_with_source(pairs)):
            assert [row["pair_id"] for row in rows] == list(shown)
        assert [row["pair_id"] for row in review.pairs(pairs, ["b", "c"])] == [name for name in "bc" if name in shown]


def test_verdicts_are_those_of_one_source_or_of_all(pairs):
    assert review.sources_of_pairs(pairs) == {"a": "d · g", "b": "d · g", "c": "d · h"}
    for source, names in (("d · g", "ab"), ("d · h", "c"), (ALL_SOURCES, "abc"), ("d · x", "")):
        assert sorted(row["verdict_id"] for row in review.verdicts_of(pairs, source)) == list(names)
    assert len(review.verdicts_of(pairs)) == 3


def test_verdicts_on_chosen_pairs_count_as_random_once_the_pairs_came_up(pairs):
    before = pairs.revision("s")
    review.mark_as_random(pairs, [])
    assert pairs.revision("s") == before
    review.mark_as_random(pairs, ["a", "c"])
    assert pairs.rows("SELECT verdict_id FROM verdicts WHERE by_choice") == [("b",)] and pairs.revision("s") > before
