"""Answers that were cut off: how many a cell has, and what its numbers could be whatever those answers would have been.

A pair with a cut answer leaves T (statistics.md, section 16.6). Two worst cases stand beside every number: all such pairs
flip, or none does. A cell is model × axis × extractor; with more than `MOST_CUT` of its answers cut off it makes a claim
only where the claim is the same in both worst cases: `unsettled(answers, axis, extractors, outcome)` is what a claim asks.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from flipcore.core.finish import MOST_CUT
from flipcore.stats.flips.coding import CodedAnswers
from flipcore.stats.flips.disagreement import ABSENT, AGREES, between

_NEW = 1_000_000  # codes of answers that nobody else gives; far above the code of any answer of a study


@dataclass(frozen=True)
class CutBounds:
    """One cell: `n_answers` came back, `n_cut` of them cut off. The mean flip rate over items lies from `lowest` (no pair with
    a cut answer flips) to `highest` (all do); NaN where no pair can be compared."""

    axis: str
    extractor: str
    n_answers: int
    n_cut: int
    lowest: float
    highest: float

    @property
    def share(self) -> float:
        return self.n_cut / self.n_answers if self.n_answers else float("nan")

    @property
    def too_many(self) -> bool:
        """Whether a claim of this cell must hold in both worst cases."""
        return self.share > MOST_CUT

    def sentence(self) -> str:
        """What a page shows beside the flip rate; "" where nothing was cut off."""
        if not self.n_cut:
            return ""
        count_sentence = f"{self.n_cut:,} of {self.n_answers:,} answers were cut off ({100 * self.share:.1f} %)."
        if np.isnan(self.lowest):
            return count_sentence
        return f"{count_sentence} Whatever they were, the flip rate lies between {self.lowest:.2f} and {self.highest:.2f}."


def cut_bounds(
    answers: CodedAnswers, axis: str, extractor: str, policy: str = "own_class", include_base: bool = True
) -> CutBounds:
    """The bounds of one cell. Without a cut answer both are the flip rate itself."""
    codes = answers.codes[axis, extractor]
    n_cut = answers.n_cut(axis, extractor)
    n_answers = int((codes != ABSENT).sum()) + n_cut
    low, high = (_mean_rate(case.cell(axis, extractor, include_base), policy) for case in worst_cases(answers))
    return CutBounds(axis, extractor, n_answers, n_cut, low, high)


def worst_cases(answers: CodedAnswers) -> tuple[CodedAnswers, CodedAnswers]:
    """The same answers with those cut off filled in: agreeing with every other, and different from every other. Everything
    that is computed of coded answers can be computed of these two."""
    if not answers.cut:
        return answers, answers
    none_flips, all_flip = dict(answers.codes), dict(answers.codes)
    for cell, marks in answers.cut.items():
        none_flips[cell] = np.where(marks, AGREES, answers.codes[cell])
        distinct = _NEW + np.arange(marks.size, dtype=answers.codes[cell].dtype).reshape(marks.shape)
        all_flip[cell] = np.where(marks, distinct, answers.codes[cell])
    return replace(answers, codes=none_flips, cut={}), replace(answers, codes=all_flip, cut={})


def too_many_cut(answers: CodedAnswers, axis: str, extractors: Sequence[str]) -> list[str]:
    """The extractors of which more than `MOST_CUT` of this axis' answers were cut off."""
    return [name for name in extractors if cut_share(answers, axis, name) > MOST_CUT]


def cut_share(answers: CodedAnswers, axis: str, extractor: str) -> float:
    """The share of a cell's answers that were cut off; 0 without an answer."""
    n_cut = answers.n_cut(axis, extractor)
    there = int((answers.codes[axis, extractor] != ABSENT).sum()) + n_cut
    return n_cut / there if there else 0.0


def unsettled(answers: CodedAnswers, axis: str, extractors: Sequence[str], outcome: Callable[[CodedAnswers], Hashable]) -> str:
    """Why a cell's claim may not be made because of answers that were cut off; "" where it may.

    `extractors` are those that the claim reads (compared and reference), `outcome` is the verdict that the claim's own
    function gives for coded answers, for example ``lambda a: decompositions(a, reference, axes=[axis], extractors=[e])[0]
    .established``. Up to 5 % cut the claim stands as it is; above, it stands where the outcome of the answers as they are is
    also that of both worst cases. Pass the result to `Claim.not_claimed`.
    """
    cut = too_many_cut(answers, axis, extractors)
    if not cut or len({outcome(answers), *map(outcome, worst_cases(answers))}) == 1:
        return ""
    worst = max(cut, key=lambda name: cut_share(answers, axis, name))
    share = 100 * cut_share(answers, axis, worst)
    return (
        f"{share:.0f} % of the answers on {axis.replace('_', ' ')} were cut off, and they could change the verdict. "
        "Raise the token limit and run again."
    )


def _mean_rate(codes: np.ndarray, policy: str) -> float:
    rates = between(codes, policy).rate
    defined = ~np.isnan(rates)
    return float(rates[defined].mean()) if defined.any() else float("nan")
