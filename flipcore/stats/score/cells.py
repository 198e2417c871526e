"""Scores of one model and reader as questions × wordings, each cell the mean of its reruns."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from flipcore.stats.base.families import UNIT

MOST_ABSENT = 0.5  # a wording that fewer of the questions were asked in than this is left out before any question is


@dataclass(frozen=True, eq=False)
class ScoreCells:
    """`mean` (questions, wordings) is each cell's mean over its `n_runs` reruns, `squares` the sum of their squared deviations from it,
    in squared units of the score. `families` names each question's template or source, None where none share one. `n_questions_left`
    and `wordings_left` are what had to be left out so that every cell is there. `scale` is the least and the most that a score can be;
    None where nobody said: then [0, 1] if every cell lies within it."""

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
        """Harmonic mean of the reruns a cell."""
        return float(1 / (1 / self.n_runs).mean())

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """What a score can be, infinite where that is not known."""
        if self.scale is not None:
            return self.scale
        is_unit = self.mean.size and self.mean.min() >= 0 and self.mean.max() <= 1
        return UNIT if is_unit else (-math.inf, math.inf)

    @cached_property
    def is_binary(self) -> bool:
        """Whether every run was right or wrong: then what runs of a cell differ by follows from their mean."""
        return self.bounds == UNIT and bool(np.allclose(self.squares, self.n_runs * self.mean * (1 - self.mean)))

    def by_wording(self) -> list[tuple[str, float]]:
        return list(zip(self.wordings, self.mean.mean(axis=0).tolist(), strict=True))

    def of_wording(self, at: int) -> "ScoreCells":
        part = slice(at, at + 1)
        names = self.wordings[at : at + 1]
        mean, n_runs, squares = (one[:, part] for one in (self.mean, self.n_runs, self.squares))
        return ScoreCells(mean, n_runs, squares, self.questions, names, self.families, scale=self.scale)

    def less(self, other: "ScoreCells") -> "ScoreCells":
        """This model's scores less another's, cell by cell, on the questions and wordings of both. The reruns of the two are
        independent, so a cell's squared error is the sum of both, told as that of one run each."""
        rows = [name for name in self.questions if name in set(other.questions)]
        columns = [name for name in self.wordings if name in set(other.wordings)]
        a, b = (one.part(rows, columns) for one in (self, other))
        n_runs = np.minimum(a.n_runs, b.n_runs)
        variance = _variance(a) / a.n_runs + _variance(b) / b.n_runs
        squares = np.where(n_runs > 1, variance * n_runs * (n_runs - 1), 0.0)
        ends = (self.bounds[0] - other.bounds[1], self.bounds[1] - other.bounds[0])
        return ScoreCells(a.mean - b.mean, n_runs, squares, rows, columns, a.families, scale=ends)

    def part(self, questions: Sequence[str], wordings: Sequence[str]) -> "ScoreCells":
        """Of these questions and wordings, in their order."""
        rows = pd.Index(self.questions).get_indexer(pd.Index(questions))
        at = np.ix_(rows, pd.Index(self.wordings).get_indexer(pd.Index(wordings)))
        families = None if self.families is None else self.families[rows]
        return ScoreCells(self.mean[at], self.n_runs[at], self.squares[at], questions, wordings, families, scale=self.scale)


def _variance(cells: ScoreCells) -> np.ndarray:
    """Of one run of each cell; where it ran once, the mean over the cells that ran more often."""
    df = cells.n_runs - 1
    pooled = cells.squares.sum() / df.sum() if df.sum() else 0.0
    return np.where(df > 0, cells.squares / np.maximum(df, 1), pooled)


def score_cells(rows: pd.DataFrame, scale: tuple[float, float] | None = None) -> ScoreCells:
    """From a row a run: `item_id`, `wording`, `score` (a number; NaN is missing), perhaps `family`; questions and wordings in the order
    in which they come. Cells that nobody asked leave out first the wordings that most questions lack, then the questions that lack a
    wording. Ten million runs take seconds: they are summed by number, never sorted."""
    score = rows["score"].to_numpy(dtype=float)
    there = ~np.isnan(score)
    (row, questions), (column, wordings) = (_numbers(rows[name], there) for name in ("item_id", "wording"))
    shape = len(questions), len(wordings)
    at, size = row * max(shape[1], 1) + column, shape[0] * shape[1]
    n_runs = np.bincount(at, minlength=size)
    mean = np.bincount(at, score[there], size) / np.maximum(n_runs, 1)
    squares = np.bincount(at, (score[there] - mean[at]) ** 2, size)
    enough = (n_runs.reshape(shape) > 0).mean(axis=0) >= MOST_ABSENT if shape[0] else np.zeros(shape[1], dtype=bool)
    whole = (n_runs.reshape(shape)[:, enough] > 0).all(axis=1)
    part = np.ix_(whole, enough)
    families = _families(rows["family"], there, row, shape[0])[whole] if "family" in rows else None
    return ScoreCells(
        mean.reshape(shape)[part],
        n_runs.reshape(shape)[part],
        squares.reshape(shape)[part],
        questions[whole].tolist(),
        wordings[enough].tolist(),
        families if families is not None and len(set(families.tolist())) < families.size else None,
        n_questions_left=int(len(questions) - whole.sum()),
        wordings_left=wordings[~enough].tolist(),
        scale=scale,
    )


def _numbers(column: pd.Series, there: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each row's place among the different names, and these as texts, in the order in which they come."""
    codes, names = pd.factorize(column[there])
    return codes.astype(np.int64), np.asarray(names).astype(str)


def _families(column: pd.Series, there: np.ndarray, row: np.ndarray, n_questions: int) -> np.ndarray:
    """(questions,) the name of each question's family."""
    codes, names = _numbers(column, there)
    of_question = np.zeros(n_questions, dtype=np.int64)
    of_question[row] = codes
    return names[of_question] if len(names) else np.zeros(0, dtype=str)
