"""Check that resampling kept the size of a problem's numbers: a two-sample Kolmogorov-Smirnov test
on log magnitudes, and the median ratio of new to old numbers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.stats.base.estimate import p_text

SLACK = 1e-12  # smaller numbers count as zero


@dataclass(frozen=True)
class OperandCheck:
    """K-S test on log10 |x|.

    `median_ratio` is the median of new over old numbers, over `n` pairs. `n_zero` pairs were left
    out because a number is zero or not finite.
    """

    statistic: float
    p: float
    median_ratio: float
    n: int
    n_zero: int

    def sentence(self) -> str:
        """Say if a difference in size was seen; not seeing one is no proof that there is none."""
        if not self.n:
            return "No number was resampled."
        ratio = f"half of them are more than {self.median_ratio:.2f} times as large"
        if self.p < 0.05:
            return (
                f"The {self.n:,} resampled numbers are not of the size of the originals "
                f"({p_text(self.p)}); {ratio}."
            )
        return (
            f"No difference in size was seen between {self.n:,} resampled numbers and the "
            f"originals ({p_text(self.p)}); {ratio}."
        )


def operand_check(original: Sequence[float], resampled: Sequence[float]) -> OperandCheck:
    """Compare the size of numbers before and after resampling; `original[i]` became `resampled[i]`.

    Pairs with a zero have no logarithm; they are left out and counted. NaN if no pair is left.
    The test treats numbers as independent although a problem has several, so it is a screen, not a
    proof. Raises BadInput for unequal lengths.
    """
    from scipy.stats import ks_2samp

    old, new = np.abs(np.asarray(original, dtype=float)), np.abs(np.asarray(resampled, dtype=float))
    if old.shape != new.shape:
        raise BadInput(f"Every number needs its resampled one: got {len(old)} and {len(new)}.")
    usable = (old > SLACK) & (new > SLACK) & np.isfinite(old) & np.isfinite(new)
    n, n_left_out = int(usable.sum()), int((~usable).sum())
    if not n:
        return OperandCheck(math.nan, math.nan, math.nan, 0, n_left_out)
    # Logarithms of magnitudes compare sizes as ratios and ignore the sign.
    test = ks_2samp(np.log10(old[usable]), np.log10(new[usable]))
    return OperandCheck(
        float(test.statistic),
        float(test.pvalue),
        float(np.median(new[usable] / old[usable])),
        n,
        n_left_out,
    )
