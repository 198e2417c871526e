"""Check that labelled rows are a random part of all: each column against having a label or none."""

from collections.abc import Mapping, Sequence

import numpy as np

ALPHA = 0.05


def columns_that_tell(
    labelled: Mapping[str, Sequence[tuple[int, int]]], alpha: float = ALPHA
) -> list[str]:
    """Return the columns by whose values rows have a label more or less often.

    `labelled` holds per column (rows with a label, rows without) for each of its values. Chi-square
    tests, Holm over the columns; a column of one value tells nothing.
    """
    from scipy.stats import chi2_contingency

    p_values: dict[str, float] = {}
    for name, groups in labelled.items():
        counts = np.array([group for group in groups if sum(group)])
        if len(counts) > 1 and counts.sum(axis=0).all():
            p_values[name] = float(chi2_contingency(counts).pvalue)
    telling = []
    for rank, name in enumerate(sorted(p_values, key=p_values.__getitem__)):
        if p_values[name] > alpha / (len(p_values) - rank):
            # Holm: after the first p above its bound no larger one counts.
            break
        telling.append(name)
    return telling
