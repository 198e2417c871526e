"""Scores of one model and extractor as questions × wordings, each cell the mean of its reruns."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from flipcore.stats.base.families import UNIT

# Wordings with a smaller share of the questions are dropped, before any question is.
LEAST_ASKED = 0.5


@dataclass(frozen=True, eq=False)
class ScoreCells:
    """A complete crossed table of scores; `mean`, `n_runs` and `squares` are (questions, wordings).

    A cell has the mean of its `n_runs` reruns, and the sum of their squared deviations from it, in
    squared units of the score. `families` (questions,) names each question's template or source;
    None if none share one. `n_dropped_questions` and `dropped_wordings` were left out because
    cells were missing. `scale` is the lowest and highest possible score; None if it is unknown,
    and then [0, 1] if all cells lie within. `is_graded` is True if the same score has grades
    elsewhere, such as 0.5 of another model.
    """

    mean: np.ndarray
    n_runs: np.ndarray
    squares: np.ndarray
    questions: Sequence[str] = ()
    wordings: Sequence[str] = ()
    families: np.ndarray | None = None
    n_dropped_questions: int = 0
    dropped_wordings: Sequence[str] = field(default=())
    scale: tuple[float, float] | None = None
    is_graded: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """(questions, wordings)."""
        rows, columns = self.mean.shape
        return rows, columns

    @cached_property
    def mean_runs(self) -> float:
        """Harmonic mean of the numbers of reruns per cell."""
        return float(1 / (1 / self.n_runs).mean())

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """Lowest and highest possible score, infinite where they are unknown."""
        if self.scale is not None:
            return self.scale
        is_unit = self.mean.size and self.mean.min() >= 0 and self.mean.max() <= 1
        return UNIT if is_unit else (-math.inf, math.inf)

    @cached_property
    def is_binary(self) -> bool:
        """True if all runs were right or wrong, because each cell's spread follows its mean."""
        return self.bounds == UNIT and bool(
            np.allclose(self.squares, self.n_runs * self.mean * (1 - self.mean))
        )

    @property
    def is_share(self) -> bool:
        """True if the score is printed as a share of right answers, and not as a grade."""
        return self.is_binary and not self.is_graded

    def by_wording(self) -> list[tuple[str, float]]:
        """Return (wording, mean score) of each column."""
        return list(zip(self.wordings, self.mean.mean(axis=0).tolist(), strict=True))

    def select_wording(self, index: int) -> "ScoreCells":
        """Return the column of the wording at `index`."""
        column = slice(index, index + 1)
        return ScoreCells(
            self.mean[:, column],
            self.n_runs[:, column],
            squares=self.squares[:, column],
            questions=self.questions,
            wordings=self.wordings[column],
            families=self.families,
            scale=self.scale,
        )

    def minus(self, subtrahend: "ScoreCells") -> "ScoreCells":
        """Return the differences to another model's scores on shared questions and wordings."""
        other_questions, other_wordings = set(subtrahend.questions), set(subtrahend.wordings)
        questions = [name for name in self.questions if name in other_questions]
        wordings = [name for name in self.wordings if name in other_wordings]
        first = self.select(questions, wordings)
        second = subtrahend.select(questions, wordings)
        # Reruns of the two models are independent, so the variances of the cell means add.
        # `squares` is chosen so that `n_runs`, the smaller number of reruns, gives this sum again.
        n_runs = np.minimum(first.n_runs, second.n_runs)
        variance = _variance(first) / first.n_runs + _variance(second) / second.n_runs
        squares = np.where(n_runs > 1, variance * n_runs * (n_runs - 1), 0.0)
        (low, high), (other_low, other_high) = self.bounds, subtrahend.bounds
        scale = low - other_high, high - other_low
        return ScoreCells(
            first.mean - second.mean,
            n_runs,
            squares=squares,
            questions=questions,
            wordings=wordings,
            families=first.families,
            scale=scale,
        )

    def select(self, questions: Sequence[str], wordings: Sequence[str]) -> "ScoreCells":
        """Return the cells of these questions and wordings, in their order."""
        rows = pd.Index(self.questions).get_indexer(pd.Index(questions))
        block = np.ix_(rows, pd.Index(self.wordings).get_indexer(pd.Index(wordings)))
        families = None if self.families is None else self.families[rows]
        return ScoreCells(
            self.mean[block],
            self.n_runs[block],
            squares=self.squares[block],
            questions=questions,
            wordings=wordings,
            families=families,
            scale=self.scale,
        )


def _variance(cells: ScoreCells) -> np.ndarray:
    """Return the variance of a single run, per cell; for a cell with one run, the pooled variance
    of the cells with more."""
    df = cells.n_runs - 1
    pooled = cells.squares.sum() / df.sum() if df.sum() else 0.0
    return np.where(df > 0, cells.squares / np.maximum(df, 1), pooled)


def score_cells(rows: pd.DataFrame, scale: tuple[float, float] | None = None) -> ScoreCells:
    """Build the crossed table of scores from one row per run.

    To leave no cell empty, it first drops the wordings that most questions lack, then the questions
    that lack a wording. Ten million runs take seconds.

    Parameters
    ----------
    rows : the columns `item_id`, `wording`, `score` (a number, NaN if missing) and optionally
        `family`. Questions and wordings keep their order of first appearance.
    scale : lowest and highest possible score; None if that is unknown.
    """
    score = rows["score"].to_numpy(dtype=float)
    is_scored = ~np.isnan(score)
    (row, questions), (column, wordings) = (
        _numbers(rows[name], is_scored) for name in ("item_id", "wording")
    )
    shape = len(questions), len(wordings)
    cell, n_cells = row * max(shape[1], 1) + column, math.prod(shape)
    # Sums by cell number are faster than grouping.
    n_runs = np.bincount(cell, minlength=n_cells)
    mean = np.bincount(cell, score[is_scored], n_cells) / np.maximum(n_runs, 1)
    squares = np.bincount(cell, (score[is_scored] - mean[cell]) ** 2, n_cells)
    # Otherwise a rarely asked wording would cost most of the questions.
    is_asked = n_runs.reshape(shape) > 0
    if shape[0]:
        is_kept = is_asked.mean(axis=0) >= LEAST_ASKED
    else:
        is_kept = np.zeros(shape[1], dtype=bool)
    is_complete = is_asked[:, is_kept].all(axis=1)
    block = np.ix_(is_complete, is_kept)
    families = None
    if "family" in rows:
        families = _families(rows["family"], is_scored, row, shape[0])[is_complete]
        if len(set(families.tolist())) == families.size:
            families = None
    return ScoreCells(
        mean.reshape(shape)[block],
        n_runs.reshape(shape)[block],
        squares=squares.reshape(shape)[block],
        questions=questions[is_complete].tolist(),
        wordings=wordings[is_kept].tolist(),
        families=families,
        n_dropped_questions=int(len(questions) - is_complete.sum()),
        dropped_wordings=wordings[~is_kept].tolist(),
        scale=scale,
    )


def _numbers(column: pd.Series, is_scored: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of each scored row's name, and the distinct names as texts, in order of
    first appearance."""
    codes, names = pd.factorize(column[is_scored])
    return codes.astype(np.int64), np.asarray(names).astype(str)


def _families(
    column: pd.Series, is_scored: np.ndarray, row: np.ndarray, n_questions: int
) -> np.ndarray:
    """Return (questions,) names of families; `row` (scored rows,) is the question of each row."""
    codes, names = _numbers(column, is_scored)
    question_codes = np.zeros(n_questions, dtype=np.int64)
    question_codes[row] = codes
    return names[question_codes] if len(names) else np.zeros(0, dtype=str)
