"""A regression gate: is the new run worse than the old one on the same items, by more than a margin?

PASS where a loss of the margin or more is refused, FAIL where a loss of nothing or less is, else UNDECIDED, each one-sided at `ERROR`.
Of rights and wrongs asked once the test is Tango's score test (`stats.base.tango`), exact up to 300 items; of several runs, shares,
grades and families the guarded t. Over several tasks: PASS where each passes alone, FAIL where one fails after Holm.

Its errors and its power, over eleven worlds, stand in `tests/lab/simulations/gate.md`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.stats.base import tango
from flipcore.stats.base.estimate import MIN_N
from flipcore.stats.base.guarded import guarded_limits, guarded_t
from flipcore.stats.base.multiplicity import holm

PASS, FAIL, UNDECIDED = "PASS", "FAIL", "UNDECIDED"
ERROR = 0.05  # one-sided, of each of the two tests
_Z = 1.6449 + 0.8416  # one-sided .05 with a power of .80


@dataclass(frozen=True)
class Loss:
    """The loss from the old run to the new one on `n` items: its one-sided limits at `ERROR`, `p_small` of a loss of the margin or more,
    `p_loss` of no loss. `n_fell` and `n_rose` count the items whose score fell and rose."""

    value: float
    low: float
    high: float
    p_small: float
    p_loss: float
    n: int
    n_fell: int
    n_rose: int
    sd: float

    @property
    def outcome(self) -> str:
        """Of this task alone, for the margin that it was made with."""
        if self.p_small < ERROR:
            return PASS
        return FAIL if self.p_loss < ERROR else UNDECIDED

    def n_to_decide(self, margin: float) -> float:
        """About how many items decide it four times in five, should the loss be what it was here; infinite where none do. Where no score
        changed, as many as exclude a loss of the margin if none changes in them either."""
        if self.n and not self.sd:
            return math.log(ERROR) / math.log(1 - margin) if 0 < margin < 1 else math.inf
        gaps = [one for one in (margin - self.value, self.value) if one > 0]
        return (_Z * self.sd / max(gaps)) ** 2 if gaps and self.sd > 0 else math.inf


def loss(old: np.ndarray, new: np.ndarray, margin: float, scale: float = 1.0, families: np.ndarray | None = None) -> Loss:
    """`old` and `new` (items,) are an item's mean score, NaN where it has none; `scale` is the width of the scale of scores."""
    there = ~(np.isnan(old) | np.isnan(new))
    old, new, numbers = old[there], new[there], None if families is None else np.unique(families[there], return_inverse=True)[1]
    d, n = old - new, int(there.sum())
    n_fell, n_rose = int((d > 0).sum()), int((d < 0).sum())
    sd = float(d.std(ddof=1)) if n > 1 else math.nan
    value = float(d.mean()) if n else math.nan
    is_binary = scale == 1 and bool(np.isin(old, (0, 1)).all() and np.isin(new, (0, 1)).all())
    if numbers is not None and np.unique(numbers).size == n:
        numbers = None
    if n < MIN_N:
        return Loss(value, math.nan, math.nan, math.nan, math.nan, n, n_fell, n_rose, sd)
    if is_binary and numbers is None:
        low, high = tango.loss_limits(n_fell, n_rose, n, 1 - 2 * ERROR)
        small, no_loss = tango.p_below(n_fell, n_rose, n, margin), tango.p_above(n_fell, n_rose, n, 0.0)
        return Loss(value, low, high, small, no_loss, n, n_fell, n_rose, sd)
    p_loss = guarded_t(d, (-scale, scale), numbers).p_above
    p_small = guarded_t(d - margin, (-scale - margin, scale - margin), numbers).p_below
    least, most = guarded_limits(d, d, (-scale, scale), ERROR, numbers)
    return Loss(value, least, most, float(p_small), float(p_loss), n, n_fell, n_rose, sd)


def outcome(losses: Sequence[Loss]) -> str:
    """Of all tasks together."""
    if losses and all(one.outcome == PASS for one in losses):
        return PASS
    corrected = holm([1.0 if math.isnan(one.p_loss) else one.p_loss for one in losses])
    failed = [p < ERROR and one.outcome != PASS for one, p in zip(losses, corrected, strict=True)]
    return FAIL if any(failed) else UNDECIDED
