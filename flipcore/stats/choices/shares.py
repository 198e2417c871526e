"""One-sided Wilson limits of scores from 0 to 1, which Score uses too, and their p-values.

The limits are those of `stats.base.families`. They use an effective number of items, and are the
largest over the events of the fullest cluster, of the two fullest, and so on. If items are not
clustered, all events together give the largest limit, because their variance is at most that of
scores of 0 and 1.
"""

from dataclasses import dataclass

import numpy as np

from flipcore.stats.base.estimate import MIN_CLAIM_FAMILIES, MIN_N
from flipcore.stats.base.families import partial_shares, wilson_upper
from flipcore.stats.base.guarded import ClusterSums, ItemSums


@dataclass(frozen=True, eq=False)
class ShareSide:
    """Upper limits of k shares, or lower limits: 1 minus the upper limit of the complement.

    shares, n : (partial sums, k); a limit is the largest over the partial sums. With `is_lower`
        they are of the complement.
    df : (k,) degrees of freedom; NaN below 10 items or 6 effective clusters.
    """

    shares: np.ndarray
    n: np.ndarray
    df: np.ndarray
    is_lower: bool

    @classmethod
    def from_sums(cls, sums: ItemSums | ClusterSums, *, is_lower: bool) -> "ShareSide":
        """Return the limits from sums of values between 0 and 1."""
        if isinstance(sums, ItemSums):
            total = sums.n - sums.total if is_lower else sums.total
            squares = sums.n - 2 * sums.total + sums.squares if is_lower else sums.squares
            n = np.maximum(sums.n, 1.0)
            mean = total / n
            variance = (squares / n - mean**2) / np.maximum(n - 1, 1.0)
            # Number of 0/1 items with the same variance of their mean.
            has_variance = variance > 1e-15
            safe_variance = np.where(has_variance, variance, 1.0)
            n_effective = np.where(has_variance, mean * (1 - mean) / safe_variance, n)
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
        """Return (k,) limits at a one-sided `alpha`."""
        from scipy.special import stdtrit

        upper = np.max(wilson_upper(self.shares, self.n, stdtrit(self.df, 1 - alpha)), axis=0)
        return 1 - upper if self.is_lower else upper

    def p(self, null: float = 0.0) -> np.ndarray:
        """Return (k,) one-sided p that the share is above `null` (with `is_lower`), or below it."""
        from scipy.special import stdtr

        # This is the score test, which Wilson's limits invert.
        bar = 1 - null if self.is_lower else null
        se = np.sqrt(max(bar * (1 - bar), 1e-300) / self.n)
        p = stdtr(np.nan_to_num(self.df, nan=1.0), (self.shares - bar) / se).max(axis=0)
        return np.where(np.isnan(self.df), np.nan, p)
