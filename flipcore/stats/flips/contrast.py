"""Which part of the flips is larger: the paired contrast of artifact and genuine on which a verdict rests.

A - G = T - 2 G, each above its noise floor where both floors were measured. With cut answers in more than 5 % of a cell the
verdict has to hold whatever those pairs would have been (statistics.md, section 16, points 5 and 6).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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


def contrast(values: np.ndarray, worst: tuple[np.ndarray, np.ndarray] | None = None) -> Contrast:
    """Of a cell's item values; `worst` are A - G with every cut pair taken one way and the other (`cut_answers`): where they
    do not agree with the rest, p is 1."""
    x, above_floor = contrast_values(values)
    t_test = guarded_t(x, BOUNDS)
    direction, p = (1 if t_test.is_above else -1), float(t_test.p)
    if worst is not None:
        one_way = [guarded_t(one, BOUNDS) for one in worst]
        sides = [float(one.p_above if direction > 0 else one.p_below) for one in one_way]
        p = min(1.0, max(p, *(2 * side for side in sides)))
    return Contrast(direction, p, int((~np.isnan(x)).sum()), above_floor)
