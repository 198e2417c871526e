"""Every readout by itself, on every axis: flip summaries, whether the change matters, and the rate as items arrived."""

from __future__ import annotations

import math

from flipcore.stats.bands import SequencePath, bounded_path
from flipcore.stats.coding import IDENTITY, CodedAnswers
from flipcore.stats.disagreement import between
from flipcore.stats.floor import excess_test
from flipcore.stats.summary import FlipSummary, flip_summary


def alone(answers: CodedAnswers, policy: str = "own_class", n_permutations: int = 499) -> list[tuple[FlipSummary, float]]:
    """(summary, p of the excess over asking again) of every axis and readout; p is NaN where a variant was asked once."""
    found = []
    for axis in (axis for axis in answers.axes if axis != IDENTITY):
        for extractor in answers.extractors:
            codes = answers.cell(axis, extractor, True)
            p = excess_test(codes, policy=policy, m=n_permutations).p if codes.shape[2] > 1 else math.nan
            found.append((flip_summary(answers, axis, extractor, policy=policy), p))
    return found


def arriving(answers: CodedAnswers, axis: str, policy: str = "own_class") -> dict[str, SequencePath]:
    """Readout -> its mean flip rate after each item, in the order of `answers.items`, with limits valid at any time."""
    return {extractor: bounded_path(between(answers.cell(axis, extractor, True), policy).rate)
            for extractor in answers.extractors}
