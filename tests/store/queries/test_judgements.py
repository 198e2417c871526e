"""Which judgements stand: those of persons, of some subjects, as the latest word of each."""

import pytest

from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.queries.judgements import n_rows, standing
from flipcore.store.rows import now


@pytest.fixture
def judged(store):
    """Two pairs that Ada judged, one of them once more, one that a model of her name judged, and one that Bea did."""
    columns = {"difficulty": None, "solution_path": None, "note": "", "original_hash": "", "paraphrase_hash": ""}
    columns |= {"rule_version": "majority-1", "undoes": None, "by_choice": False}
    judgements = [
        ("p", "Ada", "yes", "person"), ("q", "Ada", "no", "person"), ("p", "Ada", "unsure", "model"), ("p", "Ada", "no", "person"),
        ("p", "Bea", "yes", "person"),
    ]  # fmt: skip
    for number, (pair, reviewer, meaning, kind) in enumerate(judgements):
        row = {"verdict_id": str(number), "pair_id": pair, "reviewer": reviewer, "meaning": meaning, "reviewer_kind": kind}
        store.writer.add("verdicts", [columns | row | {"created_at": now()}])
    store.writer.flush()
    return store


@pytest.mark.parametrize(
    ("scope", "ids"),
    [
        ({}, "1234"),
        ({"reviewer": "Ada"}, "13"),
        ({"among": ["q", "unknown"]}, "1"),
        ({"among": []}, ""),
        ({"meaning": "no"}, "13"),
        ({"reviewer": "Bea", "among": ["p"]}, "4"),
    ],
)
def test_the_latest_judgement_of_a_person_stands(judged, scope, ids):
    assert [row["verdict_id"] for row in standing(judged, PAIR_VERDICTS, **scope)] == list(ids)
    assert n_rows(judged, PAIR_VERDICTS) == 5
