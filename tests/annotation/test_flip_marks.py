"""Marks on flips: one place stores them, under a cleaned name, and a reviewer's last word counts."""

import pytest

from flipcore.annotation.flip_marks import mark_flip, own_mark
from flipcore.core.errors import BadInput
from flipcore.store.connection import Store

FLIP = {
    "study_id": "s",
    "model": "m",
    "item_id": "i",
    "axis": "option_order",
    "variant_id": "a",
    "other_variant_id": "b",
    "extractor": "regex",
}


def test_a_mark_is_stored_under_the_cleaned_name(tmp_path):
    store = Store.open(tmp_path / "flips.duckdb")
    mark_flip(store, FLIP, "genuine", "  Ada   Lovelace ")
    assert store.rows("SELECT reviewer, verdict, item_id FROM flip_verdicts") == [("Ada Lovelace", "genuine", "i")]
    for verdict, name in (("perhaps", "Ada"), ("genuine", "  ")):
        with pytest.raises(BadInput):
            mark_flip(store, FLIP, verdict, name)
    assert store.rows("SELECT count(*) FROM flip_verdicts") == [(1,)]
    store.close()


def test_the_last_mark_of_this_reviewer_on_this_flip_is_theirs():
    marks = [
        {"flip": "i|a|b", "reviewer": "Ada", "verdict": "genuine"},
        {"flip": "i|a|b", "reviewer": "Ada", "verdict": "artifact"},
        {"flip": "i|a|b", "reviewer": "Bea", "verdict": "ambiguous"},
        {"flip": "j|a|b", "reviewer": "Ada", "verdict": "genuine"},
    ]
    assert own_mark(marks, FLIP, " Ada ") == "artifact" and own_mark(marks, FLIP, "Cyd") == ""
