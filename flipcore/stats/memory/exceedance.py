"""Test of a whole set against its controls: exact, whatever the distribution, where items and
controls are exchangeable.

The cut-off is the k-th largest of m control values, k fixed beforehand. How many of n exchangeable
items lie STRICTLY above it is beta-binomial (n; k, m + 1 - k); ties can only lower that count. A
single item beyond it is no evidence: of a clean set n k / (m + 1) are.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from flipcore.core.randomness import generator
from flipcore.stats.base.resample import MonteCarloP, monte_carlo_p
from flipcore.stats.memory.loss_test import finite

# share of the controls that the cut-off leaves above or at it; decides k before any value is seen
RATE = 0.05
ERROR = 0.05
_CELLS = 2_000_000  # values permuted at once


def rank(m: int, rate: float = RATE) -> int:
    """Return k, the largest rank with k / (m + 1) at most `rate`, and 1 at least."""
    # 1e-9: .05 * 20 must count as 1 whatever the last bit of .05 is.
    return max(1, math.floor(rate * (m + 1) + 1e-9))


def n_beyond(d: ArrayLike, d0: ArrayLike, k: int) -> int:
    """Count the finite values of `d` that lie strictly above the k-th largest of `d0`."""
    controls = np.sort(finite(d0))
    return int((finite(d) > controls[len(controls) - k]).sum())


def chance_count(n: int, k: int, m: int) -> float:
    """Return the expected number of `n` clean items beyond the k-th largest of `m` controls."""
    return n * k / (m + 1)


def set_p(c: int, n: int, k: int, m: int) -> float:
    """Return P(beta-binomial(n; k, m + 1 - k) >= c).

    At least c items beyond the k-th largest control means that of the c + k - 1 largest of all n +
    m values at most k - 1 are controls, which is hypergeometric; that sum has k terms, whatever n
    is.
    """
    from scipy.special import gammaln

    if c <= 0:
        return 1.0
    if c > n:
        return 0.0
    # i controls are among the c + k - 1 largest: fewer than k, and no fewer than the n items leave.
    draw_size, i = c + k - 1, np.arange(max(0, c + k - 1 - n), k)

    def log_choose(a, b):
        return gammaln(a + 1) - gammaln(b + 1) - gammaln(a - b + 1)

    terms = log_choose(m, i) + log_choose(n, draw_size - i) - log_choose(n + m, draw_size)
    # Rounding of the logarithms may carry the sum above 1.
    return float(min(1.0, np.exp(terms).sum()))


@lru_cache(maxsize=100_000)
def least_contaminated(c: int, n: int, k: int, m: int, error: float = ERROR) -> int:
    """Return a lower bound of the number of contaminated items: the smallest j with P(BB(n - j; k,
    m + 1 - k) >= c - j) > error.

    Those j are taken to be all beyond the cut-off, which is the least favourable case. 0 where j =
    0 is not rejected.
    """
    # j = c leaves nothing to explain, so it is never rejected.
    low, high = -1, c
    while high - low > 1:
        # The p grows with j, so bisection finds the first that is not rejected.
        middle = (low + high) // 2
        low, high = (low, middle) if set_p(c - middle, n - middle, k, m) > error else (middle, high)
    return high


@dataclass(frozen=True)
class SetTest:
    """`n_beyond` of `n` items lie above `mark`, the `k`-th largest of `m` controls. `p` is exact
    under exchangeability; `n_least` the one-sided 95% lower bound of how many are contaminated.
    `sd`, `control_sd` and `spread_p` (Brown and Forsythe) stand beside it: an unequal spread has
    the same effect as memory."""

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
        """The least share of the items that is contaminated (one-sided 95%)."""
        return self.n_least / self.n if self.n else math.nan


def set_test(d: ArrayLike, d0: ArrayLike, rate: float = RATE, k: int | None = None) -> SetTest:
    """Test a set by its scores and those of its controls, large where memory is suspected; what is
    not finite leaves. Without a control or an item: p is NaN."""
    items, controls = finite(d), finite(d0)
    n, m = len(items), len(controls)
    if not n or not m:
        return SetTest(n, m, 0, 0, math.nan, math.nan, 0, math.nan, math.nan, math.nan)
    # Chosen from the number of controls alone, before any value is looked at.
    k = rank(m, rate) if k is None else k
    c = n_beyond(items, controls, k)
    sd, control_sd = (float(x.std(ddof=1)) if len(x) > 1 else math.nan for x in (items, controls))
    return SetTest(
        n,
        m,
        k,
        c,
        chance_count(n, k, m),
        set_p(c, n, k, m),
        least_contaminated(c, n, k, m),
        sd,
        control_sd,
        spread_p(items, controls),
        float(np.sort(controls)[-k]),
    )


def spread_p(d: ArrayLike, d0: ArrayLike) -> float:
    """Return the p of Brown and Forsythe's test that both sets have one spread; NaN below two
    values a set or without any spread."""
    from scipy.stats import t as student

    first, second = (np.abs(x - np.median(x)) if len(x) else x for x in (finite(d), finite(d0)))
    n, m = len(first), len(second)
    if min(n, m) < 2:
        return math.nan
    # A t test of the distances from the median, which heavy tails upset less than squares.
    pooled = (first.var() * n + second.var() * m) / (n + m - 2)
    if pooled <= 0:
        return math.nan
    t = abs(first.mean() - second.mean()) / math.sqrt(pooled * (1 / n + 1 / m))
    return float(2 * student.sf(t, n + m - 2))


def largest_excess_p(
    d: ArrayLike, d0: ArrayLike, seed: int = 0, n_draws: int = 1999
) -> MonteCarloP:
    """Return the Monte Carlo p of a set whose cut-off was chosen by eye: the smallest `set_p` over
    all k up to half the controls, beside the same smallest under random regroupings of all
    values."""
    items, controls = finite(d), finite(d0)
    n, m = len(items), len(controls)
    if not n or not m:
        return MonteCarloP(math.nan, math.nan, math.nan, 0, 0)
    rng, table = generator(seed), _tail_table(n, m)
    pool = np.concatenate([items, controls])

    def smallest(is_control: np.ndarray) -> np.ndarray:
        # Items at or before each position, from the largest down.
        above = np.cumsum(~is_control, axis=1)
        rows, places = np.nonzero(is_control)
        order = np.cumsum(is_control, axis=1)[rows, places]
        mask = order <= len(table)
        values = np.ones((len(is_control), len(table)))
        values[rows[mask], order[mask] - 1] = table[
            order[mask] - 1, above[rows[mask], places[mask]]
        ]
        # The statistic is large where the smallest p is small, as `monte_carlo_p` takes it.
        return -np.log(values.min(axis=1))

    # With ties the control comes first, so that only what is strictly above it counts.
    order = np.lexsort((np.arange(n + m) < n, -pool))
    observed = float(smallest((order >= n)[None, :])[0])
    labels = np.repeat([False, True], [n, m])
    rows = max(1, _CELLS // (n + m))

    def draw(draws: int) -> np.ndarray:
        statistics = []
        for start in range(0, draws, rows):
            copies = np.tile(labels, (min(rows, draws - start), 1))
            statistics.append(smallest(rng.permuted(copies, axis=1)))
        return np.concatenate(statistics)

    return monte_carlo_p(observed, draw, n_draws, max_m=n_draws)


@lru_cache(maxsize=8)
def _tail_table(n: int, m: int) -> np.ndarray:
    """Tabulate (k, c) -> `set_p(c, n, k, m)` for k up to half the controls: beta-binomial tails,
    summed from their small end."""
    from scipy.special import betaln, gammaln

    k, c = np.arange(1, max(1, m // 2) + 1)[:, None], np.arange(n + 1)[None, :]
    log_ways = gammaln(n + 1) - gammaln(c + 1) - gammaln(n - c + 1)
    chance = np.exp(log_ways + betaln(c + k, n - c + m + 1 - k) - betaln(k, m + 1 - k))
    # From the small end: adding small terms last would lose them.
    return np.minimum(np.cumsum(chance[:, ::-1], axis=1)[:, ::-1], 1.0)


__all__ = [
    "ERROR",
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
