"""Test of a whole set of items against its controls: do too many items lie above a mark?

The mark is the k-th largest of m control values; k is fixed before any value is seen. If items and
controls are exchangeable, the number of items strictly above the mark, out of n, has the
beta-binomial distribution (n; k, m + 1 - k), whatever the distribution of values. Ties can only
lower that number. A single item above the mark is no evidence: n k / (m + 1) are expected in a
clean set.

`d` are the items' scores and `d0` those of the controls, one number each. Scores are large where
memory is suspected. Scores that are not finite are left out.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base.resample import MonteCarloP, monte_carlo_p
from flipcore.stats.memory.loss_test import finite

RATE = 0.05  # share of the controls at or above the mark
BOUND_ERROR = 0.05  # how often `least_contaminated` may be too high
_CELLS = 2_000_000  # values permuted at once


def rank(m: int, rate: float = RATE) -> int:
    """Return k for m controls: the largest rank with k / (m + 1) at most `rate`, but at least 1."""
    # 1e-9, because .05 * 20 must count as 1 in spite of rounding.
    return max(1, math.floor(rate * (m + 1) + 1e-9))


def n_beyond(d: ArrayLike, d0: ArrayLike, k: int) -> int:
    """Count the items `d` strictly above the mark, the k-th largest of the controls `d0`. Raises
    BadInput if there are fewer than k finite controls."""
    controls = np.sort(finite(d0))
    if not 1 <= k <= len(controls):
        raise BadInput(
            f"The mark is the k-th largest of {len(controls):,} finite controls, and k is {k:,}: "
            f"give at least k controls, and a k from 1 on."
        )
    return int((finite(d) > controls[len(controls) - k]).sum())


def chance_count(n: int, k: int, m: int) -> float:
    """Return how many of `n` clean items are expected above the k-th largest of `m` controls."""
    return n * k / (m + 1)


def set_p(c: int, n: int, k: int, m: int) -> float:
    """Return P(beta-binomial(n; k, m + 1 - k) >= c), the p of `c` items above the mark.

    At least c items lie above the k-th largest control if, and only if, at most k - 1 of the
    c + k - 1 largest of all n + m values are controls. That is a hypergeometric sum of at most k
    terms.
    """
    from scipy.special import gammaln

    if c <= 0:
        return 1.0
    if c > n:
        return 0.0
    # Possible numbers of controls among the largest; where n is smaller than `n_largest`, some of
    # the largest must be controls.
    n_largest = c + k - 1
    n_controls = np.arange(max(0, n_largest - n), k)

    def log_choose(a, b):
        return gammaln(a + 1) - gammaln(b + 1) - gammaln(a - b + 1)

    log_ways = log_choose(m, n_controls) + log_choose(n, n_largest - n_controls)
    terms = log_ways - log_choose(n + m, n_largest)
    # Rounding of the logarithms may bring the sum above 1.
    return float(min(1.0, np.exp(terms).sum()))


@lru_cache(maxsize=100_000)
def least_contaminated(c: int, n: int, k: int, m: int, error: float = BOUND_ERROR) -> int:
    """Return a lower bound of the number of contaminated items, at confidence 1 - `error`.

    It is the smallest j such that c - j of n - j clean items above the mark have a p above `error`.
    All j contaminated items are assumed to be above the mark, the least favourable case.
    0 if no contamination is needed to explain `c`.
    """
    # p grows with j, so bisection finds the bound. j = c has p = 1 and is never rejected.
    rejected, accepted = -1, c
    while accepted - rejected > 1:
        middle = (rejected + accepted) // 2
        if set_p(c - middle, n - middle, k, m) > error:
            accepted = middle
        else:
            rejected = middle
    return accepted


@dataclass(frozen=True)
class SetTest:
    """Test of `n` items against `m` controls.

    n_beyond : items above `mark`, the `k`-th largest control; `chance` is the expected number.
    p : one-sided, exact if items and controls are exchangeable.
    n_least : one-sided 95% lower bound of the number of contaminated items.
    sd, control_sd, spread_p : standard deviations and the p of Brown and Forsythe's test of equal
        spread. They are reported because an unequal spread has the same effect as memory.
    """

    n: int
    m: int
    k: int
    n_beyond: int
    chance: float
    p: float
    n_least: int
    sd: float
    control_sd: float
    spread_p: float
    mark: float = math.nan

    @property
    def share_least(self) -> float:
        """Lower bound of the share of contaminated items (one-sided 95%); NaN without items."""
        return self.n_least / self.n if self.n else math.nan


def set_test(d: ArrayLike, d0: ArrayLike, rate: float = RATE, k: int | None = None) -> SetTest:
    """Test whether the items `d` have larger scores than the controls `d0`.

    `k` is `rank(m, rate)` unless given. Without items or controls, p is NaN.
    """
    items, controls = finite(d), finite(d0)
    n, m = len(items), len(controls)
    if not n or not m:
        return SetTest(
            n,
            m,
            k=0,
            n_beyond=0,
            chance=math.nan,
            p=math.nan,
            n_least=0,
            sd=math.nan,
            control_sd=math.nan,
            spread_p=math.nan,
        )
    # k depends on the number of controls only, so the data cannot influence it.
    k = rank(m, rate) if k is None else k
    c = n_beyond(items, controls, k)
    sd, control_sd = (float(x.std(ddof=1)) if len(x) > 1 else math.nan for x in (items, controls))
    return SetTest(
        n,
        m,
        k=k,
        n_beyond=c,
        chance=chance_count(n, k, m),
        p=set_p(c, n, k, m),
        n_least=least_contaminated(c, n, k, m),
        sd=sd,
        control_sd=control_sd,
        spread_p=spread_p(items, controls),
        mark=float(np.sort(controls)[-k]),
    )


def spread_p(d: ArrayLike, d0: ArrayLike) -> float:
    """Return the p of Brown and Forsythe's test that both sets have the same spread; NaN if a set
    has fewer than two values or nothing varies."""
    from scipy.stats import t as student

    items, controls = finite(d), finite(d0)
    n, m = len(items), len(controls)
    if min(n, m) < 2:
        return math.nan
    # A t test of the distances from the median, which heavy tails affect less than squares.
    distances = np.abs(items - np.median(items))
    control_distances = np.abs(controls - np.median(controls))
    pooled = (distances.var() * n + control_distances.var() * m) / (n + m - 2)
    if pooled <= 0:
        return math.nan
    difference = abs(distances.mean() - control_distances.mean())
    t = difference / math.sqrt(pooled * (1 / n + 1 / m))
    return float(2 * student.sf(t, n + m - 2))


def largest_excess_p(
    d: ArrayLike, d0: ArrayLike, seed: int = 0, n_draws: int = 1999
) -> MonteCarloP:
    """Return the Monte Carlo p of a set whose mark was chosen by looking at the data.

    The statistic is the smallest `set_p` over all k up to half the controls. It is compared with
    its values under random regroupings of items and controls.
    """
    items, controls = finite(d), finite(d0)
    n, m = len(items), len(controls)
    if not n or not m:
        return MonteCarloP(p=math.nan, low=math.nan, high=math.nan, b=0, m=0)
    rng, tail_table = generator(seed), _tail_table(n, m)
    pool = np.concatenate([items, controls])

    def statistic(is_control: np.ndarray) -> np.ndarray:
        """Return (draws,) -log(smallest p) for (draws, n + m) labels, ordered from the largest
        value down."""
        n_items_above = np.cumsum(~is_control, axis=1)
        control_rank = np.cumsum(is_control, axis=1)
        row, position = np.nonzero(is_control & (control_rank <= len(tail_table)))
        k_index = control_rank[row, position] - 1
        p = np.ones((len(is_control), len(tail_table)))
        p[row, k_index] = tail_table[k_index, n_items_above[row, position]]
        # `monte_carlo_p` needs a statistic that is large where the evidence is strong.
        return -np.log(p.min(axis=1))

    # A tied control goes first, so that only items strictly above it count.
    order = np.lexsort((np.arange(n + m) < n, -pool))
    observed = float(statistic((order >= n)[None, :])[0])
    labels = np.repeat([False, True], [n, m])
    chunk = max(1, _CELLS // (n + m))

    def draw(draws: int) -> np.ndarray:
        statistics = []
        for start in range(0, draws, chunk):
            copies = np.tile(labels, (min(chunk, draws - start), 1))
            statistics.append(statistic(rng.permuted(copies, axis=1)))
        return np.concatenate(statistics)

    return monte_carlo_p(observed, draw, n_draws, max_m=n_draws)


@lru_cache(maxsize=8)
def _tail_table(n: int, m: int) -> np.ndarray:
    """Tabulate `set_p(c, n, k, m)`: one row per k from 1 to half the controls, one column per c
    from 0 to n."""
    from scipy.special import betaln, gammaln

    k, c = np.arange(1, max(1, m // 2) + 1)[:, None], np.arange(n + 1)[None, :]
    log_ways = gammaln(n + 1) - gammaln(c + 1) - gammaln(n - c + 1)
    chance = np.exp(log_ways + betaln(c + k, n - c + m + 1 - k) - betaln(k, m + 1 - k))
    # Summed from the small end, because small terms that are added last are lost in rounding.
    return np.minimum(np.cumsum(chance[:, ::-1], axis=1)[:, ::-1], 1.0)


__all__ = [
    "BOUND_ERROR",
    "RATE",
    "SetTest",
    "chance_count",
    "largest_excess_p",
    "least_contaminated",
    "n_beyond",
    "rank",
    "set_p",
    "set_test",
    "spread_p",
]
