"""Scores of one model and extractor as questions × wordings, each cell the mean of its reruns."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from flipcore.stats.base.families import UNIT

# a wording that fewer of the questions were asked in than this is left out before any question is
MOST_ABSENT = 0.5


@dataclass(frozen=True, eq=False)
class ScoreCells:
    """A crossed table of scores. `mean` (questions, wordings) is each cell's mean over its `n_runs`
    reruns, `squares` the sum of their squared deviations from it, in squared units of the score.
    `families` names each question's template or source, None where none share one.
    `n_questions_left` and `wordings_left` were left out so that no cell is missing. `scale` is the
    least and the most that a score can be; None where nobody said: then [0, 1] if all cells lie
    within it."""

    mean: np.ndarray
    n_runs: np.ndarray
    squares: np.ndarray
    questions: Sequence[str] = ()
    wordings: Sequence[str] = ()
    families: np.ndarray | None = None
    n_questions_left: int = 0
    wordings_left: Sequence[str] = field(default=())
    scale: tuple[float, float] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(questions, wordings)."""
        rows, columns = self.mean.shape
        return rows, columns

    @cached_property
    def mean_runs(self) -> float:
        """The harmonic mean of the reruns per cell."""
        return float(1 / (1 / self.n_runs).mean())

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest score there can be, infinite where that is not known."""
        if self.scale is not None:
            return self.scale
        is_unit = self.mean.size and self.mean.min() >= 0 and self.mean.max() <= 1
        return UNIT if is_unit else (-math.inf, math.inf)

    @cached_property
    def is_binary(self) -> bool:
        """True where all runs were right or wrong: a cell's spread follows from its mean."""
        return self.bounds == UNIT and bool(
            np.allclose(self.squares, self.n_runs * self.mean * (1 - self.mean))
        )

    def by_wording(self) -> list[tuple[str, float]]:
        """Return (wording, mean score) of each column."""
        return list(zip(self.wordings, self.mean.mean(axis=0).tolist(), strict=True))

    def of_wording(self, index: int) -> "ScoreCells":
        """Return the one column of a wording."""
        column = slice(index, index + 1)
        return ScoreCells(
            self.mean[:, column],
            self.n_runs[:, column],
            self.squares[:, column],
            self.questions,
            self.wordings[column],
            self.families,
            scale=self.scale,
        )

    def less(self, subtrahend: "ScoreCells") -> "ScoreCells":
        """Return these scores less another model's, by cell, on shared questions and wordings."""
        common_questions, common_wordings = set(subtrahend.questions), set(subtrahend.wordings)
        rows = [name for name in self.questions if name in common_questions]
        columns = [name for name in self.wordings if name in common_wordings]
        a, b = self.part(rows, columns), subtrahend.part(rows, columns)
        # Reruns of the two are independent, so a cell's squared error is the sum of both, written
        # as that of one run each.
        n_runs = np.minimum(a.n_runs, b.n_runs)
        variance = _variance(a) / a.n_runs + _variance(b) / b.n_runs
        squares = np.where(n_runs > 1, variance * n_runs * (n_runs - 1), 0.0)
        ends = (self.bounds[0] - subtrahend.bounds[1], self.bounds[1] - subtrahend.bounds[0])
        return ScoreCells(a.mean - b.mean, n_runs, squares, rows, columns, a.families, scale=ends)

    def part(self, questions: Sequence[str], wordings: Sequence[str]) -> "ScoreCells":
        """Return the cells of these questions and wordings, in their order."""
        rows = pd.Index(self.questions).get_indexer(pd.Index(questions))
        block = np.ix_(rows, pd.Index(self.wordings).get_indexer(pd.Index(wordings)))
        families = None if self.families is None else self.families[rows]
        return ScoreCells(
            self.mean[block],
            self.n_runs[block],
            self.squares[block],
            questions,
            wordings,
            families,
            scale=self.scale,
        )


def _variance(cells: ScoreCells) -> np.ndarray:
    """Return the variance of one run of each cell; where it ran once, the mean over the cells that
    ran more often."""
    df = cells.n_runs - 1
    pooled = cells.squares.sum() / df.sum() if df.sum() else 0.0
    return np.where(df > 0, cells.squares / np.maximum(df, 1), pooled)


def score_cells(rows: pd.DataFrame, scale: tuple[float, float] | None = None) -> ScoreCells:
    """Build the crossed table of scores from a row per run.

    Cells that were not asked leave out first the wordings that most questions lack, then the
    questions that lack a wording. Ten million runs take seconds.

    Parameters
    ----------
    rows : the columns `item_id`, `wording`, `score` (a number, NaN is missing) and perhaps
        `family`. Questions and wordings keep the order in which they come.
    scale : least and largest score there can be; None where that is not known.
    """
    score = rows["score"].to_numpy(dtype=float)
    is_scored = ~np.isnan(score)
    (row, questions), (column, wordings) = (
        _numbers(rows[name], is_scored) for name in ("item_id", "wording")
    )
    shape = len(questions), len(wordings)
    cell, size = row * max(shape[1], 1) + column, shape[0] * shape[1]
    # Runs are summed by the number of their cell, never sorted.
    n_runs = np.bincount(cell, minlength=size)
    mean = np.bincount(cell, score[is_scored], size) / np.maximum(n_runs, 1)
    squares = np.bincount(cell, (score[is_scored] - mean[cell]) ** 2, size)
    # One rarely asked wording would else cost most of the questions.
    if shape[0]:
        enough = (n_runs.reshape(shape) > 0).mean(axis=0) >= MOST_ABSENT
    else:
        enough = np.zeros(shape[1], dtype=bool)
    is_complete = (n_runs.reshape(shape)[:, enough] > 0).all(axis=1)
    part = np.ix_(is_complete, enough)
    families = None
    if "family" in rows:
        families = _families(rows["family"], is_scored, row, shape[0])[is_complete]
    return ScoreCells(
        mean.reshape(shape)[part],
        n_runs.reshape(shape)[part],
        squares.reshape(shape)[part],
        questions[is_complete].tolist(),
        wordings[enough].tolist(),
        families if families is not None and len(set(families.tolist())) < families.size else None,
        n_questions_left=int(len(questions) - is_complete.sum()),
        wordings_left=wordings[~enough].tolist(),
        scale=scale,
    )


def _numbers(column: pd.Series, is_scored: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each row's place among the different names, and these as texts, in the order in which
    they come."""
    codes, names = pd.factorize(column[is_scored])
    return codes.astype(np.int64), np.asarray(names).astype(str)


def _families(
    column: pd.Series, is_scored: np.ndarray, row: np.ndarray, n_questions: int
) -> np.ndarray:
    """Return (questions,) the name of each question's family."""
    codes, names = _numbers(column, is_scored)
    question_codes = np.zeros(n_questions, dtype=np.int64)
    question_codes[row] = codes
    return names[question_codes] if len(names) else np.zeros(0, dtype=str)
