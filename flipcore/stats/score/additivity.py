"""Whether changes add up: does a way of asking that makes several changes at once move a score by as much as they do one at a time?

Where they do, the parts of one change at a time tell how far any joint one would move a score. A way's gap is, question by question,
its score less the own prompt's, less what each of its changes moves alone; its mean is 0 where changes add up. All gaps hold together
(Bonferroni over ways), and each limit counts a part of a question that was not drawn, as those of grades do.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from flipcore.stats.base.estimate import MIN_FAMILIES, MIN_N, Estimate
from flipcore.stats.base.families import clustered_mean
from flipcore.stats.score.error_bar import limits_of_grades


def way_gaps(
    gaps: np.ndarray, ways: Sequence[str], families: np.ndarray, level: float = 0.95, width: float = 1.0
) -> Mapping[str, Estimate]:
    """Way -> its mean gap. `gaps` (questions, ways) are NaN where one of the parts was not asked, `families` name each question's
    template or source, `width` is that of the score's scale, in whose units gaps are. A way that fewer than ten questions have in all its
    parts, or three effective families, has none."""
    columns = {way: gaps[:, at] for at, way in enumerate(ways) if (~np.isnan(gaps[:, at])).sum() >= MIN_N}
    out = {}
    for way, column in columns.items():
        one = clustered_mean(column, families, bounds=None)
        if one.n_effective < MIN_FAMILIES:
            continue
        own_level, most = 1 - (1 - level) / len(columns), max(width, abs(one.value))
        low, high = limits_of_grades(one.value, one.se**2, one.df, one.n_effective, own_level, (-most, most))
        few = one.n_effective if one.n_families < one.n else None
        out[way] = Estimate(one.value, low, high, own_level, "crossed", one.n_families, None, effective=few)
    return out
