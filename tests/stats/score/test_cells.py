"""Rows of runs -> a complete table of cells."""

import math

import numpy as np
import pytest

from flipcore.core.errors import BadInput
from flipcore.stats.score.cells import score_cells
from flipcore.stats.score.error_bar import error_bar
from tests.stats.score.tables import rows_of


def test_missing_cells_leave_out_a_wording_that_few_were_asked_in_and_then_questions():
    rows = rows_of(n=12)
    rows = rows[~((rows["wording"] == "w4") & (rows["item_id"] > "q03"))]
    rows = rows[~((rows["wording"] == "w1") & (rows["item_id"] == "q07"))]
    cells = score_cells(rows)
    assert cells.shape == (11, 4)
    assert (cells.n_questions_left, cells.wordings_left) == (1, ["w4"])
    with pytest.raises(BadInput, match="Ask the missing ones first"):
        error_bar(score_cells(rows.assign(score=math.nan)))


def test_the_difference_of_two_models_is_read_cell_by_cell():
    first, second = rows_of(n=30), rows_of(n=30, seed=1)
    second["score"] = np.where(np.arange(len(second)) % 4, first["score"], second["score"])
    less = score_cells(first).less(score_cells(second))
    bar = error_bar(less)
    per_cell = [one.groupby(["item_id", "wording"])["score"].mean() for one in (first, second)]
    assert bar.by_questions.value == pytest.approx((per_cell[0] - per_cell[1]).mean())
    assert not less.is_unit
    swapped = error_bar(score_cells(second).less(score_cells(first)))
    assert swapped.by_wordings.low == pytest.approx(-bar.by_wordings.high)


def test_unequal_reruns_keep_their_own_weight():
    rows = rows_of(n=20)
    rows = rows[(rows["sample"] == 0) | (rows["item_id"] < "q10")]
    bar = error_bar(score_cells(rows))
    assert bar.n_runs == pytest.approx(1.5)
    assert bar.squares.df_reruns == 10 * 5 * 2
