"""Right or wrong twice on the same items: test and interval of the difference by one statistic, so
that they never disagree.

Of `n` items `b` went from right to wrong and `c` from wrong to right; the difference is the loss
(b - c)/n. The statistic is the score of Tango (Statistics in Medicine 1998), which at 0 is
McNemar's. Up to `MAX_EXACT` items its p is exact: the largest probability over the unknown share
of items that change (Suissa & Shuster 1991). For more items it is normal. By enumeration at 22 to
150 items and a nominal .05, the normal p errs in up to .071, Bonett and Price's interval in up to
.098.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from flipcore.core.errors import BadInput

# The exact tail is a sum over n binomial tails for each of `N_NUISANCE` shares.
MAX_EXACT = 300
N_NUISANCE = 40
PRECISION = 1e-6
# Numbers of changed items of lower probability are skipped; added once for each, as a bound.
RARE = 1e-15


def tango_z(b: ArrayLike, c: ArrayLike, n: int, loss: float) -> np.ndarray:
    """Return the score statistic of a true loss of `loss`; `b` and `c` are arrays or numbers."""
    losses, gains = np.asarray(b, dtype=float), np.asarray(c, dtype=float)
    linear = -losses - gains + (2 * n - losses + gains) * loss
    gain = (np.sqrt(np.maximum(linear**2 + 8 * n * gains * loss * (1 - loss), 0.0)) - linear) / (
        4 * n
    )
    variance = n * np.maximum(2 * gain + loss * (1 - loss), 0.0)
    gap = losses - gains - n * loss
    # Without variance a gap of 0 is 0/0 and counts as 0; any other gap is infinitely unlikely.
    has_no_variance = variance <= 1e-12
    return np.where(
        has_no_variance,
        np.where(np.abs(gap) <= 1e-9, 0.0, np.copysign(np.inf, gap)),
        gap / np.sqrt(np.where(has_no_variance, 1, variance)),
    )


@lru_cache(maxsize=20_000)
def p_below(b: int, c: int, n: int, loss: float = 0.0) -> float:
    """Return the one-sided p of a true loss of `loss` or more; NaN without items. Raises BadInput
    for more changes than items."""
    if b < 0 or c < 0 or b + c > n:
        raise BadInput(
            f"{b} items that broke and {c} that mended are not of one set of {n}; together they "
            "are at most all of it."
        )
    if n == 0:
        return float("nan")
    if loss >= 1 or loss <= -1:
        # A loss lies within [-1, 1], so such a null is either certain or impossible.
        return float(loss <= -1)
    if n > MAX_EXACT:
        from scipy.special import ndtr

        return float(ndtr(tango_z(b, c, n, loss)))
    return _exact_tail(b, c, n, loss)


def _exact_tail(b: int, c: int, n: int, loss: float) -> float:
    """Return the largest probability, over the share of items that mend, of a statistic as low as
    this one. Among k changed items, the results with so low a statistic have at most a certain
    number of losses, so a binomial tail gives their probability."""
    from scipy.special import bdtr, gammaln, xlog1py, xlogy

    k = np.arange(n + 1)
    # Bisection for all k at once, as the statistic grows with the losses. Per k, `low` is the most
    # losses with so low a statistic, -1 for none, and `high` the fewest with a higher one.
    highest_statistic = tango_z(b, c, n, loss) + 1e-9
    low, high = np.full(k.size, -1), k + 1
    while (high - low > 1).any():
        middle = np.maximum((low + high) // 2, 0)
        is_low = tango_z(middle, k - middle, n, loss) <= highest_statistic
        is_open = high - low > 1
        low, high = (
            np.where(is_open & is_low, middle, low),
            np.where(is_open & ~is_low, middle, high),
        )
    most_losses = low.astype(float)
    lowest, highest = max(0.0, -loss), (1 - loss) / 2
    # Spaced by squares, because near 0 the standard error of a share is proportional to its root.
    gains = lowest + (highest - lowest) * np.linspace(0, 1, N_NUISANCE) ** 2
    log_ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)

    def tail(gains: np.ndarray) -> np.ndarray:
        changed = np.clip(2 * gains + loss, 0.0, 1.0)[:, None]
        lost = gains[:, None] + loss
        lost_share = np.divide(lost, changed, out=np.ones_like(changed), where=changed > 0)
        chance = np.exp(log_ways + xlogy(k, changed) + xlog1py(n - k, -changed))
        # `bdtr` fills in the rest: 0 if no result is as low, 1 for no change.
        below = np.broadcast_to(np.where(most_losses == 0, k == 0, 0.0), chance.shape).copy()
        is_summed = (chance > RARE) & (most_losses >= 0) & (k > 0)
        bdtr(most_losses, k, np.clip(lost_share, 0, 1), out=below, where=is_summed)
        return (chance * below).sum(axis=1) + RARE * k.size

    coarse = tail(gains)
    peak = int(np.argmax(coarse))
    # A second, finer grid around the coarse maximum.
    fine = np.linspace(
        gains[max(peak - 1, 0)], gains[min(peak + 1, N_NUISANCE - 1)], N_NUISANCE // 2
    )
    return float(min(1.0, max(coarse[peak], tail(fine).max())))


def p_above(b: int, c: int, n: int, loss: float = 0.0) -> float:
    """Return the one-sided p of a true loss of `loss` or less."""
    return p_below(c, b, n, -loss)


def p_two_sided(b: int, c: int, n: int) -> float:
    """Return the two-sided p of no loss, twice the smaller one-sided p; NaN without items."""
    return min(1.0, 2 * min(p_below(b, c, n), p_above(b, c, n))) if n else float("nan")


@lru_cache(maxsize=20_000)
def upper_loss(b: int, c: int, n: int, error: float = 0.05) -> float:
    """Return the one-sided upper limit of the loss, above which `p_below` is at most `error`; NaN
    without items. If nothing changed it is 1 - error^(1/n)."""
    from scipy.optimize import brentq

    if not n:
        return float("nan")
    low, high = (b - c) / n, 1.0
    if low < 0:  # the test of 0 decides on which side of the limit 0 lies
        low, high = (low, 0.0) if p_below(b, c, n) <= error else (0.0, high)

    def excess(loss: float) -> float:
        return p_below(b, c, n, loss) - error

    if excess(low) <= 0:  # every item broke, which is the largest loss
        return low
    root = brentq(excess, low, high, xtol=PRECISION)
    # Rounded outwards by the root's possible error, so that test and limit agree.
    return float(min(root + PRECISION, high))


def loss_limits(b: int, c: int, n: int, level: float = 0.95) -> list[float]:
    """Return [low, high] of the loss, which exclude 0 where `p_two_sided` is at most 1 - level."""
    # (1 - 0.95) / 2 is 0.025000000000000022, which would miss the cached limits at 0.025.
    error = round((1 - level) / 2, 12)
    return [-upper_loss(c, b, n, error), upper_loss(b, c, n, error)]
