"""Which part of the flips is larger: three contrasts of the parts, on which a verdict rests.

Of all pairs A+ flip under the compared extractor alone, A- under the reference alone, some under both. Whoever misreads flips alone,
and what both see is genuine, so three questions are asked: is A+ more than both, is A- more than both, are both more than A+ and A-
together? Swapping the extractors swaps the first two and leaves the third: no choice of the reference contradicts another. Each
part is taken beyond its own noise floor, the same part among reruns of one prompt, where every item has one; the part that is
named must itself be more than 0 then, since reruns with one seed can flip more than variants do. Answers that nobody read are taken
as they weigh most against the contrast.
"""

from dataclasses import dataclass

import numpy as np

from flipcore.stats.base.guarded import guarded_t
from flipcore.stats.flips.decomposition import COLUMNS, THREE, Decomposition
from flipcore.stats.flips.unread import CONTRASTS, RATES

BOUNDS = (-1.0, 1.0)  # of an item's contrast; beyond a floor it may be twice as much
_OF_PARTS = np.array([[1.0, 0, -1], [0, 1, -1], [-1, -1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])  # of A+, A-, both
_PARTS = [list(COLUMNS).index(name) for name in THREE]
_EXCESS = [list(COLUMNS).index(f"{name}_excess") for name in THREE]
_AT = [list(RATES).index(name) for name in (*CONTRASTS, *THREE)]


@dataclass(frozen=True)
class PartsTest:
    """One-sided p of each of `CONTRASTS`, guarded (`stats.base.guarded`), NaN below 10 items: `p` whatever the unread answers were,
    `p_read` as if there were none. `above_floor`: the parts stand beyond their noise floors. Without a floor nothing is
    asked of genuine flips, since reruns flip under both extractors too, so its p are NaN."""

    p: np.ndarray
    p_read: np.ndarray
    n: int
    above_floor: bool


def parts_test(one: Decomposition, temperature: float | None = None) -> PartsTest:
    """Of a cell. `temperature` 0 and no rerun that flipped: the floor is 0 for the items too that were not asked again."""
    has_pairs = ~np.isnan(one.unread.raw.low[:, 0])
    has_floor = bool(has_pairs.any()) and not np.isnan(one.unread.beyond.low[has_pairs]).any()
    is_still = temperature == 0 and one.W.value == 0 and one.W_ref.value == 0
    read = one.item_values[:, _EXCESS if has_floor else _PARTS] @ _OF_PARTS.T
    least = (one.unread.beyond if has_floor else one.unread.raw).low[:, _AT]
    bounds = (2 * BOUNDS[0], 2 * BOUNDS[1]) if has_floor else BOUNDS
    p, p_read = (guarded_t(x.T, bounds, one.families).p_above.reshape(2, -1).max(axis=0) for x in (least, read))
    above_floor = has_floor or is_still
    if not above_floor:
        p[2] = p_read[2] = np.nan
    return PartsTest(p, p_read, _n_units(has_pairs, one.families), above_floor)


def _n_units(has_pairs: np.ndarray, families: np.ndarray | None) -> int:
    """Items, or families of items, that have a pair."""
    return int(has_pairs.sum()) if families is None else np.unique(families[has_pairs]).size
