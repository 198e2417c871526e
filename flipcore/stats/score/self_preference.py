"""Does a judge that is a contestant read its own outputs more kindly than others'? Against people's labels of the same outputs.

Of each labelled output: what the judge says less what people say (right is 1, wrong 0). An output's question is its unit.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from flipcore.core.errors import BadInput
from flipcore.stats.base.estimate import MIN_FAMILIES, MIN_N, Estimate, without_interval
from flipcore.stats.base.families import clustered_difference, clustered_mean

SIGNED = (-1.0, 1.0)


@dataclass(frozen=True)
class SelfPreference:
    """`own` and `others`: how far the judge's score of its own outputs and of others' lies above people's; `apart` is the one less the
    other. All are shares of labelled outputs; `n` of them are its own."""

    own: Estimate
    others: Estimate
    apart: Estimate


def self_preference(
    by_judge: ArrayLike, people: ArrayLike, is_own: ArrayLike, families: ArrayLike, level: float = 0.95
) -> SelfPreference:
    """(outputs,) what the judge and people say, whether the output is the judge's own, and its question. Raises BadInput for unequal
    lengths."""
    gap, own = np.asarray(by_judge, dtype=float) - np.asarray(people, dtype=float), np.asarray(is_own, dtype=bool)
    names = np.asarray(families).astype(str)
    if not gap.size == own.size == names.size:
        raise BadInput("Give each labelled output two words, whose it is, and its question.")
    mean_own, mean_others = (
        clustered_mean(gap[side], names[side], level=level, bounds=SIGNED).estimate() for side in (own, ~own)
    )
    fewest = min(int(own.sum()), int((~own).sum()))
    if not fewest:
        return SelfPreference(mean_own, mean_others, without_interval(float("nan"), 0, level, "One side has no label."))
    both = clustered_difference(gap[own], names[own], gap[~own], names[~own], level=level, bounds=SIGNED)
    if fewest < MIN_N or both.n_effective < MIN_FAMILIES or not both.se > 0:
        why = "" if fewest < MIN_N else "No interval: too few questions, or no difference in any."
        apart = without_interval(both.value, fewest, level, why)
    else:
        apart = Estimate(both.value, both.low, both.high, level, both.method, fewest, None)
    return SelfPreference(mean_own, mean_others, apart)
