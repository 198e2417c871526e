"""The larger part of the flips: three contrasts of the parts, on which a verdict rests.

There are three parts, each a share of all pairs of variants. A+ flip under the compared extractor
alone, A- under the reference alone, "both" under both. A misread answer flips under one extractor
only. A flip under both extractors is genuine. So the contrasts weigh the parts against each other:
A+ - both, A- - both, and both - A+ - A-. Swapping the extractors swaps the first two contrasts and
leaves the third, so no choice of the reference contradicts another.

If every item has a noise floor, each part is taken beyond it: minus the same part among reruns of
one prompt. The part that a contrast names must then be above 0 too. Reruns can flip more than
variants do, and then a contrast beyond the floor can be above 0 although its part is not. Unread
answers count as whatever weighs most against the contrast.

The second half of the module simulates the power of a design to show artifact. It tests A+ - both
as for a study without noise floors and without families. All pairs of an item flip together. In the
assumed world they flip under both extractors in a share `BOTH` of the items. They flip under the
compared extractor alone in a share of `BOTH` plus the difference A+ - both. Noise adds a share
`NOISE` of the items to either side. Two worlds are worse. In one, half as many pairs flip under
both as under the compared extractor alone; in the other the noise is twice as large.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from flipcore.core.randomness import generator
from flipcore.stats.base.estimate import MIN_N
from flipcore.stats.base.guarded import guarded_t
from flipcore.stats.flips.decomposition import COLUMNS, THREE, Decomposition
from flipcore.stats.flips.unread import CONTRASTS, RATES

BOUNDS = (-1.0, 1.0)  # of an item's contrast; twice as wide if the parts are beyond a floor
# Weights of A+, A- and both. The rows are the three contrasts, then the part that each one names.
_WEIGHTS = np.array([[1.0, 0, -1], [0, 1, -1], [-1, -1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
_PARTS = [list(COLUMNS).index(name) for name in THREE]
_EXCESS = [list(COLUMNS).index(f"{name}_excess") for name in THREE]
_BOUND_COLUMNS = [list(RATES).index(name) for name in (*CONTRASTS, *THREE)]


@dataclass(frozen=True)
class PartsTest:
    """Tests of `CONTRASTS` in one cell; p-values are (contrasts,), one-sided and guarded
    (`stats.base.guarded`), NaN below ten items or six effective families.

    p : whatever the unread answers were.
    p_read : from the rates of the cell. There an unreadable answer is by default one more answer;
        answers that were cut off or never came are left out.
    n : number of items, or of families, with a pair.
    above_floor : True if the parts are beyond their noise floors. If not, the p of "genuine" is
        NaN.
    """

    p: np.ndarray
    p_read: np.ndarray
    n: int
    above_floor: bool


def parts_test(cell: Decomposition, temperature: float | None = None) -> PartsTest:
    """Test the contrasts of one cell. `temperature` is that of its answers, None if unknown."""
    has_pairs = ~np.isnan(cell.unread.raw.low[:, 0])
    has_floor = bool(has_pairs.any()) and not np.isnan(cell.unread.beyond.low[has_pairs]).any()
    # At temperature 0, if no rerun flipped, the floor of items without reruns is 0 as well.
    is_floor_zero = temperature == 0 and cell.W.value == 0 and cell.W_ref.value == 0
    read = cell.item_values[:, _EXCESS if has_floor else _PARTS] @ _WEIGHTS.T
    least = (cell.unread.beyond if has_floor else cell.unread.raw).low[:, _BOUND_COLUMNS]
    bounds = (2 * BOUNDS[0], 2 * BOUNDS[1]) if has_floor else BOUNDS
    # A contrast and the part that it names must both be above 0, so the larger p counts.
    p, p_read = (
        guarded_t(values.T, bounds, cell.families).p_above.reshape(2, -1).max(axis=0)
        for values in (least, read)
    )
    above_floor = has_floor or is_floor_zero
    if not above_floor:
        # Reruns flip under both extractors too, so without a floor no flip is shown to be genuine.
        p[CONTRASTS.index("genuine")] = p_read[CONTRASTS.index("genuine")] = np.nan
    families = cell.families
    n = int(has_pairs.sum()) if families is None else np.unique(families[has_pairs]).size
    return PartsTest(p, p_read, n, above_floor)


BOTH, NOISE = 0.10, 0.02
ASSUMED, HALF_BOTH, TWICE_NOISE = ("assumed", "half as many under both", "twice the noise")
LARGEST = 1 - 2 * (BOTH + 2 * NOISE)  # difference A+ - both
# The margin makes up for the error of a simulation of `N_RUNS`.
TARGET_POWER, POWER_MARGIN = (0.80, 0.03)
N_RUNS, STEP = 4_000, 0.01
# With more items than this, the detectable difference is scaled by the root of their number.
MOST_DRAWN = 1_500


def share_against(difference: float, world: str = ASSUMED) -> float:
    """Return the share of items whose pairs count against artifact. The share of items that count
    for artifact is larger by `difference` (A+ - both)."""
    # For artifact count items that flip under the compared extractor alone, against it those that
    # flip under both. Noise adds the same share to each.
    if world == HALF_BOTH:
        return min(max(difference, BOTH) + NOISE, (1 - difference) / 2)
    return min(BOTH + (2 if world == TWICE_NOISE else 1) * NOISE, (1 - difference) / 2)


def power(
    n: int,
    difference: float,
    n_cells: int = 1,
    level: float = 0.95,
    world: str = ASSUMED,
    seed: int = 0,
    runs: int = N_RUNS,
) -> float:
    """Return the share of simulated studies of `n` items that show artifact, if A+ - both is
    `difference`.

    The correction is Holm's first step over the three contrasts of `n_cells` cells. NaN below ten
    items, where nothing is claimed, and for a difference that this world cannot have.
    """
    if n < MIN_N or not 0 <= difference <= LARGEST + 1e-9:
        return math.nan
    share = share_against(difference, world)
    # The seed depends on the design, so that a plan always shows the same power.
    u = generator(seed, "power of flips", n, round(difference, 6), world).random((runs, n))
    # One pair per item is enough, because all pairs of an item flip together.
    values = np.select([u < difference + share, u < difference + 2 * share], [1.0, -1.0], 0.0)
    p = guarded_t(values, BOUNDS).p_above
    return float(np.mean(len(CONTRASTS) * n_cells * p <= 1 - level))


@lru_cache(maxsize=64)
def fewest_items(n_cells: int = 1) -> int:
    """Return the least number of items with which the largest possible difference is found four
    times in five. With fewer items no difference is."""
    low, high = MIN_N - 1, MOST_DRAWN
    while high - low > 1:
        middle = (low + high) // 2
        if math.isnan(detectable_difference(middle, n_cells)):
            low = middle
        else:
            high = middle
    return high


@lru_cache(maxsize=256)
def detectable_difference(n: int, n_cells: int = 1, seed: int = 0) -> float:
    """Return the smallest A+ - both (a share, rounded up to .01) that is found four times in five
    in the assumed world; NaN if none is."""
    sample_size = min(n, MOST_DRAWN)

    def is_found(steps: int) -> bool:
        return power(sample_size, steps * STEP, n_cells, seed=seed) >= TARGET_POWER + POWER_MARGIN

    low, high = 0, int(LARGEST / STEP)
    if n < MIN_N or not is_found(high):
        return math.nan
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_found(middle) else (middle, high)
    # Rounded up, so that the difference shown is found at least as often as promised.
    return math.ceil(100 * high * STEP * math.sqrt(sample_size / n) - 1e-9) / 100


def power_in_worse_worlds(n: int, difference: float, n_cells: int = 1) -> tuple[float, float]:
    """Return the (least, largest) power for this difference in the two worlds that are worse than
    the assumed one."""
    powers = [
        power(n, difference, n_cells, world=world, runs=N_RUNS // 2)
        for world in (HALF_BOTH, TWICE_NOISE)
    ]
    return min(powers), max(powers)
