"""Number of entries that the difficulty rule needs, from its exact power over all possible results.

The normal approximation gave a power of .80 where it was 0 (17 entries per set, accuracy .99,
margin 10 points). Near 0 and 1, and for small n, no approximation is good enough for a plan.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.stats.base.estimate import MIN_N
from flipcore.stats.base.power import n_tost_two_prop
from flipcore.stats.base.two_shares import critical_score, z_score
from flipcore.stats.holdout.semantic import mmd2_cos
from flipcore.stats.holdout.verdict import ALPHA

MAX_ENTRIES = 20_000  # entries per set at which the search ends
RARE = 1e-13  # probability below which results are skipped
STEP = 1.02
MAX_MARGIN = 50  # largest margin, in points


@dataclass(frozen=True)
class Plan:
    """Number of entries per set, and the rule's exact `power` with it. `n` is None if even
    `MAX_ENTRIES` do not reach the wanted power."""

    n: int | None
    power: float


def equivalence_power(p: float, margin: float, n: int) -> float:
    """Return the chance that `difficulty_test` calls two sets of `n` equivalent within `margin`
    if both accuracies are `p`."""
    counts, weights = _likely_counts(n, p)
    first, second = counts[:, None], counts[None, :]
    least = critical_score(n, n, -margin, ALPHA)
    # Two one-sided tests: the difference is above -margin, and below margin.
    is_above = z_score(first, n, second, n, -margin) >= least
    is_below = z_score(second, n, first, n, -margin) >= least
    return float(weights @ (is_above & is_below) @ weights)


def equivalence_plan(p: float, margin: float, power: float = 0.8) -> Plan:
    """Return the smallest number of entries per set, to about 2%, that shows two sets of accuracy
    `p` equivalent within `margin` with `power`. Raises BadInput outside (0, 1)."""
    if not 0 < p < 1 or not 0 < margin < 1:
        raise BadInput(f"An accuracy and a margin lie between 0 and 1: got {p} and {margin}.")
    guess = n_tost_two_prop(p, margin, power=power)
    # From a little below the normal approximation; below ten entries nothing is claimed.
    n = max(MIN_N, math.floor(0.8 * min(guess, MAX_ENTRIES)))
    while n <= MAX_ENTRIES:
        reached = equivalence_power(p, margin, n)
        if reached >= power:
            return Plan(n, reached)
        # Steps of 2%, not bisection: exact power is not monotone in n, so bisection could miss the
        # first sufficient n.
        n = max(n + 1, math.ceil(STEP * n))
    return Plan(None, equivalence_power(p, margin, MAX_ENTRIES))


def detectable_margin(p: float, n: int, power: float = 0.8) -> float:
    """Return the smallest margin, a share in steps of .01, within which `n` entries per set of
    accuracy `p` are shown equivalent with `power`; NaN if even the largest margin is too small.
    """
    low, high = 0, MAX_MARGIN
    # Below ten entries nothing is claimed.
    if n < MIN_N or equivalence_power(p, high / 100, n) < power:
        return math.nan
    while high - low > 1:
        middle = (low + high) // 2
        if equivalence_power(p, middle / 100, n) >= power:
            high = middle
        else:
            low = middle
    return high / 100


def _likely_counts(n: int, p: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the possible numbers of right answers of `n` at accuracy `p`, and their probabilities.

    Numbers with a probability up to RARE are left out: all of them together are a rounding error.
    """
    from scipy.stats import binom

    weights = binom.pmf(np.arange(n + 1), n, p)
    counts = np.flatnonzero(weights > RARE)
    return counts, weights[counts]


# A margin for MMD², which has no natural unit, from the distances between parts of the benchmark.
# Random halves of a set have a mean MMD² of 0, so they give no margin. The rows must not be those
# that the test uses: explored rows give the margin, and rows set aside are tested.


SHIFT_SD = 0.2
MAX_GROUPS = 12  # the largest ones, because the number of pairs grows with the square


@dataclass(frozen=True)
class StartingMargin:
    """A `margin` in MMD² from `n` rows, and its `meaning` in words."""

    margin: float
    meaning: str
    n: int


def starting_margin(units: np.ndarray, groups: Sequence[str]) -> StartingMargin | None:
    """Return a margin from rows `units` (n, d) and their `groups`, "" for a row without one.

    It is the median MMD² between groups of ten or more rows, if that is above 0. Otherwise it is
    the MMD² of a planted shift by 0.2 of the rows' spread around their mean. None below ten rows.
    """
    if len(units) < MIN_N:
        return None
    names, codes = np.unique(np.asarray(groups, dtype=str), return_inverse=True)
    sizes = np.bincount(codes, minlength=len(names))
    largest = np.argsort(-sizes, kind="stable")[:MAX_GROUPS]
    large_groups = [i for i in largest if sizes[i] >= MIN_N and names[i]]
    if len(large_groups) > 1:
        distances = [
            mmd2_cos(units[codes == first], units[codes == second])
            for first, second in combinations(large_groups, 2)
        ]
        median = float(np.median(distances))
        # MMD² is unbiased, so it may be below 0 for groups that hardly differ.
        if median > 0:
            meaning = f"the middle distance between {len(large_groups)} groups by category"
            return StartingMargin(median, meaning, len(units))
    spread = float(((units - units.mean(axis=0)) ** 2).sum(axis=1).mean())
    return StartingMargin(SHIFT_SD**2 * spread, f"a planted shift of {SHIFT_SD:g} SD", len(units))
