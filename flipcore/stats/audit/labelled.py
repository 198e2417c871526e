"""Check that labelled rows are a random part of all rows, column by column."""

from collections.abc import Mapping, Sequence

import numpy as np

ALPHA = 0.05


def columns_that_tell(
    labelled: Mapping[str, Sequence[tuple[int, int]]], alpha: float = ALPHA
) -> list[str]:
    """Return the columns whose values show that the labelled rows are not a random part.

    `labelled` holds per column the numbers (rows with a label, rows without) of each of its values.
    The tests are chi-square, with Holm over the columns. A column with one value is not tested.
    """
    from scipy.stats import chi2_contingency

    p_values: dict[str, float] = {}
    for name, groups in labelled.items():
        counts = np.array([group for group in groups if sum(group)])
        if len(counts) > 1 and counts.sum(axis=0).all():
            p_values[name] = float(chi2_contingency(counts).pvalue)
    significant = []
    for rank, name in enumerate(sorted(p_values, key=p_values.__getitem__)):
        # By Holm's rule, no p after the first one above its bound is significant.
        if p_values[name] > alpha / (len(p_values) - rank):
            break
        significant.append(name)
    return significant
