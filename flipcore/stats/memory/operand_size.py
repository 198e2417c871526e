"""Check that resampling kept the size of a problem's numbers: two-sample K-S on log magnitudes and
the paired median ratio."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.stats.base.estimate import p_text

SLACK = 1e-12


@dataclass(frozen=True)
class OperandCheck:
    """K-S test on log10 |x|; `median_ratio` of new over old; `n_zero` pairs left out."""

    statistic: float
    p: float
    median_ratio: float
    n: int
    n_zero: int

    def sentence(self) -> str:
        """Say if a difference in size was seen; seeing none does not prove that there is none."""
        if not self.n:
            return "No number was resampled."
        half = f"half of them are more than {self.median_ratio:.2f} times as large"
        if self.p < 0.05:
            return (
                f"The {self.n:,} resampled numbers are not of the size of the originals "
                f"({p_text(self.p)}); {half}."
            )
        return (
            f"No difference in size was seen between {self.n:,} resampled numbers and the "
            f"originals ({p_text(self.p)}); {half}."
        )


def operand_check(original: Sequence[float], resampled: Sequence[float]) -> OperandCheck:
    """Compare numbers before and after, pair by pair. A pair with a zero has no logarithm: left out
    and counted.

    Raises BadInput for unequal lengths. No pair: NaN. The test treats numbers as independent
    although a problem has several, so it is a screen, not a proof.
    """
    from scipy.stats import ks_2samp

    old, new = np.abs(np.asarray(original, dtype=float)), np.abs(np.asarray(resampled, dtype=float))
    if old.shape != new.shape:
        raise BadInput(f"Every number needs its resampled one: came {len(old)} and {len(new)}.")
    usable = (old > SLACK) & (new > SLACK) & np.isfinite(old) & np.isfinite(new)
    n, n_left_out = int(usable.sum()), int((~usable).sum())
    if not n:
        return OperandCheck(math.nan, math.nan, math.nan, 0, n_left_out)
    # On logarithms sizes are compared as ratios, and the sign does not matter.
    test = ks_2samp(np.log10(old[usable]), np.log10(new[usable]))
    return OperandCheck(
        float(test.statistic),
        float(test.pvalue),
        float(np.median(new[usable] / old[usable])),
        n,
        n_left_out,
    )
