"""Which part of the flips is larger: the paired contrast of artifact and genuine on which a verdict rests.

A - G = T - 2 G, each above its noise floor where both floors were measured. With cut answers in more than 5 % of a cell the
verdict has to hold whatever those pairs would have been.

Its power is that of this rule, by simulation. The population: pairs of an item flip together, under both extractors in a tenth
of the items, under the reference extractor alone in a fiftieth, and under the compared one alone in as many as the difference
A - G asks for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from flipcore.core.randomness import generator
from flipcore.stats.base.estimate import MIN_N
from flipcore.stats.base.guarded import guarded_t
from flipcore.stats.flips.decomposition import COLUMNS

BOUNDS = COLUMNS["A_minus_G"]
_AT = {name: i for i, name in enumerate(COLUMNS)}


@dataclass(frozen=True)
class Contrast:
    """`p` is two-sided and guarded (`stats.base.guarded`), NaN below 10 items; `direction` is 1 where artifact is the larger
    part, -1 where genuine is. `above_floor`: both floors were measured and are taken off."""

    direction: int
    p: float
    n: int
    above_floor: bool


def contrast_values(values: np.ndarray) -> tuple[np.ndarray, bool]:
    """(items,) of A - G from (items, quantities), above the floors where every item that defines it has both."""
    raw = values[:, _AT["A_minus_G"]]
    beyond = values[:, _AT["A_excess"]] - values[:, _AT["G_excess"]]
    defined = ~np.isnan(raw)
    has_floor = bool(defined.any()) and not np.isnan(beyond[defined]).any()
    return (beyond, True) if has_floor else (raw, False)


def contrast(
    values: np.ndarray, worst: tuple[np.ndarray, np.ndarray] | None = None, families: np.ndarray | None = None
) -> Contrast:
    """Of a cell's item values; `families` (items,) number what items share. `worst` are A - G with every cut pair taken one way and
    the other (`cut_answers`): where they do not agree with the rest, p is 1."""
    x, above_floor = contrast_values(values)
    t_test = guarded_t(x, BOUNDS, families)
    direction, p = (1 if t_test.is_above else -1), float(t_test.p)
    if worst is not None:
        one_way = [guarded_t(one, BOUNDS, families) for one in worst]
        sides = [float(one.p_above if direction > 0 else one.p_below) for one in one_way]
        p = min(1.0, max(p, *(2 * side for side in sides)))
    return Contrast(direction, p, int((~np.isnan(x)).sum()), above_floor)


BOTH, REFERENCE_ALONE = 0.10, 0.02
LARGEST = 1 - BOTH - REFERENCE_ALONE - (BOTH + 2 * REFERENCE_ALONE)
N_RUNS, STEP = 2_000, 0.01
MOST_DRAWN = 300  # items; beyond it the rule's power is that of as many, and the difference shrinks with the root


def power(n: int, difference: float, n_cells: int = 1, level: float = 0.95, seed: int = 0, runs: int = N_RUNS) -> float:
    """How often `n` items show a true A - G of `difference` as more artifact, among `n_cells` claimed together (Holm's first
    step). NaN below 10 items, where nothing is claimed, and for a difference that this population cannot have."""
    if n < MIN_N or not 0 <= difference <= LARGEST + 1e-9:
        return math.nan
    alone = difference + BOTH + 2 * REFERENCE_ALONE
    rng = generator(seed, "power of flips", n, round(difference, 6))
    u = rng.random((runs, n))
    values = np.select([u < alone, u < alone + BOTH, u < alone + BOTH + REFERENCE_ALONE], [1.0, -1.0, -2.0], 0.0)
    t_test = guarded_t(values, BOUNDS)
    return float(np.mean(t_test.is_above & (n_cells * t_test.p <= 1 - level)))


@lru_cache(maxsize=256)
@lru_cache(maxsize=64)
def fewest_items(n_cells: int = 1, target_power: float = 0.8) -> int:
    """The fewest items with which some difference is found that often."""
    low, high = MIN_N - 1, MOST_DRAWN
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if math.isnan(detectable_difference(middle, n_cells, target_power)) else (low, middle)
    return high


def detectable_difference(n: int, n_cells: int = 1, target_power: float = 0.8, seed: int = 0) -> float:
    """The smallest A - G, in hundredths, that is found with at least the `target_power`; NaN where none is."""
    sample_size = min(n, MOST_DRAWN)
    low, high = 0, int(LARGEST / STEP)
    if n < MIN_N or not power(sample_size, high * STEP, n_cells, seed=seed) >= target_power:
        return math.nan
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(sample_size, middle * STEP, n_cells, seed=seed) >= target_power else (middle, high)
    return math.ceil(100 * high * STEP * math.sqrt(sample_size / n) - 1e-9) / 100
