"""Additivity of changes: does a prompt that makes several changes at once move a score by as much
as they do one at a time?

Where changes add up, their single effects tell how far any combination would move a score. The gap
of a prompt is, question by question, its score less that at the study's own prompt, less the effect
of each of its changes by itself; its mean is 0 where changes add up. All gaps hold together
(Bonferroni over prompts), and each limit counts a part of a question that was not drawn, as those
of grades do.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from flipcore.stats.base.estimate import MIN_FAMILIES, MIN_N, Estimate
from flipcore.stats.base.families import clustered_mean
from flipcore.stats.score.error_bar import limits_of_grades


def way_gaps(
    gaps: np.ndarray,
    ways: Sequence[str],
    families: np.ndarray,
    level: float = 0.95,
    width: float = 1.0,
) -> Mapping[str, Estimate]:
    """Map each way to its mean gap. `gaps` (questions, ways) are NaN where one of the parts was not
    asked, `families` name each question's template or source, `width` is that of the score's scale,
    in whose units gaps are. A way that fewer than ten questions have in all its parts, or three
    effective families, has none."""
    columns = {}
    for way, column in zip(ways, gaps.T, strict=True):
        if (~np.isnan(column)).sum() >= MIN_N:
            columns[way] = column
    estimates = {}
    for way, column in columns.items():
        mean = clustered_mean(column, families, bounds=None)
        if mean.n_effective < MIN_FAMILIES:
            continue
        joint_level = 1 - (1 - level) / len(columns)
        # Three scores go into a gap, so its mean may lie outside the width of one.
        most = max(width, abs(mean.value))
        low, high = limits_of_grades(
            mean.value, mean.se**2, mean.df, mean.n_effective, joint_level, (-most, most)
        )
        estimates[way] = Estimate(
            mean.value,
            low,
            high,
            joint_level,
            "crossed",
            mean.n_families,
            None,
            effective=mean.n_effective if mean.n_families < mean.n else None,
        )
    return estimates
