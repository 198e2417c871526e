"""The crossed table of scores: each number of a cell by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from flipcore.stats.score.cells import ScoreCells, score_cells


def cells(mean, n_runs, squares, **more):
    arrays = np.array(mean, dtype=float), np.array(n_runs), np.array(squares, dtype=float)
    return ScoreCells(*arrays, **more)


def test_a_difference_has_the_sum_of_the_variances_of_both_means():
    first = cells([[0.5, 1.0, 0.3]], [[2, 1, 9]], [[0.5, 0, 0]], questions=["q"], wordings=["a", "b", "c"], scale=(0, 2))
    second = cells([[0.5, 0.25]], [[2, 4]], [[0.5, 0.75]], questions=["q"], wordings=["b", "a"], scale=(1, 5))
    less = first.minus(second)
    assert (list(less.questions), list(less.wordings), less.scale) == (["q"], ["a", "b"], (-5, 1))
    assert less.mean[0] == pytest.approx([0.25, 0.5]) and less.n_runs[0].tolist() == [2, 1]
    # In "a" the mean of two runs has a variance of .5/2 and that of four one of .25/4.
    assert less.squares[0] / (less.n_runs[0] * np.maximum(less.n_runs[0] - 1, 1)) == pytest.approx([0.3125, 0])


def test_a_cell_with_one_run_varies_as_the_others_do():
    """Two cells of three runs and one of two have a pooled variance of (4 + 1 + 1)/5."""
    first = cells([[1, 2, 3, 4]], [[3, 3, 2, 1]], [[4, 1, 1, 0]], questions=["q"], wordings=list("abcd"))
    second = cells([[0] * 4], [[2] * 4], [[0] * 4], questions=["q"], wordings=list("abcd"))
    # "d" has one run, so that no spread can be given back; against more runs of the other it has none.
    assert first.minus(second).squares[0] == pytest.approx([2 / 3 * 2, 0.5 / 3 * 2, 1 / 2 * 2, 0])
    once = cells([[0] * 4], [[1] * 4], [[0] * 4], questions=["q"], wordings=list("abcd"))
    assert once.minus(once).squares.tolist() == [[0] * 4]


def test_runs_have_a_harmonic_mean_and_a_wording_its_own_column():
    table = cells([[0.5, 1], [0, 0.25]], [[1, 2], [4, 4]], [[0, 0.1], [0.2, 0.3]], questions="pq", wordings="ab")
    assert table.mean_runs == pytest.approx(2) and table.by_wording() == [("a", 0.25), ("b", 0.625)]
    column = table.select_wording(1)
    assert column.mean.tolist() == [[1], [0.25]] and column.n_runs.tolist() == [[2], [4]]
    assert column.squares.tolist() == [[0.1], [0.3]] and (column.questions, column.wordings) == ("pq", "b")


@pytest.mark.parametrize(
    ("mean", "scale", "bounds"),
    [
        ([[0, 1]], None, (0, 1)),
        ([[0.5, 1.01]], None, (-math.inf, math.inf)),
        ([[-0.01, 0.5]], None, (-math.inf, math.inf)),
        ([[]], None, (-math.inf, math.inf)),
        ([[0.2, 0.5]], (0, 5), (0, 5)),
    ],
)
def test_scores_within_0_and_1_are_shares_unless_a_scale_is_given(mean, scale, bounds):
    ones = np.ones(np.shape(mean), dtype=int)
    assert cells(mean, ones, 0 * ones, scale=scale).bounds == bounds


def test_runs_are_right_or_wrong_where_each_spread_follows_from_its_mean():
    assert cells([[0.25, 1]], [[4, 2]], [[0.75, 0]]).is_binary
    assert not cells([[0.25, 1]], [[4, 2]], [[0.5, 0]]).is_binary
    assert not cells([[0.25, 1]], [[4, 2]], [[0.75, 0]], scale=(0, 2)).is_binary


def test_a_table_counts_runs_and_their_spread_and_drops_what_has_none():
    rows = pd.DataFrame(
        [
            ("p", "a", 1.0, "f"),
            ("p", "b", 0.0, "f"),
            ("p", "a", 0.0, "f"),
            ("q", "b", 1.0, "g"),
            ("q", "a", 0.5, "g"),
            ("r", "a", 0.5, "f"),
            ("r", "b", math.nan, "f"),
            ("s", "b", math.nan, "h"),
        ],
        columns=["item_id", "wording", "score", "family"],
    )
    table = score_cells(rows, (0, 1))
    assert (list(table.questions), list(table.wordings), table.shape) == (["p", "q"], ["a", "b"], (2, 2))
    assert table.mean.tolist() == [[0.5, 0], [0.5, 1]] and table.n_runs.tolist() == [[2, 1], [1, 1]]
    assert table.squares.tolist() == [[0.5, 0], [0, 0]] and table.families is None
    assert (table.n_dropped_questions, list(table.dropped_wordings)) == (1, [])
    # With all questions complete, two of them share a family.
    complete = score_cells(rows.assign(score=rows["score"].fillna(0.0))[:7])
    assert complete.families.tolist() == ["f", "g", "f"]
    nothing = score_cells(rows.assign(score=math.nan))
    assert nothing.shape == (0, 0) and nothing.n_dropped_questions == 0
