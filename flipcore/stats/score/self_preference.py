"""Self-preference of a judge that is a contestant: its readouts of its own outputs and of others',
against people's labels of the same outputs.

The value of a labelled output is the judge's readout less people's label (right is 1, wrong 0). An
output's question is its unit.
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
    """The judge's score less people's, of its own outputs (`own_outputs`) and of others'
    (`other_outputs`), and the `difference` of the two. All are shares of labelled outputs; `n` of
    them are its own."""

    own_outputs: Estimate
    other_outputs: Estimate
    difference: Estimate

    @property
    def by_key(self) -> dict[str, Estimate]:
        """The estimates by their keys in tables and JSON."""
        return {"own": self.own_outputs, "others": self.other_outputs, "apart": self.difference}


def self_preference(
    by_judge: ArrayLike,
    people: ArrayLike,
    is_own: ArrayLike,
    families: ArrayLike,
    level: float = 0.95,
) -> SelfPreference:
    """Compare the two kinds of outputs. All arguments are (outputs,): what the judge and people
    say, `is_own` True for the judge's own outputs, and the question of each. Raises BadInput for
    unequal lengths."""
    gap = np.asarray(by_judge, dtype=float) - np.asarray(people, dtype=float)
    by_itself = np.asarray(is_own, dtype=bool)
    names = np.asarray(families).astype(str)
    if not gap.size == by_itself.size == names.size:
        raise BadInput("Give each labelled output two words, whose it is, and its question.")
    mean_own, mean_others = (
        clustered_mean(gap[side], names[side], level=level, bounds=SIGNED).estimate()
        for side in (by_itself, ~by_itself)
    )
    fewest = min(int(by_itself.sum()), int((~by_itself).sum()))
    if not fewest:
        return SelfPreference(
            mean_own,
            mean_others,
            without_interval(float("nan"), 0, level, "One side has no label."),
        )
    gaps = clustered_difference(
        gap[by_itself],
        names[by_itself],
        gap[~by_itself],
        names[~by_itself],
        level=level,
        bounds=SIGNED,
    )
    if fewest < MIN_N or gaps.n_effective < MIN_FAMILIES or not gaps.se > 0:
        # Below `MIN_N` the estimate has its own note.
        note = "" if fewest < MIN_N else "No interval: too few questions, or no difference in any."
        difference = without_interval(gaps.value, fewest, level, note)
    else:
        difference = Estimate(gaps.value, gaps.low, gaps.high, level, gaps.method, fewest, None)
    return SelfPreference(mean_own, mean_others, difference)
