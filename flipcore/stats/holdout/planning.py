"""Number of entries that the difficulty rule needs: its power, by going through all results that it
can see.

The normal approximation said .80 where the rule's power was 0 (17 entries a set, accuracy .99,
margin 10 points): near 0 and 1 and at small n no approximation is a plan.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.stats.base.estimate import MIN_N
from flipcore.stats.base.power import n_tost_two_prop
from flipcore.stats.base.two_shares import critical, score
from flipcore.stats.holdout.semantic import mmd2_cos
from flipcore.stats.holdout.verdict import ALPHA

MOST = 20_000
RARE = 1e-13  # results less likely than this are not gone through
STEP = 1.02
MOST_MARGIN = 50  # points


@dataclass(frozen=True)
class Plan:
    """A plan of `n` entries per set and the rule's exact `power` there; `n` is None where not even
    MOST entries reach the power asked for."""

    n: int | None
    power: float


def equivalence_power(p: float, margin: float, n: int) -> float:
    """Return the chance that `difficulty_test` calls two sets of `n` equivalent within `margin`
    where both accuracies are `p`."""
    counts, weights = _likely(n, p)
    first, second = counts[:, None], counts[None, :]
    least = critical(n, n, -margin, ALPHA)
    # Two one-sided tests: not as low as -margin, and not as high as margin.
    inside = (score(first, n, second, n, -margin) >= least) & (
        score(second, n, first, n, -margin) >= least
    )
    return float(weights @ inside @ weights)


def equivalence_plan(p: float, margin: float, power: float = 0.8) -> Plan:
    """Return the fewest entries per set that show two sets of accuracy `p` equivalent within
    `margin` with `power`, to about 2%."""
    if not 0 < p < 1 or not 0 < margin < 1:
        raise BadInput(f"An accuracy and a margin lie between 0 and 1: came {p} and {margin}.")
    return _searched(
        lambda n: equivalence_power(p, margin, n), n_tost_two_prop(p, margin, power=power), power
    )


def detectable_margin(p: float, n: int, power: float = 0.8) -> float:
    """Return the smallest margin, in hundredths, within which `n` entries per set of accuracy `p`
    are shown equivalent with `power`; NaN where not even the largest is."""
    low, high = 0, MOST_MARGIN
    # Below ten entries nothing is claimed.
    if n < 10 or equivalence_power(p, high / 100, n) < power:
        return math.nan
    while high - low > 1:
        middle = (low + high) // 2
        if equivalence_power(p, middle / 100, n) >= power:
            high = middle
        else:
            low = middle
    return high / 100


def _searched(power_of, guess: float, power: float) -> Plan:
    """Search from a little below the normal approximation upwards; ten entries are the fewest that
    claim anything."""
    n = max(10, math.floor(0.8 * min(guess, MOST)))
    while n <= MOST:
        reached = power_of(n)
        if reached >= power:
            return Plan(n, reached)
        # Steps of 2%: exact power is not monotone in n, so bisection could miss the first that
        # suffices.
        n = max(n + 1, math.ceil(STEP * n))
    return Plan(None, power_of(MOST))


def _likely(n: int, p: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts of `n` that happen at a chance of `p`, and their probabilities."""
    from scipy.stats import binom

    weights = binom.pmf(np.arange(n + 1), n, p)
    # The counts beyond carry less than a rounding error of the probability.
    counts = np.flatnonzero(weights > RARE)
    return counts, weights[counts]


# A margin for MMD², which has no natural unit: the distance between sub-populations of the
# benchmark. Random halves of one set have a mean MMD² of 0, so they give no margin. The rows must
# be a part that the test does not use: those that are explored, where the test reads those that
# were set aside.


SHIFT_SD = 0.2
MOST_GROUPS = 12


@dataclass(frozen=True)
class StartingMargin:
    """A `margin` in MMD², and its meaning: "the middle distance of 4 categories"."""

    margin: float
    meaning: str
    n: int


def starting_margin(units: np.ndarray, groups: Sequence[str]) -> StartingMargin | None:
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
                f"the middle distance between {len(large_groups)} groups by category",
                len(units),
            )
    spread = float(((units - units.mean(axis=0)) ** 2).sum(axis=1).mean())
    return StartingMargin(SHIFT_SD**2 * spread, f"a planted shift of {SHIFT_SD:g} SD", len(units))
