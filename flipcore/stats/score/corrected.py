"""An extractor corrected by people: the score by people's judgement, from an extractor's readouts
of all outputs and people's labels of a random part.

Prediction-powered inference with its weight tuned (Angelopoulos, Duchi and Zrnic 2023,
arXiv:2311.01453), the labelled outputs being among all outputs. The variance is normal in the
disagreements, so with few of them exact limits on both error rates stand in.
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
    clustered_difference,
    clustered_mean,
    family_numbers,
    few_families,
)
from flipcore.stats.base.multiplicity import holm
from flipcore.stats.base.proportions import clopper_pearson, t_quantile
from flipcore.stats.score.error_bar import limits_of_score

FEWEST_DISAGREEMENTS = 10
# labels of either kind; where people say one thing always, normal limits would have no width
FEWEST_OF_EACH = 5
METHOD, EXACT = "prediction powered", "exact error rates"


@dataclass(frozen=True, eq=False)
class Corrected:
    """`readouts` (outputs,) is 1 and 0 where the extractor says right and wrong, `people` the same
    for people, NaN where nobody read the output; `families` (outputs,) are the units, usually the
    question. All estimates are shares of outputs from 0 to 1."""

    readouts: np.ndarray
    people: np.ndarray
    families: np.ndarray
    level: float = 0.95

    @property
    def is_labelled(self) -> np.ndarray:
        """(outputs,) True where people read it."""
        return ~np.isnan(self.people)

    @property
    def n_labels(self) -> int:
        return int(self.is_labelled.sum())

    @cached_property
    def n_disagreements(self) -> int:
        """Labelled outputs that are right by one and wrong by the other."""
        is_labelled = self.is_labelled
        return int((self.readouts[is_labelled] != self.people[is_labelled]).sum())

    @property
    def n_rarer(self) -> int:
        """Labels of the kind, right or wrong, that people gave less often."""
        n_right = int(np.nansum(self.people))
        return min(n_right, self.n_labels - n_right)

    @property
    def _has_few(self) -> bool:
        return self.n_disagreements < FEWEST_DISAGREEMENTS or self.n_rarer < FEWEST_OF_EACH

    @property
    def raw(self) -> Estimate:
        """The extractor's score of all outputs, not corrected."""
        return accuracy(self.readouts, self.families)

    @property
    def by_people(self) -> Estimate:
        """The score of the labelled outputs alone, without the extractor."""
        return accuracy(self.people, self.families)

    @property
    def false_rights(self) -> Estimate:
        """The share, of the labelled outputs that the extractor calls right, that people call
        wrong, with exact limits."""
        return self._error_rate(1.0)

    @property
    def false_wrongs(self) -> Estimate:
        """The share, of the labelled outputs that the extractor calls wrong, that people call
        right, with exact limits."""
        return self._error_rate(0.0)

    def _error_rate(self, side: float) -> Estimate:
        is_kind = self.is_labelled & (self.readouts == side)
        n = int(is_kind.sum())
        if not n:
            return missing(0, self.level, "No labelled output of this kind.")
        k = int((self.people[is_kind] != side).sum())
        sizes = np.unique(self.families[is_kind], return_counts=True)[1]
        # Outputs that say as much without families; one at least.
        n_effective = int(n**2 / (sizes**2).sum())
        # Errors scaled to them are rounded outwards: down for the lower limit, up for the upper.
        low = clopper_pearson(k * n_effective // n, n_effective, self.level)[0]
        high = clopper_pearson(-(-k * n_effective // n), n_effective, self.level)[1]
        return Estimate(k / n, low, high, self.level, "clopper_pearson", n, None)

    @cached_property
    def weight(self) -> float:
        """λ, the trust in the extractor: the slope of people's labels on its readouts. Where the
        extractor calls all labelled outputs right, or all wrong, there is no slope and its readouts
        count in full."""
        f, y = self.readouts[self.is_labelled], self.people[self.is_labelled]
        variance = f.var() if f.size else 0.0
        return float(((f - f.mean()) * (y - y.mean())).mean() / variance) if variance > 0 else 1.0

    @cached_property
    def _sum(self):
        """λ · the extractor's mean over all outputs, plus the mean over the labelled of people's
        labels less λ · the extractor's readouts."""
        is_labelled = self.is_labelled
        left = self.people[is_labelled] - self.weight * self.readouts[is_labelled]
        # A sum as a difference: labelled outputs are in both parts, so their families move both.
        return clustered_difference(
            self.weight * self.readouts,
            self.families,
            -left,
            self.families[is_labelled],
            level=self.level,
            bounds=None,
        )

    @cached_property
    def estimate(self) -> Estimate:
        """The corrected score. From ten disagreements and five labels of either kind on its
        interval is that of prediction-powered inference, with fewer the limits that exact ones of
        both error rates and of the extractor's score leave."""
        n = self.n_labels
        if not n:
            return missing(0, self.level, "Nobody has labelled an output.")
        value = min(max(self._sum.value, 0.0), 1.0)
        n_effective = clustered_mean(self.people, self.families).n_effective
        if n < MIN_N:
            return without_interval(
                value, n, self.level, f"No interval: {n} labels; at least {MIN_N} are needed."
            )
        if n_effective < MIN_FAMILIES:
            return without_interval(value, n, self.level, few_families(n_effective))
        if self._has_few:
            low, high = self._exact_limits(value)
            note = f"{self.n_disagreements} disagreements: exact limits of both error rates."
            return Estimate(value, low, high, self.level, EXACT, n, None, note)
        low, high = limits_of_score(value, self._sum.se**2, self._sum.df, math.inf, self.level)
        return Estimate(value, low, high, self.level, METHOD, n, None)

    def _exact_limits(self, value: float) -> tuple[float, float]:
        """Return the limits of the extractor's score and exact ones of both error rates, joined by
        squares (MOVER; Zou and Donner 2008): `value` is score · (1 − false rights) + (1 − score) ·
        false wrongs."""
        score = clustered_mean(self.readouts, self.families, level=self.level)
        p = score.value
        (a, a_low, a_high), (b, b_low, b_high) = (
            (rate.value, rate.low, rate.high) if rate.n else (0.0, 0.0, 1.0)
            for rate in (self.false_rights, self.false_wrongs)
        )
        slope = 1 - a - b
        p_low, p_high = (
            slope * (end - p) if score.low <= score.high else 1.0 for end in (score.low, score.high)
        )
        down = math.hypot(p_low, p * (a_high - a), (1 - p) * (b - b_low))
        up = math.hypot(p_high, p * (a - a_low), (1 - p) * (b_high - b))
        return max(value - down, 0.0), min(value + up, 1.0)

    @property
    def has_normal_limits(self) -> bool:
        return self.estimate.method == METHOD

    @property
    def n_more(self) -> int | None:
        """The number of labels that would bring ten disagreements and five of either kind at the
        rates so far; 0 where there are as many, None where there is no rate yet."""
        counts = (self.n_disagreements, FEWEST_DISAGREEMENTS), (self.n_rarer, FEWEST_OF_EACH)
        short = [(n, least - n) for n, least in counts if n < least]
        if not all(n for n, _ in short):
            return None
        return max((math.ceil(few * self.n_labels / n) for n, few in short), default=0)

    def half_width(self, n_more: float = 0) -> float:
        """Return the half-width of the interval after `n_more` labels; infinitely many leave what
        questions alone make. NaN without a normal interval."""
        if not self.has_normal_limits:
            return math.nan
        is_labelled = self.is_labelled
        left = clustered_mean(
            self.people[is_labelled] - self.weight * self.readouts[is_labelled],
            self.families[is_labelled],
            bounds=None,
        )
        of_labels = left.se**2
        of_questions = max(self._sum.se**2 - of_labels, 0.0)
        # Only the labels' part of the variance shrinks, and no output is labelled twice.
        shrink = 0.0
        if not math.isinf(n_more):
            shrink = self.n_labels / min(self.n_labels + n_more, self.readouts.size)
        return t_quantile(0.5 + self.level / 2, max(self._sum.df, 1.0)) * math.sqrt(
            of_questions + shrink * of_labels
        )


def corrected(
    readouts: ArrayLike, people: ArrayLike, families: ArrayLike | None = None, level: float = 0.95
) -> Corrected:
    """Correct an extractor's readouts of all outputs by people's labels of some (NaN elsewhere),
    both 1 for right and 0 for wrong; the labelled ones are a random part. Raises BadInput for
    unequal lengths and for other values."""
    f, y = np.asarray(readouts, dtype=float), np.asarray(people, dtype=float)
    names = np.arange(f.size) if families is None else np.asarray(families)
    if not f.size == y.size == names.size:
        raise BadInput(
            f"{f.size} readouts came with {y.size} labels and {names.size} families; give one "
            "each an output."
        )
    if not (np.isin(f, (0, 1)).all() and np.isin(y[~np.isnan(y)], (0, 1)).all()):
        raise BadInput("A readout and a label are 1 (right) or 0 (wrong); a label may be missing.")
    return Corrected(f, y, family_numbers(names), level)


# Difference of two models' scores on the same questions, each corrected by people's labels of its
# outputs. Each corrected score is a mean over all outputs plus one over the labelled
# (`score.corrected`). Written as one value per output, the two parts of both models move together
# with their question, and the difference has the one clustered variance.


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
