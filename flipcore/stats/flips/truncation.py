"""Answers that were cut off: how many, and A - G whatever their pairs would have been.

A cut answer is no answer: its pairs leave T and G. What they might have been is bounded by two worst cases, all of them flip
or none does, under either extractor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flipcore.stats.flips.coded_answers import CodedAnswers
from flipcore.stats.flips.disagreement import ABSENT, pair_flips


@dataclass(frozen=True)
class CutAnswers:
    """Of one axis under two extractors: `n` cut answers, their largest `share` under either; `lowest` and `highest` are
    (items,) A - G with every cut pair taken against artifact and for it. `T` and `G` are (mean lowest, mean highest)."""

    n: int
    share: float
    lowest: np.ndarray
    highest: np.ndarray
    T: tuple[float, float]
    G: tuple[float, float]


def cut_answers(answers: CodedAnswers, axis: str, extractor: str, reference: str, policy: str = "own_class") -> CutAnswers:
    """Counts and bounds; without a cut answer the bounds are A - G itself."""
    cells = [_Cell(answers, axis, name) for name in (extractor, reference)]
    both_there = cells[0].there & cells[1].there
    low, high, pairs = np.zeros((2, len(answers.items))), np.zeros((2, len(answers.items))), np.zeros(len(answers.items))
    v = both_there.shape[1]
    for j in range(v):
        for k in range(j + 1, v):
            there = both_there[:, j, :, None] & both_there[:, k, None, :]
            n_sample_pairs = there.sum(axis=(1, 2))
            pairs += n_sample_pairs > 0
            for which, cell in enumerate(cells):
                flips, unknown = cell.pairs(j, k, policy)
                sure, open_ = (flips & there).sum(axis=(1, 2)), (unknown & there).sum(axis=(1, 2))
                low[which] += sure / np.maximum(n_sample_pairs, 1)
                high[which] += (sure + open_) / np.maximum(n_sample_pairs, 1)
    low, high = (np.divide(x, pairs, out=np.full(x.shape, np.nan), where=pairs > 0) for x in (low, high))
    bounds = [(_mean(low[i]), _mean(high[i])) for i in (0, 1)]
    n, share = sum(cell.n_cut for cell in cells), max(cell.share for cell in cells)
    return CutAnswers(n, share, low[0] - 2 * high[1], high[0] - 2 * low[1], *bounds)


class _Cell:
    """Codes of one extractor and which of them were cut."""

    def __init__(self, answers: CodedAnswers, axis: str, extractor: str) -> None:
        self.codes = answers.codes[axis, extractor]
        self.cut = answers.cut.get((axis, extractor), np.zeros(self.codes.shape, dtype=bool))
        self.there = (self.codes != ABSENT) | self.cut
        self.n_cut = int(self.cut.sum())
        self.share = self.n_cut / int(self.there.sum()) if self.there.any() else 0.0

    def pairs(self, j: int, k: int, policy: str) -> tuple[np.ndarray, np.ndarray]:
        """(flips, cut): which sample pairs of variants j and k surely flip, and which hold a cut answer."""
        flips = pair_flips(self.codes[:, j, :, None], self.codes[:, k, None, :], policy)[1]
        return flips, self.cut[:, j, :, None] | self.cut[:, k, None, :]


def _mean(x: np.ndarray) -> float:
    return float(np.nanmean(x)) if not np.isnan(x).all() else float("nan")
