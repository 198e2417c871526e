"""One-sided Wilson limits of scores from 0 to 1, as Score has them, and the p that goes with them.

The limits are those of `stats.base.families`: on the number of items that would vary as much, the
largest over the events of the fullest cluster, of the two fullest, and so on. Of single items all
events together have the largest one, because their variance never exceeds that of items that are
right or wrong.
"""

from dataclasses import dataclass

import numpy as np

from flipcore.stats.base.estimate import MIN_CLAIM_FAMILIES, MIN_N
from flipcore.stats.base.families import partial_shares, wilson_upper
from flipcore.stats.base.guarded import ClusterSums, ItemSums


@dataclass(frozen=True, eq=False)
class ShareSide:
    """Upper limits of shares (k,), or lower ones: 1 less the upper limit of the complement.

    `shares` and `n` (partial sums, k) are what a limit is the largest over; `df` is NaN below 10
    items or 6 effective clusters.
    """

    shares: np.ndarray
    n: np.ndarray
    df: np.ndarray
    is_lower: bool

    @classmethod
    def of(cls, sums: ItemSums | ClusterSums, *, is_lower: bool) -> "ShareSide":
        """From sums of values from 0 to 1."""
        if isinstance(sums, ItemSums):
            total = sums.n - sums.total if is_lower else sums.total
            squares = sums.n - 2 * sums.total + sums.squares if is_lower else sums.squares
            n = np.maximum(sums.n, 1.0)
            mean = total / n
            variance = (squares / n - mean**2) / np.maximum(n - 1, 1.0)
            within = mean * (1 - mean)
            varies = variance > 1e-15
            n_effective = np.where(varies, within / np.where(varies, variance, 1.0), n)
            df = np.where(sums.n < MIN_N, np.nan, sums.n - 1.0)
            return cls(mean[None, :], np.minimum(n_effective, n)[None, :], df, is_lower)
        means = sums.means
        events = means.sizes - means.sums if is_lower else means.sums
        shares, n_partial = partial_shares(
            events, means.sizes, means.weights, means.n, means.n_effective
        )
        is_few = (means.n < MIN_N) | (means.n_effective < MIN_CLAIM_FAMILIES)
        return cls(shares, n_partial, np.where(is_few, np.nan, means.df), is_lower)

    def limit(self, alpha: float) -> np.ndarray:
        """(k,) limits at a one-sided `alpha`."""
        from scipy.special import stdtrit

        upper = np.max(wilson_upper(self.shares, self.n, stdtrit(self.df, 1 - alpha)), axis=0)
        return 1 - upper if self.is_lower else upper

    def p(self, null: float = 0.0) -> np.ndarray:
        """(k,) one-sided p of a share that is `null`, or beyond it."""
        from scipy.special import stdtr

        # The score test, which Wilson's limits invert.
        bar = 1 - null if self.is_lower else null
        se = np.sqrt(max(bar * (1 - bar), 1e-300) / self.n)
        p = stdtr(np.nan_to_num(self.df, nan=1.0), (self.shares - bar) / se).max(axis=0)
        return np.where(np.isnan(self.df), np.nan, p)
