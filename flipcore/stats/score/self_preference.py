"""Self-preference of a judge that is also a compared model: does it judge its own outputs better
than those of other models, compared with people's labels?

The value of a labelled output is the judge's readout minus the label (right is 1, wrong 0). The
question of an output is its unit.
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
    """The judge's score minus people's, of its own outputs and of other models' outputs, and the
    `difference` of the two. All are shares of labelled outputs."""

    own_outputs: Estimate
    other_outputs: Estimate
    difference: Estimate

    @property
    def by_key(self) -> dict[str, Estimate]:
        """Estimates by their keys in tables and JSON."""
        return {"own": self.own_outputs, "others": self.other_outputs, "apart": self.difference}


def self_preference(
    by_judge: ArrayLike,
    people: ArrayLike,
    is_own: ArrayLike,
    families: ArrayLike,
    level: float = 0.95,
) -> SelfPreference:
    """Compare the two kinds of labelled outputs. All arguments are (outputs,).

    `by_judge` and `people` are 1 for right and 0 for wrong, `is_own` is True for the judge's own
    outputs, and `families` name the questions. Raises BadInput for unequal lengths.
    """
    gaps = np.asarray(by_judge, dtype=float) - np.asarray(people, dtype=float)
    is_own_output = np.asarray(is_own, dtype=bool)
    names = np.asarray(families).astype(str)
    if not gaps.size == is_own_output.size == names.size:
        raise BadInput("Give each labelled output two verdicts, whose it is, and its question.")
    mean_own, mean_others = (
        clustered_mean(gaps[side], names[side], level=level, bounds=SIGNED).estimate()
        for side in (is_own_output, ~is_own_output)
    )
    n_smaller = min(int(is_own_output.sum()), int((~is_own_output).sum()))
    if not n_smaller:
        difference = without_interval(float("nan"), 0, level, "One side has no label.")
        return SelfPreference(mean_own, mean_others, difference)
    contrast = clustered_difference(
        gaps[is_own_output],
        names[is_own_output],
        gaps[~is_own_output],
        names[~is_own_output],
        level=level,
        bounds=SIGNED,
    )
    value, low, high = contrast.value, contrast.low, contrast.high
    if n_smaller < MIN_N or contrast.n_effective < MIN_FAMILIES or not contrast.se > 0:
        # Below `MIN_N`, `without_interval` adds its own note.
        note = ""
        if n_smaller >= MIN_N:
            note = "No interval: too few questions, or no difference in any."
        difference = without_interval(value, n_smaller, level, note)
    else:
        difference = Estimate(
            value, low, high, level=level, method=contrast.method, n=n_smaller, seed=None
        )
    return SelfPreference(mean_own, mean_others, difference)
