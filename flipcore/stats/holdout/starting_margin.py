"""A margin for MMD², which has no natural unit: the distance between sub-populations of the
benchmark.

Random halves of one set have a mean MMD² of 0, so they give no margin. The rows must be a part that
the test does not use: those that are explored, where the test reads those that were set aside.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from flipcore.stats.base.estimate import MIN_N
from flipcore.stats.holdout.semantic import mmd2_cos

SHIFT_SD = 0.2
MOST_GROUPS = 12


@dataclass(frozen=True)
class StartingMargin:
    """A `margin` in MMD², and its meaning: "the middle distance of 4 categories"."""

    margin: float
    meaning: str
    n: int


def starting_margin(
    units: np.ndarray, groups: Sequence[str], kind: str = "category"
) -> StartingMargin | None:
    """Return the median MMD² between groups of ten or more rows of `units` (n, d), where that is
    above 0; else the MMD² of a planted shift by 0.2 of the rows' spread around their mean. None
    below ten rows."""
    if len(units) < MIN_N:
        return None
    names, code = np.unique(np.asarray(groups, dtype=str), return_inverse=True)
    sizes = np.bincount(code, minlength=len(names))
    # The largest groups first; items without a category are no group.
    large_groups = [
        i for i in np.argsort(-sizes, kind="stable")[:MOST_GROUPS] if sizes[i] >= MIN_N and names[i]
    ]
    if len(large_groups) > 1:
        distances = [
            mmd2_cos(units[code == a], units[code == b]) for a, b in combinations(large_groups, 2)
        ]
        middle = float(np.median(distances))
        # MMD² is unbiased, so of groups that hardly differ it may come out below 0.
        if middle > 0:
            return StartingMargin(
                middle,
                f"the middle distance between {len(large_groups)} groups by {kind}",
                len(units),
            )
    spread = float(((units - units.mean(axis=0)) ** 2).sum(axis=1).mean())
    return StartingMargin(SHIFT_SD**2 * spread, f"a planted shift of {SHIFT_SD:g} SD", len(units))
