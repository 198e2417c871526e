"""T = G + A with people's labels as the truth: labels of a random part of the pairs, and the
reference extractor's flips of all pairs.

A label says which answer an output states. A pair of outputs flips by people where its two labels
differ. So G by people is the share of pairs of an item's variants whose outputs *state* different
answers: the flips that an extractor without errors would see. Whether the model "meant" the change
does not count. T is the rate of the compared extractor, which needs no label. A = T − G is the part
of T that the statements do not explain; the reference has such a part too. All are means over items
of an item's share of pairs, as without labels.

The method is prediction-powered inference on items (Angelopoulos, Duchi and Zrnic 2023,
arXiv:2311.01453), where the labelled pairs are among all pairs: G = λ · mean(G of the reference) +
mean over labelled items of (people − λ · reference), with families as units. With few
disagreements, exact limits of both error rates are used, as for a score (`score.corrected`), or
those of the labels alone where they are narrower.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from flipcore.core.errors import BadInput
from flipcore.stats.base.estimate import MIN_FAMILIES, MIN_N, Estimate, missing, without_interval
from flipcore.stats.base.families import (
    ClusteredMean,
    clustered_difference,
    clustered_mean,
    family_numbers,
    few_families,
)
from flipcore.stats.base.proportions import t_quantile
from flipcore.stats.score.corrected import (
    EXACT,
    METHOD,
    MIN_DISAGREEMENTS,
    Corrected,
    corrected,
    rate_with_limits,
)
from flipcore.stats.score.error_bar import limits_of_score
from flipcore.text.counts import count_of

# Fewest labelled pairs that flip by people, and that do not: with fewer, normal 95% limits covered
# .88 in simulation.
MIN_OF_EACH = 5


@dataclass(frozen=True, eq=False)
class FlipsByPeople:
    """Flips corrected by labels. Estimates are shares of pairs; their `n` counts labelled pairs.

    `total` and `genuine` (items,) are each item's share of pairs that flip under the compared
    extractor and under the reference. `reference` and `people` (labelled pairs,) are 1 where the
    pair flips, else 0. `item` (labelled pairs,) is the index of the pair's item. `families`
    (items,) are numbers of the units.
    """

    total: np.ndarray
    genuine: np.ndarray
    reference: np.ndarray
    people: np.ndarray
    item: np.ndarray
    families: np.ndarray
    level: float = 0.95

    @property
    def n_pairs(self) -> int:
        return self.people.size

    @property
    def n_disagreements(self) -> int:
        """Number of labelled pairs on which people and the reference disagree."""
        return int((self.reference != self.people).sum())

    @cached_property
    def errors(self) -> Corrected:
        """Errors of the reference on the labelled pairs: `false_rights` are its flips that people
        do not see, `false_wrongs` the flips that it misses."""
        return corrected(self.reference, self.people, self.families[self.item], self.level)

    @cached_property
    def weight(self) -> float:
        """λ, the weight of the reference: the slope of people's flips on its flips; 1 where the
        labelled pairs have no slope."""
        return self.errors.weight

    @cached_property
    def labelled_items(self) -> np.ndarray:
        """(labelled items,) indices of the items with a labelled pair."""
        return np.unique(self.item)

    def _by_item(self, pair_values: np.ndarray) -> np.ndarray:
        """Return (labelled items,) means over each item's labelled pairs."""
        sums, n_pairs = np.bincount(self.item, weights=pair_values), np.bincount(self.item)
        return sums[self.labelled_items] / n_pairs[self.labelled_items]

    @cached_property
    def _residuals(self) -> np.ndarray:
        """(labelled items,) people's flips minus λ · those of the reference. The labels themselves
        determine λ. So each distance from the mean is widened by the item's leverage on λ (HC2;
        MacKinnon and White 1985)."""
        residuals = self._by_item(self.people - self.weight * self.reference)
        flips = self._by_item(self.reference)
        n = residuals.size
        if n < 3:
            return residuals
        squares = (flips - flips.mean()) ** 2
        leverage = 1 / n + (squares / squares.sum() if squares.any() else 0.0)
        factors = np.sqrt((1 - 1 / n) / np.maximum(1 - leverage, 1 / n))
        widened = (residuals - residuals.mean()) * factors
        # Unequal factors would move the mean, which must stay that of the labels.
        return residuals.mean() + widened - widened.mean()

    @property
    def _labelled_families(self) -> np.ndarray:
        return self.families[self.labelled_items]

    def _combined_mean(self, all_values: np.ndarray, labelled_values: np.ndarray) -> ClusteredMean:
        """Return the mean over all items plus the mean over the labelled ones among them."""
        return clustered_difference(
            all_values,
            self.families,
            -labelled_values,
            self._labelled_families,
            level=self.level,
            bounds=None,
        )

    @cached_property
    def _uncut_genuine(self) -> ClusteredMean:
        """G by people, before it is cut to [0, 1]."""
        return self._combined_mean(self.weight * self.genuine, self._residuals)

    @property
    def by_labels_alone(self) -> Estimate:
        """G by people of the labelled pairs alone."""
        return clustered_mean(
            self._by_item(self.people), self._labelled_families, level=self.level
        ).estimate()

    @cached_property
    def stated(self) -> Estimate:
        """G by people: the share of pairs whose outputs state different answers."""
        value = min(max(self._uncut_genuine.value, 0.0), 1.0) if self.n_pairs else math.nan
        if not self.has_normal_limits:
            return self._without_normal_limits(value, self.genuine, 1.0, (0.0, 1.0))
        variance = self._uncut_genuine.se**2
        low, high = limits_of_score(value, variance, self._uncut_genuine.df, math.inf, self.level)
        return Estimate(
            value, low, high, level=self.level, method=METHOD, n=self.n_pairs, seed=None
        )

    @cached_property
    def artifact(self) -> Estimate:
        """A by people, T − G: the part of T beyond the statements; negative where the compared
        extractor sees fewer flips."""
        difference = self._combined_mean(self.total - self.weight * self.genuine, -self._residuals)
        value = float(self.total.mean()) - self.stated.value
        if not self.has_normal_limits:
            return self._without_normal_limits(value, self.total, -1.0, (-1.0, 1.0))
        # G lies between 0 and 1, so its limits are asymmetric; those of A are so in reverse.
        half = t_quantile(0.5 + self.level / 2, difference.df) * difference.se
        g = self.stated
        g_half = t_quantile(0.5 + self.level / 2, self._uncut_genuine.df) * self._uncut_genuine.se
        low = max(value - half * (g.high - g.value) / g_half, -1.0)
        high = min(value + half * (g.value - g.low) / g_half, 1.0)
        return Estimate(
            value, low, high, level=self.level, method=METHOD, n=self.n_pairs, seed=None
        )

    @property
    def _why_no_interval(self) -> str:
        if self.n_pairs < MIN_N:
            return (
                f"No interval: {count_of(self.n_pairs, 'labelled pair')}; at least {MIN_N} are "
                "needed."
            )
        n_effective = clustered_mean(
            self._residuals, self._labelled_families, bounds=None
        ).n_effective
        return few_families(n_effective) if n_effective < MIN_FAMILIES else ""

    @property
    def has_normal_limits(self) -> bool:
        rarer = min(self.people.sum(), (1 - self.people).sum())
        return (
            self.n_disagreements >= MIN_DISAGREEMENTS
            and rarer >= MIN_OF_EACH
            and not self._why_no_interval
        )

    def _without_normal_limits(
        self, value: float, rates: np.ndarray, sign: float, bounds: tuple[float, float]
    ) -> Estimate:
        """Return the estimate of G (`sign` 1, `rates` the genuine ones) or of A (`sign` −1, `rates`
        the total ones) with `_exact_limits`, with those of the labels alone, or with neither."""
        if not self.n_pairs:
            return missing(0, self.level, "Nobody has labelled both outputs of a pair.")
        if reason := self._why_no_interval:
            return without_interval(value, self.n_pairs, self.level, reason)
        low, high = self._exact_limits(value, rates, sign)
        method = EXACT
        note = f"{self.n_disagreements} disagreements: exact limits of both error rates."
        # With few disagreements but many labels, the labels alone may give narrower limits.
        label_limits = self._limits_of_labels(value, sign)
        if label_limits and label_limits[1] - label_limits[0] < high - low:
            (low, high), method = label_limits, self.by_labels_alone.method
            note = (
                f"{self.n_disagreements} disagreements: limits of the labels alone, the narrower "
                "ones."
            )
        low, high = max(low, bounds[0]), min(high, bounds[1])
        return Estimate(
            value, low, high, level=self.level, method=method, n=self.n_pairs, seed=None, note=note
        )

    def _limits_of_labels(self, value: float, sign: float) -> tuple[float, float] | None:
        """Return the limits of the labels alone, for A combined with those of T; None if they
        do not contain the estimate."""
        by_labels, g = self.by_labels_alone, value if sign > 0 else self.stated.value
        if not (by_labels.has_interval and by_labels.low <= g <= by_labels.high):
            return None
        if sign > 0:
            return by_labels.low, by_labels.high
        t = clustered_mean(self.total, self.families, level=self.level)
        low = value - math.hypot(t.value - t.low, by_labels.high - g)
        high = value + math.hypot(t.high - t.value, g - by_labels.low)
        return low, high

    def _exact_limits(self, value: float, rates: np.ndarray, sign: float) -> tuple[float, float]:
        """Return limits of G or A from those of the items and the exact ones of the error rates.

        Let a be the share of the reference's flips, and b that of its other pairs, on which people
        disagree. G is reference · (1 − a) + (1 − reference) · b. The distances of the items' part,
        of a and of b are combined by squares (MOVER; Zou and Donner 2008).
        """
        g = float(self.genuine.mean())
        a, a_low, a_high = rate_with_limits(self.errors.false_rights)
        b, b_low, b_high = rate_with_limits(self.errors.false_wrongs)
        slope = 1 - a - b
        if sign > 0:
            mean = clustered_mean(rates, self.families, level=self.level)
            down, up = (slope * (limit - mean.value) for limit in (mean.low, mean.high))
        else:
            mean = clustered_mean(
                rates - slope * self.genuine, self.families, level=self.level, bounds=None
            )
            down, up = mean.low - mean.value, mean.high - mean.value
        errors_down = g * (a_high - a), (1 - g) * (b - b_low)
        errors_up = g * (a - a_low), (1 - g) * (b_high - b)
        # A falls as G rises, so the distances of the error rates change sides.
        if sign < 0:
            errors_down, errors_up = errors_up, errors_down
        low = value - math.hypot(*np.nan_to_num((down, *errors_down), nan=1.0))
        return low, value + math.hypot(*np.nan_to_num((up, *errors_up), nan=1.0))

    @property
    def n_more(self) -> int | None:
        """Further labelled pairs needed for normal limits at the rates so far (`Corrected.n_more`);
        0 where none are needed, None if a rate is still 0."""
        return self.errors.n_more

    def half_width(self, n_more: float = 0) -> float:
        """Return the half-width of the interval of G after `n_more` labelled pairs, which may be
        infinite; NaN without a normal interval."""
        if not self.has_normal_limits:
            return math.nan
        residuals = clustered_mean(self._residuals, self._labelled_families, bounds=None)
        label_variance = residuals.se**2
        item_variance = max(self._uncut_genuine.se**2 - label_variance, 0.0)
        factor = 0.0 if math.isinf(n_more) else self.n_pairs / (self.n_pairs + n_more)
        se = math.sqrt(item_variance + factor * label_variance)
        return t_quantile(0.5 + self.level / 2, max(self._uncut_genuine.df, 1.0)) * se


def flips_by_people(
    total: ArrayLike,
    genuine: ArrayLike,
    reference: ArrayLike,
    people: ArrayLike,
    item: ArrayLike,
    families: ArrayLike | None = None,
    level: float = 0.95,
) -> FlipsByPeople:
    """Return the flips corrected by labels; the arguments are the fields of `FlipsByPeople`.

    Items with NaN in `total` or `genuine` are left out with their pairs. The labelled pairs must be
    a random part of their item's pairs. Raises BadInput for unequal lengths, and for pairs that are
    not 0 or 1.
    """
    t, g = np.asarray(total, dtype=float), np.asarray(genuine, dtype=float)
    f, y = np.asarray(reference, dtype=float), np.asarray(people, dtype=float)
    item_of_pair = np.asarray(item, dtype=int)
    names = np.arange(t.size) if families is None else np.asarray(families)
    if not (t.size == g.size == names.size and f.size == y.size == item_of_pair.size):
        raise BadInput(
            "Give each item a T, a G and a family, and each labelled pair two verdicts and an item."
        )
    if not (np.isin(f, (0, 1)).all() and np.isin(y, (0, 1)).all()):
        raise BadInput("A labelled pair flips (1) or does not (0).")
    is_defined = ~np.isnan(t + g)
    new_index = np.cumsum(is_defined) - 1
    is_kept = is_defined[item_of_pair] if item_of_pair.size else np.zeros(0, dtype=bool)
    return FlipsByPeople(
        t[is_defined],
        g[is_defined],
        reference=f[is_kept],
        people=y[is_kept],
        item=new_index[item_of_pair[is_kept]],
        families=family_numbers(names[is_defined]),
        level=level,
    )
