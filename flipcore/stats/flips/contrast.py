"""The larger part of the flips: three contrasts of the parts, on which a verdict rests.

Of all pairs A+ flip under the compared extractor alone, A- under the reference alone, some under
both. An extractor that misreads flips alone, and what both see is genuine, so three questions are
asked: is A+ more than both, is A- more than both, are both more than A+ and A- together? Swapping
the extractors swaps the first two and leaves the third: no choice of the reference contradicts
another. Each part is taken beyond its own noise floor, the same part among reruns of one prompt,
where every item has one; the part that is named must itself be more than 0 then, since reruns with
one seed can flip more than variants do. Answers that neither extractor read are taken as they weigh
most against the contrast.
"""

from dataclasses import dataclass

import numpy as np

from flipcore.stats.base.guarded import guarded_t
from flipcore.stats.flips.decomposition import COLUMNS, THREE, Decomposition
from flipcore.stats.flips.unread import CONTRASTS, RATES

BOUNDS = (-1.0, 1.0)  # of an item's contrast; beyond a floor it may be twice as much
# Weights of A+, A- and both: first in the three contrasts, then each part by itself.
_WEIGHTS = np.array([[1.0, 0, -1], [0, 1, -1], [-1, -1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
_PARTS = [list(COLUMNS).index(name) for name in THREE]
_EXCESS = [list(COLUMNS).index(f"{name}_excess") for name in THREE]
_BOUND_COLUMNS = [list(RATES).index(name) for name in (*CONTRASTS, *THREE)]


@dataclass(frozen=True)
class PartsTest:
    """One-sided p of each of `CONTRASTS`, guarded (`stats.base.guarded`), NaN below 10 items: `p`
    whatever the unread answers were, `p_read` as if there were none. `above_floor`: the parts stand
    beyond their noise floors. Without a floor the p of "genuine" are NaN."""

    p: np.ndarray
    p_read: np.ndarray
    n: int
    above_floor: bool


def parts_test(cell: Decomposition, temperature: float | None = None) -> PartsTest:
    """Test the contrasts of one cell, asked at `temperature` (None: not known)."""
    has_pairs = ~np.isnan(cell.unread.raw.low[:, 0])
    has_floor = bool(has_pairs.any()) and not np.isnan(cell.unread.beyond.low[has_pairs]).any()
    # At temperature 0, without a rerun that flipped, the floor is 0 for the other items too.
    is_still = temperature == 0 and cell.W.value == 0 and cell.W_ref.value == 0
    read = cell.item_values[:, _EXCESS if has_floor else _PARTS] @ _WEIGHTS.T
    least = (cell.unread.beyond if has_floor else cell.unread.raw).low[:, _BOUND_COLUMNS]
    bounds = (2 * BOUNDS[0], 2 * BOUNDS[1]) if has_floor else BOUNDS
    # A contrast and the part that it names must both be above 0: the larger p of the two.
    p, p_read = (
        guarded_t(x.T, bounds, cell.families).p_above.reshape(2, -1).max(axis=0)
        for x in (least, read)
    )
    above_floor = has_floor or is_still
    if not above_floor:
        # Reruns flip under both extractors too, so without a floor no flip is shown to be genuine.
        p[CONTRASTS.index("genuine")] = p_read[CONTRASTS.index("genuine")] = np.nan
    return PartsTest(p, p_read, _n_units(has_pairs, cell.families), above_floor)


def _n_units(has_pairs: np.ndarray, families: np.ndarray | None) -> int:
    """Count the items, or families of items, that have a pair."""
    return int(has_pairs.sum()) if families is None else np.unique(families[has_pairs]).size
