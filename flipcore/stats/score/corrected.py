"""An extractor corrected by people: the score by people's judgement, from an extractor's readouts
of all outputs and people's labels of a random part.

The method is prediction-powered inference with a tuned weight (Angelopoulos, Duchi and Zrnic 2023,
arXiv:2311.01453), where the labelled outputs are among all outputs. Its normal limits need enough
disagreements. With few, exact limits of both error rates are used.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from flipcore.core.errors import BadInput
from flipcore.stats.base.accuracy import accuracy
from flipcore.stats.base.estimate import (
    MIN_CLAIM_FAMILIES,
    MIN_FAMILIES,
    MIN_N,
    Estimate,
    missing,
    without_interval,
)
from flipcore.stats.base.families import (
    ClusteredMean,
    clustered_difference,
    clustered_mean,
    family_numbers,
    few_families,
)
from flipcore.stats.base.multiplicity import holm
from flipcore.stats.base.proportions import clopper_pearson, t_quantile
from flipcore.stats.score.error_bar import limits_of_score

MIN_DISAGREEMENTS = 10
# Fewest labels of either kind for normal limits: equal labels would give them no width.
MIN_OF_EACH = 5
METHOD, EXACT = "prediction powered", "exact error rates"


@dataclass(frozen=True, eq=False)
class Corrected:
    """A score corrected by labels. All arrays are (outputs,); all estimates are shares of outputs.
    `readouts` are 1 for right and 0 for wrong by the extractor, `people` the same by people, NaN
    for an output without a label. `families` are numbers of the units, usually the questions."""

    readouts: np.ndarray
    people: np.ndarray
    families: np.ndarray
    level: float = 0.95

    @property
    def is_labelled(self) -> np.ndarray:
        """(outputs,) True where people labelled the output."""
        return ~np.isnan(self.people)

    @property
    def n_labels(self) -> int:
        return int(self.is_labelled.sum())

    @cached_property
    def n_disagreements(self) -> int:
        """Number of labelled outputs on which people and the extractor disagree."""
        is_labelled = self.is_labelled
        return int((self.readouts[is_labelled] != self.people[is_labelled]).sum())

    @property
    def n_rarer(self) -> int:
        """Number of labels of the rarer kind, right or wrong."""
        n_right = int(np.nansum(self.people))
        return min(n_right, self.n_labels - n_right)

    @property
    def raw(self) -> Estimate:
        """The extractor's uncorrected score of all outputs."""
        return accuracy(self.readouts, self.families)

    @property
    def by_people(self) -> Estimate:
        """The score by people of the labelled outputs alone."""
        return accuracy(self.people, self.families)

    @property
    def false_rights(self) -> Estimate:
        """Share of wrong outputs by people among those the extractor calls right, with exact
        limits."""
        return self._error_rate(1.0)

    @property
    def false_wrongs(self) -> Estimate:
        """Share of right outputs by people among those the extractor calls wrong, with exact
        limits."""
        return self._error_rate(0.0)

    def _error_rate(self, readout: float) -> Estimate:
        """Return the share of labels that differ from `readout`, of the outputs that have it."""
        is_selected = self.is_labelled & (self.readouts == readout)
        n = int(is_selected.sum())
        if not n:
            return missing(0, self.level, "No labelled output of this kind.")
        k = int((self.people[is_selected] != readout).sum())
        sizes = np.unique(self.families[is_selected], return_counts=True)[1]
        # Independent outputs with as much information; at least one.
        n_effective = int(n**2 / (sizes**2).sum())
        # Errors are scaled to that number and rounded outwards: down for the lower limit, else up.
        low = clopper_pearson(k * n_effective // n, n_effective, self.level)[0]
        high = clopper_pearson(-(-k * n_effective // n), n_effective, self.level)[1]
        return Estimate(
            k / n, low, high, level=self.level, method="clopper_pearson", n=n, seed=None
        )

    @cached_property
    def weight(self) -> float:
        """λ, the weight of the extractor: the slope of people's labels on its readouts; 1 where all
        readouts of labelled outputs are equal and there is no slope."""
        f, y = self.readouts[self.is_labelled], self.people[self.is_labelled]
        variance = f.var() if f.size else 0.0
        return float(((f - f.mean()) * (y - y.mean())).mean() / variance) if variance > 0 else 1.0

    @cached_property
    def _uncut(self) -> ClusteredMean:
        """The corrected score before it is cut to [0, 1].

        λ · mean readout over all outputs + mean over labelled outputs of (label - λ · readout). The
        sum is computed as a difference, because labelled outputs are in both parts and their
        families move both."""
        return clustered_difference(
            self.weight * self.readouts,
            self.families,
            -self._residuals,
            self.families[self.is_labelled],
            level=self.level,
            bounds=None,
        )

    @property
    def _residuals(self) -> np.ndarray:
        """(labelled outputs,) label - λ · readout."""
        is_labelled = self.is_labelled
        return self.people[is_labelled] - self.weight * self.readouts[is_labelled]

    @cached_property
    def estimate(self) -> Estimate:
        """The corrected score.

        From ten disagreements and five labels of either kind on, its interval is that of
        prediction-powered inference. With fewer it follows from the limits of the extractor's score
        and the exact limits of both error rates.
        """
        n = self.n_labels
        if not n:
            return missing(0, self.level, "Nobody has labelled an output.")
        value = min(max(self._uncut.value, 0.0), 1.0)
        n_effective = clustered_mean(self.people, self.families).n_effective
        if n < MIN_N:
            return without_interval(
                value, n, self.level, f"No interval: {n} labels; at least {MIN_N} are needed."
            )
        if n_effective < MIN_FAMILIES:
            return without_interval(value, n, self.level, few_families(n_effective))
        if self.n_disagreements < MIN_DISAGREEMENTS or self.n_rarer < MIN_OF_EACH:
            low, high = self._exact_limits(value)
            note = f"{self.n_disagreements} disagreements: exact limits of both error rates."
            return Estimate(
                value, low, high, level=self.level, method=EXACT, n=n, seed=None, note=note
            )
        low, high = limits_of_score(value, self._uncut.se**2, self._uncut.df, math.inf, self.level)
        return Estimate(value, low, high, level=self.level, method=METHOD, n=n, seed=None)

    def _exact_limits(self, value: float) -> tuple[float, float]:
        """Return the limits of `value`, which is score · (1 − false rights) + (1 − score) · false
        wrongs. The limits of the extractor's score and the exact ones of both error rates are
        combined by squares (MOVER; Zou and Donner 2008)."""
        score = clustered_mean(self.readouts, self.families, level=self.level)
        p = score.value
        a, a_low, a_high = rate_with_limits(self.false_rights)
        b, b_low, b_high = rate_with_limits(self.false_wrongs)
        slope = 1 - a - b
        # The largest distances, for a score with NaN limits.
        p_down, p_up = 1.0, 1.0
        if score.low <= score.high:
            p_down, p_up = slope * (score.low - p), slope * (score.high - p)
        down = math.hypot(p_down, p * (a_high - a), (1 - p) * (b - b_low))
        up = math.hypot(p_up, p * (a - a_low), (1 - p) * (b_high - b))
        return max(value - down, 0.0), min(value + up, 1.0)

    @property
    def has_normal_limits(self) -> bool:
        return self.estimate.method == METHOD

    @property
    def n_more(self) -> int | None:
        """Further labels needed for normal limits at the rates so far; 0 where none are needed,
        None if a rate is still 0."""
        n_more = 0
        for n, n_needed in ((self.n_disagreements, MIN_DISAGREEMENTS), (self.n_rarer, MIN_OF_EACH)):
            if not n:
                return None
            n_more = max(n_more, math.ceil((n_needed - n) * self.n_labels / n))
        return n_more

    def half_width(self, n_more: float = 0) -> float:
        """Return the half-width of the interval after `n_more` labels; NaN without a normal one.
        With infinitely many labels, only the variance between questions remains."""
        if not self.has_normal_limits:
            return math.nan
        residuals = clustered_mean(self._residuals, self.families[self.is_labelled], bounds=None)
        label_variance = residuals.se**2
        question_variance = max(self._uncut.se**2 - label_variance, 0.0)
        # Only the labels' part of the variance shrinks, and no output is labelled twice.
        factor = 0.0
        if not math.isinf(n_more):
            factor = self.n_labels / min(self.n_labels + n_more, self.readouts.size)
        se = math.sqrt(question_variance + factor * label_variance)
        return t_quantile(0.5 + self.level / 2, max(self._uncut.df, 1.0)) * se


def rate_with_limits(rate: Estimate) -> tuple[float, float, float]:
    """Return an error rate and its limits; without a labelled output it is 0 in [0, 1]."""
    return (rate.value, rate.low, rate.high) if rate.n else (0.0, 0.0, 1.0)


def corrected(
    readouts: ArrayLike, people: ArrayLike, families: ArrayLike | None = None, level: float = 0.95
) -> Corrected:
    """Correct an extractor's readouts of all outputs by people's labels of a random part.

    Both are 1 for right and 0 for wrong, a missing label is NaN; `families` (outputs,) name the
    units. Raises BadInput for unequal lengths and for other values.
    """
    f, y = np.asarray(readouts, dtype=float), np.asarray(people, dtype=float)
    names = np.arange(f.size) if families is None else np.asarray(families)
    if not f.size == y.size == names.size:
        raise BadInput(
            f"{f.size} readouts came with {y.size} labels and {names.size} families; give one "
            "of each per output."
        )
    if not (np.isin(f, (0, 1)).all() and np.isin(y[~np.isnan(y)], (0, 1)).all()):
        raise BadInput("A readout and a label are 1 (right) or 0 (wrong); a label may be missing.")
    return Corrected(f, y, family_numbers(names), level)


# Difference of two models' corrected scores on the same questions. A corrected score is a mean over
# all outputs plus a mean over the labelled ones. Here it is written as one value per output. Then
# all parts of a question move together, and the clustered variance of the difference is right.


@dataclass(frozen=True)
class CorrectedDifference:
    """Difference `value` (first minus second) with its standard error. `df` and `n` (labels) are
    the smaller of the two models'. `p` is two-sided for this pair alone; NaN where a model has too
    few disagreements for normal limits."""

    value: float
    se: float
    df: float
    n: int
    p: float

    def estimate(self, level: float) -> Estimate:
        """Return the difference with linear limits, cut at −1 and 1; no interval where p is NaN."""
        if math.isnan(self.p):
            return without_interval(
                self.value, self.n, level, "No interval: too few labels of one of the models."
            )
        half = t_quantile(0.5 + level / 2, self.df) * self.se
        low, high = max(self.value - half, -1.0), min(self.value + half, 1.0)
        return Estimate(self.value, low, high, level=level, method=METHOD, n=self.n, seed=None)


def corrected_difference(
    first: Corrected, first_units: ArrayLike, second: Corrected, second_units: ArrayLike
) -> CorrectedDifference:
    """Compute the difference. The units (outputs,) name each output's question, or the source of
    several questions, by the same names for both models."""
    from scipy.special import stdtr

    x, x_df = _values_per_output(first, first_units)
    y, y_df = _values_per_output(second, second_units)
    difference = clustered_difference(x, first_units, y, second_units, bounds=None)
    df, n = min(x_df, y_df), min(first.n_labels, second.n_labels)
    is_tested = (
        first.has_normal_limits
        and second.has_normal_limits
        # df + 1 is the number of equal families of labels, and a claim needs this many.
        and df >= MIN_CLAIM_FAMILIES - 1
        and difference.se > 0
    )
    p = math.nan
    if is_tested:
        p = float(2 * stdtr(df, -abs(difference.value) / difference.se))
    return CorrectedDifference(difference.value, difference.se, df, n, p)


def _values_per_output(score: Corrected, units: ArrayLike) -> tuple[np.ndarray, float]:
    """Return (outputs,) values that have the mean and the variance of the corrected score, and the
    labels' degrees of freedom."""
    residuals, names = score._residuals, np.asarray(units)
    if residuals.size < 2:
        return score.weight * score.readouts, 0.0
    values = score.weight * score.readouts + residuals.mean()
    # A labelled output represents N/n outputs, and n/(n - 1) makes the variance unbiased.
    values[score.is_labelled] += (
        (score.readouts.size / residuals.size)
        * (residuals - residuals.mean())
        * math.sqrt(residuals.size / (residuals.size - 1))
    )
    return values, clustered_mean(residuals, names[score.is_labelled], bounds=None).df


def holm_p(pairs: Sequence[CorrectedDifference]) -> list[float]:
    """Return Holm's p of each pair, over the pairs that have a p; NaN for a pair without one."""
    return holm([pair.p for pair in pairs])
