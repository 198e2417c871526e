"""Additivity of changes: does a prompt with several changes move a score by the sum of the effects
of its single changes?

If changes add up, the single effects predict the score of any combination. The gap of a prompt is
computed per question: its score minus that of the study's own prompt, minus the effect of each of
its changes alone. The mean gap is 0 where changes add up. The intervals hold together (Bonferroni
over prompts). As for grades, each limit includes a part of an unseen question.
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
    """Map each way (a prompt with several changes) to its mean gap, in units of the score.

    `gaps` (questions, ways) are NaN where a part of the gap was not asked. `families` (questions,)
    name templates or sources, and `width` is the width of the score's scale. Ways with fewer than
    ten questions or three effective families are left out.
    """
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
        # A gap combines several scores, so its mean may exceed the width of the scale.
        max_gap = max(width, abs(mean.value))
        low, high = limits_of_grades(
            mean.value, mean.se**2, mean.df, mean.n_effective, joint_level, (-max_gap, max_gap)
        )
        effective = mean.n_effective if mean.n_families < mean.n else None
        estimates[way] = Estimate(
            mean.value,
            low,
            high,
            level=joint_level,
            method="crossed",
            n=mean.n_families,
            seed=None,
            effective=effective,
        )
    return estimates
