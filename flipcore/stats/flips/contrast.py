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

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from flipcore.core.randomness import generator
from flipcore.stats.base.estimate import MIN_N
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


# Power of a design to show artifact: that of the rule that the page uses, by simulation, in the
# world that a plan assumes and in two that are worse. All pairs of an item flip together. In the
# assumed world they flip under both extractors in a tenth of the items, by noise one way or the
# other in a fiftieth each, and under the compared extractor alone in as many as the difference A+ -
# both asks for. In the second world half as many pairs flip under both as under the compared
# extractor alone; in the third the noise is twice as large.


BOTH, NOISE = 0.10, 0.02
ASSUMED, HALF_BOTH, TWICE_NOISE = ("assumed", "half as many under both", "twice the noise")
LARGEST = 1 - 2 * (BOTH + 2 * NOISE)
# what is promised, and how much more is asked of a simulation of `N_RUNS`
TARGET, MARGIN = (0.80, 0.03)
N_RUNS, STEP = 4_000, 0.01
# items; beyond it the rule's power is that of as many, and the difference shrinks with the root
MOST_DRAWN = 1_500


def against(difference: float, world: str = ASSUMED) -> float:
    """Return the share of items whose pairs weigh against artifact; as many and `difference` more
    weigh for it."""
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
    """Return the share of simulated studies in which `n` items show A+ - both of `difference` as
    artifact, among `n_cells` claimed together (Holm's first step over three contrasts each). NaN
    below 10 items, where nothing is claimed, and for a difference that this world cannot have."""
    if n < MIN_N or not 0 <= difference <= LARGEST + 1e-9:
        return math.nan
    fewer = against(difference, world)
    # The seed depends on the design, so that a plan gives the same power each time it is drawn.
    u = generator(seed, "power of flips", n, round(difference, 6), world).random((runs, n))
    # One pair per item is enough: all pairs of an item flip together.
    values = np.select([u < difference + fewer, u < difference + 2 * fewer], [1.0, -1.0], 0.0)
    return float(np.mean(len(CONTRASTS) * n_cells * guarded_t(values, BOUNDS).p_above <= 1 - level))


@lru_cache(maxsize=64)
def fewest_items(n_cells: int = 1) -> int:
    """Return the fewest items with which some difference is found four times in five."""
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
    """Return the smallest A+ - both, in hundredths, that is found four times in five in the assumed
    world; NaN where none is."""
    sample_size = min(n, MOST_DRAWN)

    def is_found(steps: int) -> bool:
        return power(sample_size, steps * STEP, n_cells, seed=seed) >= TARGET + MARGIN

    low, high = 0, int(LARGEST / STEP)
    if n < MIN_N or not is_found(high):
        return math.nan
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_found(middle) else (middle, high)
    # Rounded up, so that the printed difference is found at least as often as promised.
    return math.ceil(100 * high * STEP * math.sqrt(sample_size / n) - 1e-9) / 100


def elsewhere(n: int, difference: float, n_cells: int = 1) -> tuple[float, float]:
    """Return (least, largest) power for this difference in the two worlds that the plan does not
    assume."""
    shares = [
        power(n, difference, n_cells, world=world, runs=N_RUNS // 2)
        for world in (HALF_BOTH, TWICE_NOISE)
    ]
    return min(shares), max(shares)
