"""One verdict as a row: whose it is, what keeps a pair, what an undo says."""

import pytest

from flipcore.annotation.paraphrases.verdicts import CHECKS, keeps, reviewer_name, undo_row, verdict_row
from flipcore.core.errors import BadInput
from tests.annotation.paraphrases.pairs import SAME, made_pairs


def test_a_reviewer_is_a_person_or_a_model():
    with pytest.raises(BadInput, match="a person or a model"):
        verdict_row(made_pairs(1)[0], "Ada", dict.fromkeys(CHECKS, "yes"), reviewer_kind="robot")


def test_names_are_trimmed_and_must_be_there():
    assert reviewer_name("  Ada   Lovelace ") == "Ada Lovelace"
    for name in ("", "   ", "x" * 81, "a\u0007b"):
        with pytest.raises(BadInput, match="1 to 80 printable"):
            reviewer_name(name)


def test_unsure_is_not_yes_and_a_check_that_was_not_asked_does_not_count():
    assert keeps(SAME) and keeps(SAME | {"solution_path": None})
    assert not keeps(SAME | {"difficulty": "unsure"}) and not keeps(SAME | {"meaning": None})
    assert keeps(SAME | {"difficulty": None, "solution_path": None})  # nobody asked


def test_an_undo_row_says_nothing_itself():
    verdict = verdict_row(made_pairs(1)[0], "Ada", SAME)
    row = undo_row(verdict)
    assert row["undoes"] == verdict["verdict_id"] and row["meaning"] is None and row["verdict_id"] != verdict["verdict_id"]
