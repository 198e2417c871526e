"""A reader corrected by people: the score that people would read, from what a reader says of every output and people of a random part.

Prediction-powered inference with its weight tuned (Angelopoulos, Duchi and Zrnic 2023, arXiv:2311.01453), the labelled outputs being
among all outputs. The variance is normal in the disagreements, so with few of them exact limits on both error rates stand in.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from flipcore.core.errors import BadInput
from flipcore.stats.base.accuracy import accuracy
from flipcore.stats.base.estimate import MIN_FAMILIES, MIN_N, Estimate, missing, without_interval
from flipcore.stats.base.families import clustered_difference, clustered_mean, family_numbers, few_families
from flipcore.stats.base.proportions import clopper_pearson, t_quantile
from flipcore.stats.score.error_bar import limits_of_score

FEWEST_DISAGREEMENTS = 10
FEWEST_OF_EACH = 5  # labels of either kind; where people say one thing always, normal limits would have no width
METHOD, EXACT = "prediction powered", "exact error rates"


@dataclass(frozen=True, eq=False)
class Corrected:
    """`reader` (outputs,) is 1 and 0 where the reader says right and wrong, `people` the same of people, NaN where nobody read the output;
    `families` (outputs,) are the units, usually the question. Every estimate is a share of outputs from 0 to 1."""

    reader: np.ndarray
    people: np.ndarray
    families: np.ndarray
    level: float = 0.95

    @property
    def is_labelled(self) -> np.ndarray:
        """(outputs,) whether people read it."""
        return ~np.isnan(self.people)

    @property
    def n_labels(self) -> int:
        return int(self.is_labelled.sum())

    @cached_property
    def n_disagreements(self) -> int:
        """Labelled outputs that are right by one and wrong by the other."""
        there = self.is_labelled
        return int((self.reader[there] != self.people[there]).sum())

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
        """The reader's own score, of all outputs."""
        return accuracy(self.reader, self.families)

    @property
    def by_people(self) -> Estimate:
        """The score of the labelled outputs alone, without the reader."""
        return accuracy(self.people, self.families)

    @property
    def false_rights(self) -> Estimate:
        """Of the labelled outputs that the reader has right, the share that people have wrong, with exact limits."""
        return self._error_rate(1.0)

    @property
    def false_wrongs(self) -> Estimate:
        """Of the labelled outputs that the reader has wrong, the share that people have right, with exact limits."""
        return self._error_rate(0.0)

    def _error_rate(self, side: float) -> Estimate:
        here = self.is_labelled & (self.reader == side)
        n = int(here.sum())
        if not n:
            return missing(0, self.level, "No labelled output of this kind.")
        k = int((self.people[here] != side).sum())
        sizes = np.unique(self.families[here], return_counts=True)[1]
        n_alone = int(n**2 / (sizes**2).sum())  # outputs that say as much without families; one at least
        low, high = (
            clopper_pearson(k * n_alone // n, n_alone, self.level)[0],
            clopper_pearson(-(-k * n_alone // n), n_alone, self.level)[1],
        )
        return Estimate(k / n, low, high, self.level, "clopper_pearson", n, None)

    @cached_property
    def weight(self) -> float:
        """λ, how far the reader is trusted: the slope of people's word on the reader's. Where the labelled outputs are all right, or all
        wrong, by the reader there is no slope and its word counts in full."""
        f, y = self.reader[self.is_labelled], self.people[self.is_labelled]
        variance = f.var() if f.size else 0.0
        return float(((f - f.mean()) * (y - y.mean())).mean() / variance) if variance > 0 else 1.0

    @cached_property
    def _sum(self):
        """λ · the reader's mean over all outputs, plus the mean of what people read less λ · the reader's word over the labelled."""
        there = self.is_labelled
        left = self.people[there] - self.weight * self.reader[there]
        return clustered_difference(
            self.weight * self.reader, self.families, -left, self.families[there], level=self.level, bounds=None
        )

    @cached_property
    def estimate(self) -> Estimate:
        """The corrected score. From ten disagreements and five labels of either kind on its interval is that of prediction-powered
        inference, with fewer the limits that exact ones of both error rates and of the reader's score leave."""
        n = self.n_labels
        if not n:
            return missing(0, self.level, "Nobody has labelled an output.")
        value = min(max(self._sum.value, 0.0), 1.0)
        n_effective = clustered_mean(self.people, self.families).n_effective
        if n < MIN_N:
            return without_interval(value, n, self.level, f"No interval: {n} labels; at least {MIN_N} are needed.")
        if n_effective < MIN_FAMILIES:
            return without_interval(value, n, self.level, few_families(n_effective))
        if self._has_few:
            low, high = self._exact_limits(value)
            note = f"{self.n_disagreements} disagreements: exact limits of both error rates."
            return Estimate(value, low, high, self.level, EXACT, n, None, note)
        low, high = limits_of_score(value, self._sum.se**2, self._sum.df, math.inf, self.level)
        return Estimate(value, low, high, self.level, METHOD, n, None)

    def _exact_limits(self, value: float) -> tuple[float, float]:
        """Limits of the reader's score and exact ones of both error rates, joined by squares (MOVER; Zou and Donner 2008): `value` is
        score · (1 − false rights) + (1 − score) · false wrongs."""
        score = clustered_mean(self.reader, self.families, level=self.level)
        p = score.value
        (a, a_low, a_high), (b, b_low, b_high) = (
            (one.value, one.low, one.high) if one.n else (0.0, 0.0, 1.0) for one in (self.false_rights, self.false_wrongs)
        )
        slope = 1 - a - b
        p_low, p_high = (slope * (end - p) if score.low <= score.high else 1.0 for end in (score.low, score.high))
        down, up = (
            math.hypot(p_low, p * (a_high - a), (1 - p) * (b - b_low)),
            math.hypot(p_high, p * (a - a_low), (1 - p) * (b_high - b)),
        )
        return max(value - down, 0.0), min(value + up, 1.0)

    @property
    def has_normal_limits(self) -> bool:
        return self.estimate.method == METHOD

    @property
    def n_more(self) -> int | None:
        """Labels that would bring ten disagreements and five of either kind at the rates so far; 0 where they are there, None where there
        is no rate yet."""
        counts = (self.n_disagreements, FEWEST_DISAGREEMENTS), (self.n_rarer, FEWEST_OF_EACH)
        short = [(n, least - n) for n, least in counts if n < least]
        if not all(n for n, _ in short):
            return None
        return max((math.ceil(few * self.n_labels / n) for n, few in short), default=0)

    def half_width(self, n_more: float = 0) -> float:
        """Of the interval after as many more labels, without end for infinity: what questions alone leave. NaN without such an interval."""
        if not self.has_normal_limits:
            return math.nan
        there = self.is_labelled
        left = clustered_mean(self.people[there] - self.weight * self.reader[there], self.families[there], bounds=None)
        of_labels = left.se**2
        rest = max(self._sum.se**2 - of_labels, 0.0)
        shrink = 0.0 if math.isinf(n_more) else self.n_labels / min(self.n_labels + n_more, self.reader.size)
        return t_quantile(0.5 + self.level / 2, max(self._sum.df, 1.0)) * math.sqrt(rest + shrink * of_labels)


def corrected(reader: ArrayLike, people: ArrayLike, families: ArrayLike | None = None, level: float = 0.95) -> Corrected:
    """From a reader's word on every output and people's on some (NaN elsewhere), both 1 for right and 0 for wrong; the labelled ones are a
    random part. Raises BadInput for unequal lengths and for other values."""
    f, y = np.asarray(reader, dtype=float), np.asarray(people, dtype=float)
    names = np.arange(f.size) if families is None else np.asarray(families)
    if not f.size == y.size == names.size:
        raise BadInput(f"{f.size} readouts came with {y.size} labels and {names.size} families; give one each an output.")
    if not (np.isin(f, (0, 1)).all() and np.isin(y[~np.isnan(y)], (0, 1)).all()):
        raise BadInput("A readout and a label are 1 (right) or 0 (wrong); a label may be missing.")
    return Corrected(f, y, family_numbers(names), level)
