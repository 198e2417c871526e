"""Names under judgements: 1 to 80 printable characters."""

import datetime as dt

import pytest

from flipcore.core.errors import BadInput
from flipcore.store.judgements import Kind, reviewer_name


def test_a_name_is_kept_with_single_spaces():
    assert reviewer_name("  Ada   Lovelace ") == "Ada Lovelace" and reviewer_name("a" * 80) == "a" * 80


@pytest.mark.parametrize(("name", "n"), [("", 0), ("  ", 0), ("a" * 81, 81), ("a\x07b", 3)])
def test_no_name_and_an_endless_one_are_refused(name, n):
    with pytest.raises(BadInput, match=rf"1 to 80 printable characters; this one has {n}\."):
        reviewer_name(name)


DAY = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
KIND = Kind(
    "verdicts",
    "verdict_id",
    subject=("pair_id",),
    question="Is it the same?",
    words={"meaning": ("yes", "no")},
    refusal="{!r} is no answer.",
    in_files=("pair_id", "meaning"),
)


def test_an_answer_is_one_of_the_words():
    with pytest.raises(BadInput) as refused:
        KIND.row({"meaning": "x" * 50})
    assert str(refused.value) == f"{'x' * 40!r} is no answer."
    row = KIND.row({"meaning": "no"}, created_at=DAY, by_choice=True)
    assert row == {"verdict_id": row["verdict_id"], "meaning": "no", "undoes": None, "created_at": DAY, "by_choice": True}
    assert KIND.row({"meaning": "no"}, created_at=DAY)["verdict_id"] == row["verdict_id"]  # the choice is not in the id
    assert KIND.row({"meaning": "yes"}, created_at=DAY)["verdict_id"] != row["verdict_id"]


def test_a_judgement_is_taken_back_by_a_row_without_its_answers():
    judgement = dict.fromkeys(KIND.names, "word") | {"verdict_id": "v", "reviewer": "Ada", "by_choice": True}
    kind = Kind("verdicts", "verdict_id", ("pair_id",), "Is it the same?", emptied={"meaning": None, "note": ""})
    undone = kind.undo(judgement, created_at=DAY)
    assert (undone["undoes"], undone["reviewer"], undone["meaning"], undone["note"]) == ("v", "Ada", None, "")
    assert (undone["pair_id"], undone["created_at"], "by_choice" in undone) == ("word", DAY, False)
    assert undone["verdict_id"] not in ("v", "word")


def test_only_the_columns_of_a_file_are_written_to_it():
    assert KIND.file_rows([{"pair_id": "p", "meaning": "yes", "reviewer": "Ada"}]) == [{"pair_id": "p", "meaning": "yes"}]
