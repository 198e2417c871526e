"""How often two extractors disagree: with unreadable as an answer of its own, and where both read one."""

import pandas as pd
import pytest

from flipcore.stats.flips.readout_mismatch import disagreements


def rows(first: list, second: list) -> pd.DataFrame:
    words = {"cut": "cut", "absent": "absent", None: "unreadable"}
    return pd.DataFrame(
        [
            {
                "item_id": f"i{i}",
                "variant_id": f"v{i}",
                "sample": 0,
                "extractor": name,
                "status": words.get(answer, "ok"),
                "answer": None if answer in words else answer,
            }
            for name, answers in (("first", first), ("second", second))
            for i, answer in enumerate(answers)
        ]
    )


def test_unreadable_counts_once_as_an_answer_and_once_not_at_all():
    found = disagreements(rows(["A", "A", "A", None, "B"], ["A", "B", None, None, "B"]))
    pair = ("first", "second")
    assert found.n_rows[pair] == 5 and found.estimates[pair].value == pytest.approx(2 / 5)
    assert found.n_both_read[pair] == 3 and found.both_read[pair].value == pytest.approx(1 / 3)
    assert "0.33" in found.sentence(str) and "both read" in found.sentence(str)
    assert found.table(str)["answers, both read"].tolist() == [3]


def test_what_was_cut_off_or_is_absent_is_in_neither():
    found = disagreements(rows(["A", "cut", "A", "absent"], ["A", "B", "cut", "B"]))
    pair = ("first", "second")
    assert found.n_rows[pair] == found.n_both_read[pair] == 1 and found.estimates[pair].value == 0
    assert "both read" not in found.sentence(str)
