"""Difference of two models' scores on the same questions, each corrected by people's labels of its
outputs.

Each corrected score is a mean over all outputs plus one over the labelled (`score.corrected`).
Written as one value per output, the two parts of both models move together with their question, and
the difference has the one clustered variance.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from flipcore.stats.base.estimate import MIN_CLAIM_FAMILIES, Estimate, without_interval
from flipcore.stats.base.families import clustered_difference, clustered_mean
from flipcore.stats.base.multiplicity import holm
from flipcore.stats.base.proportions import t_quantile
from flipcore.stats.score.corrected import METHOD, Corrected


@dataclass(frozen=True)
class CorrectedDifference:
    """`value` (first less second) with its standard error, `df` of the labels of the model with
    fewer families, and `n` labels of it. `p` is two-sided and of this pair alone, NaN where either
    has too few disagreements for normal limits."""

    value: float
    se: float
    df: float
    n: int
    p: float

    def estimate(self, level: float) -> Estimate:
        """Return the difference with linear limits, cut at −1 and 1; without an interval where
        there is no p."""
        if math.isnan(self.p):
            return without_interval(
                self.value, self.n, level, "No interval: too few labels of one of the models."
            )
        half = t_quantile(0.5 + level / 2, self.df) * self.se
        return Estimate(
            self.value,
            max(self.value - half, -1.0),
            min(self.value + half, 1.0),
            level,
            METHOD,
            self.n,
            None,
        )


def corrected_difference(
    first: Corrected, first_units: ArrayLike, second: Corrected, second_units: ArrayLike
) -> CorrectedDifference:
    """Compute the difference. The units (outputs,) name the questions, or what several are made
    from, alike for both."""
    from scipy.special import stdtr

    (x, x_df), (y, y_df) = _values(first, first_units), _values(second, second_units)
    difference = clustered_difference(x, first_units, y, second_units, bounds=None)
    df, n = min(x_df, y_df), min(first.n_labels, second.n_labels)
    is_tested = (
        first.has_normal_limits
        and second.has_normal_limits
        # As many families of labels as a claim needs.
        and df >= MIN_CLAIM_FAMILIES - 1
        and difference.se > 0
    )
    p = math.nan
    if is_tested:
        p = float(2 * stdtr(df, -abs(difference.value) / difference.se))
    return CorrectedDifference(difference.value, difference.se, df, n, p)


def _values(score: Corrected, units: ArrayLike) -> tuple[np.ndarray, float]:
    """Return (outputs,) values whose mean is the corrected score and whose spread is its variance,
    and the labels' degrees of freedom."""
    is_labelled, names = score.is_labelled, np.asarray(units)
    left = score.people[is_labelled] - score.weight * score.readouts[is_labelled]
    if left.size < 2:
        return score.weight * score.readouts, 0.0
    values = score.weight * score.readouts + left.mean()
    # A labelled output stands for all like it, and n/(n - 1) keeps the variance unbiased.
    values[is_labelled] += (
        (score.readouts.size / left.size)
        * (left - left.mean())
        * math.sqrt(left.size / (left.size - 1))
    )
    return values, clustered_mean(left, names[is_labelled], bounds=None).df


def over_pairs(pairs: Sequence[CorrectedDifference]) -> list[float]:
    """Return Holm's p of each pair over those that have one; NaN for the others."""
    # `holm` takes a NaN as no member of the family, and leaves it NaN.
    return holm([pair.p for pair in pairs])
