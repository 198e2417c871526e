"""How outputs are held against right answers: the codings that the right answers allow."""

import pytest

from flipcore.datasets.tables.coding import Coding, codings_of, score_of_cell


def test_a_row_without_a_right_answer_does_not_shift_the_options_of_the_others():
    """Numbers that are texts of options were compared with the options of the row before."""
    rows: list[dict[str, str | None]] = []
    for i in range(40):
        first = 3 * (i % 30)
        shown = {"A": str(first), "B": str(first + 1), "C": str(first + 2)}
        rows.append({"output": "I think so.", "target": str(first + i % 3), **shown})
    whole = codings_of(rows, "output", "target", ["A", "B", "C"])
    rows[0]["target"] = None
    assert codings_of(rows, "output", "target", ["A", "B", "C"]) == whole
    assert whole[0] is Coding.SAME_VALUE


@pytest.mark.parametrize(("cell", "score"), [("Not resolved", 0.0), ("not passed", 0.0), ("resolved", 1.0), ("not sure", None)])
def test_not_before_a_word_for_right_is_wrong(cell, score):
    """Rows of "Not resolved" were refused, and the others were 100% right."""
    assert score_of_cell(cell) == score
