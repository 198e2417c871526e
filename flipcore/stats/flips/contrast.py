"""Tests of which part of the flips is larger, and the power of a design to show artifact.

A flip belongs to one of three parts, each a share of all pairs of variants: A+ flips under the
compared extractor alone, A- under the reference alone, "both" under both. A misread answer flips
under one extractor only, a genuine change under both. Each of the three contrasts weighs one part
against the others:

    compared   A+ - both
    reference  A- - both
    genuine    both - A+ - A-

Swapping the extractors swaps the first two contrasts and leaves the third. So no choice of the
reference contradicts another.

If every item has a noise floor, it is subtracted: each part loses the same part among reruns of one
prompt. The part that a contrast names must then be above 0 too. For reruns can flip more than
variants do, and then a contrast can be above 0 although the part that it names is not. Unread
answers count as whatever weighs most against the contrast.

`power` and what follows it simulate studies without noise floors and without families, and test
A+ - both. All pairs of an item flip together. In the assumed world the share `SHARE_BOTH` of the
items flips under both extractors. `SHARE_BOTH` plus the difference A+ - both flips under the
compared extractor alone. Noise adds `SHARE_NOISE` to each of the two shares. Two worlds are worse.
In one, half as many pairs flip under both as under the compared extractor alone. In the other, the
noise is twice as large.
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
_PART_COLUMNS = [list(COLUMNS).index(name) for name in THREE]
_EXCESS_COLUMNS = [list(COLUMNS).index(f"{name}_excess") for name in THREE]
_BOUND_COLUMNS = [list(RATES).index(name) for name in (*CONTRASTS, *THREE)]


@dataclass(frozen=True)
class PartsTest:
    """Tests of `CONTRASTS` in one cell; p-values are (contrasts,), one-sided and guarded
    (`stats.base.guarded`), NaN below ten items or six effective families.

    p : whatever the unread answers were.
    p_read : from the rates of the cell. There an unreadable answer is by default one more answer;
        answers that were cut off or never came are left out.
    n : number of items, or of families, with a pair.
    is_floor_known : True if the noise floors were subtracted, or are 0. If not, the p of
        "genuine" is NaN.
    """

    p: np.ndarray
    p_read: np.ndarray
    n: int
    is_floor_known: bool


def parts_test(cell: Decomposition, temperature: float | None = None) -> PartsTest:
    """Test the contrasts of one cell. `temperature` is that of its answers, None if unknown."""
    has_pairs = ~np.isnan(cell.unread.raw.low[:, 0])
    has_floor = bool(has_pairs.any()) and not np.isnan(cell.unread.beyond.low[has_pairs]).any()
    # At temperature 0, if no rerun flipped, the floor of items without reruns is 0 as well.
    is_floor_zero = temperature == 0 and cell.W.value == 0 and cell.W_ref.value == 0
    read_columns = _EXCESS_COLUMNS if has_floor else _PART_COLUMNS
    read_values = cell.item_values[:, read_columns] @ _WEIGHTS.T
    least_values = (cell.unread.beyond if has_floor else cell.unread.raw).low[:, _BOUND_COLUMNS]
    bounds = (2 * BOUNDS[0], 2 * BOUNDS[1]) if has_floor else BOUNDS
    # A contrast and the part that it names must both be above 0, so the larger p counts.
    p, p_read = (
        guarded_t(values.T, bounds, cell.families).p_above.reshape(2, -1).max(axis=0)
        for values in (least_values, read_values)
    )
    is_floor_known = has_floor or is_floor_zero
    if not is_floor_known:
        # Reruns flip under both extractors too, so without a floor no flip is shown to be genuine.
        p[CONTRASTS.index("genuine")] = p_read[CONTRASTS.index("genuine")] = np.nan
    families = cell.families
    n = int(has_pairs.sum()) if families is None else np.unique(families[has_pairs]).size
    return PartsTest(p, p_read, n, is_floor_known)


SHARE_BOTH, SHARE_NOISE = 0.10, 0.02
ASSUMED, HALF_BOTH, TWICE_NOISE = ("assumed", "half as many under both", "twice the noise")
MAX_DIFFERENCE = 1 - 2 * (SHARE_BOTH + 2 * SHARE_NOISE)  # of A+ - both
# The margin makes up for the error of a simulation of `N_RUNS`.
TARGET_POWER, POWER_MARGIN = (0.80, 0.03)
N_RUNS, STEP = 4_000, 0.01
# The difference for more items is not simulated, but scaled by the root of their number.
MAX_SIMULATED = 1_500


def share_against(difference: float, world: str = ASSUMED) -> float:
    """Return the share of items whose pairs count against artifact. The share of items that count
    for artifact is larger by `difference` (A+ - both)."""
    # Items that flip under the compared extractor alone count for artifact, those that flip under
    # both count against it. Noise adds the same share to each.
    if world == HALF_BOTH:
        return min(max(difference, SHARE_BOTH) + SHARE_NOISE, (1 - difference) / 2)
    noise = 2 * SHARE_NOISE if world == TWICE_NOISE else SHARE_NOISE
    return min(SHARE_BOTH + noise, (1 - difference) / 2)


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
    if n < MIN_N or not 0 <= difference <= MAX_DIFFERENCE + 1e-9:
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
    """Return the least number of items that find the largest possible difference four times in
    five. Fewer items find no difference that often."""
    low, high = MIN_N - 1, MAX_SIMULATED
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
    sample_size = min(n, MAX_SIMULATED)

    def is_found(steps: int) -> bool:
        return power(sample_size, steps * STEP, n_cells, seed=seed) >= TARGET_POWER + POWER_MARGIN

    low, high = 0, int(MAX_DIFFERENCE / STEP)
    if n < MIN_N or not is_found(high):
        return math.nan
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_found(middle) else (middle, high)
    # Rounded up, so that the difference shown is found at least as often as promised.
    return math.ceil(100 * high * STEP * math.sqrt(sample_size / n) - 1e-9) / 100


def power_in_worse_worlds(n: int, difference: float, n_cells: int = 1) -> tuple[float, float]:
    """Return the smaller and the larger power for this difference of the two worlds that are worse
    than the assumed one."""
    powers = [
        power(n, difference, n_cells, world=world, runs=N_RUNS // 2)
        for world in (HALF_BOTH, TWICE_NOISE)
    ]
    return min(powers), max(powers)
