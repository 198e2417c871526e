"""Two models' scores, each corrected by people's labels of its own outputs, on the same questions: how far apart they are.

Each corrected score is a mean over all outputs plus one over the labelled (`score.corrected`). Written as one value an output, the
two parts of both models move together with their question, and the difference has the one clustered variance.
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
    """`value` (first less second) with its standard error, `df` of the labels of the model with fewer families, and `n` labels of it.
    `p` is two-sided and of this pair alone, NaN where either has too few disagreements for normal limits."""

    value: float
    se: float
    df: float
    n: int
    p: float

    def estimate(self, level: float) -> Estimate:
        """With linear limits, cut at −1 and 1; without an interval where there is no p."""
        if math.isnan(self.p):
            return without_interval(self.value, self.n, level, "No interval: too few labels of one of the models.")
        half = t_quantile(0.5 + level / 2, self.df) * self.se
        return Estimate(self.value, max(self.value - half, -1.0), min(self.value + half, 1.0), level, METHOD, self.n, None)


def corrected_difference(
    first: Corrected, first_units: ArrayLike, second: Corrected, second_units: ArrayLike
) -> CorrectedDifference:
    """The units (outputs,) name the questions, or what several are made from, alike for both."""
    from scipy.special import stdtr

    (x, x_df), (y, y_df) = _values(first, first_units), _values(second, second_units)
    one = clustered_difference(x, first_units, y, second_units, bounds=None)
    df, n = min(x_df, y_df), min(first.n_labels, second.n_labels)
    is_tested = first.has_normal_limits and second.has_normal_limits and df >= MIN_CLAIM_FAMILIES - 1 and one.se > 0
    p = float(2 * stdtr(df, -abs(one.value) / one.se)) if is_tested else math.nan
    return CorrectedDifference(one.value, one.se, df, n, p)


def _values(one: Corrected, units: ArrayLike) -> tuple[np.ndarray, float]:
    """(outputs,) values whose mean is the corrected score and whose spread is its variance, and the labels' degrees of freedom."""
    there, names = one.is_labelled, np.asarray(units)
    left = one.people[there] - one.weight * one.reader[there]
    if left.size < 2:
        return one.weight * one.reader, 0.0
    values = one.weight * one.reader + left.mean()
    values[there] += (one.reader.size / left.size) * (left - left.mean()) * math.sqrt(left.size / (left.size - 1))
    return values, clustered_mean(left, names[there], bounds=None).df


def over_pairs(pairs: Sequence[CorrectedDifference]) -> list[float]:
    """Holm's p of each pair over those that have one; NaN for the others."""
    tested = [one.p for one in pairs if not math.isnan(one.p)]
    adjusted = iter(holm(tested))
    return [math.nan if math.isnan(one.p) else next(adjusted) for one in pairs]
