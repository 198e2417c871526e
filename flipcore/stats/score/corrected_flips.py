"""T = G + A with people's labels as the truth of what an output answers: labels of a random part of
the pairs, and the reference extractor on all.

A label says which answer one output states. So a pair of outputs flips by people where its two
labels differ, and G by people is the share of pairs of an item's variants whose outputs *state*
different answers: the flips that an extractor without errors would see. Whether the model "meant"
the change is no part of it. T stays the rate that the compared extractor sees, which needs no
label, and A = T − G is its part beyond the statements; the reference has such a part as well. All
are means over items of an item's share of pairs, as without labels.

Prediction-powered inference on items (Angelopoulos, Duchi and Zrnic 2023, arXiv:2311.01453), the
labelled pairs being among all pairs: G = λ · mean(G of the reference) + mean over labelled items of
(people − λ · reference), families as units. With few disagreements exact limits of both error rates
stand in, as for a score (`score.corrected`), or those of the labels alone where they are narrower.
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
from flipcore.stats.score.corrected import EXACT, FEWEST_DISAGREEMENTS, METHOD, Corrected, corrected
from flipcore.stats.score.error_bar import limits_of_score

# labelled pairs that flip by people, and that do not: with fewer, normal limits held .88 in
# simulation
FEWEST_OF_EACH = 5


@dataclass(frozen=True, eq=False)
class FlipsByPeople:
    """`total` and `genuine` (items,) are each item's share of pairs that flip under the compared
    extractor and the reference. `reference` and `people` (pairs,) are 1 where a labelled pair flips
    by the one and the other, `item` (pairs,) its place among the items. `families` (items,) are the
    units. Estimates are shares of pairs; their `n` counts labelled pairs."""

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
        """Labelled pairs that flip by one of the reference and people."""
        return int((self.reference != self.people).sum())

    @cached_property
    def errors(self) -> Corrected:
        """The reference's errors on the labelled pairs: `false_rights` are flips that people do not
        see, `false_wrongs` flips that it missed."""
        return corrected(self.reference, self.people, self.families[self.item], self.level)

    @cached_property
    def weight(self) -> float:
        """λ, the trust in the reference: the slope of people's flips on its flips; 1 where the
        labelled pairs show none."""
        return self.errors.weight

    @cached_property
    def labelled_items(self) -> np.ndarray:
        return np.unique(self.item)

    def _by_item(self, pair_values: np.ndarray) -> np.ndarray:
        """Return (labelled items,) means over an item's labelled pairs."""
        sums = np.bincount(self.item, weights=pair_values, minlength=self.total.size)
        return (sums / np.maximum(np.bincount(self.item, minlength=self.total.size), 1))[
            self.labelled_items
        ]

    @cached_property
    def _residuals(self) -> np.ndarray:
        """(labelled items,) people's flips less λ · those of the reference, each distance from the
        mean widened by an item's leverage on λ, which the labels themselves gave (HC2; MacKinnon
        and White 1985)."""
        residuals = self._by_item(self.people - self.weight * self.reference)
        f = self._by_item(self.reference)
        if residuals.size < 3:
            return residuals
        squares = (f - f.mean()) ** 2
        leverage = 1 / f.size + (squares / squares.sum() if squares.any() else 0.0)
        wider = (residuals - residuals.mean()) * np.sqrt(
            (1 - 1 / f.size) / np.maximum(1 - leverage, 1 / f.size)
        )
        # Unequal widening shifts the mean, which must stay that of the labels.
        return residuals.mean() + wider - wider.mean()

    @property
    def _own_families(self) -> np.ndarray:
        return self.families[self.labelled_items]

    def _sum(self, all_values: np.ndarray, labelled_values: np.ndarray) -> ClusteredMean:
        """Return a mean over all items plus one over the labelled, which are among them."""
        return clustered_difference(
            all_values,
            self.families,
            -labelled_values,
            self._own_families,
            level=self.level,
            bounds=None,
        )

    @cached_property
    def _of_genuine(self) -> ClusteredMean:
        return self._sum(self.weight * self.genuine, self._residuals)

    @property
    def by_labels_alone(self) -> Estimate:
        """G of the labelled pairs alone, without the reference."""
        return clustered_mean(
            self._by_item(self.people), self._own_families, level=self.level
        ).estimate()

    @cached_property
    def stated(self) -> Estimate:
        """G by people: the share of pairs whose outputs state different answers."""
        value = min(max(self._of_genuine.value, 0.0), 1.0) if self.n_pairs else math.nan
        if not self.has_normal_limits:
            return self._otherwise(value, self.genuine, 1.0, (0.0, 1.0))
        low, high = limits_of_score(
            value, self._of_genuine.se**2, self._of_genuine.df, math.inf, self.level
        )
        return Estimate(value, low, high, self.level, METHOD, self.n_pairs, None)

    @cached_property
    def artifact(self) -> Estimate:
        """A by people, T − G: the part of T beyond the statements; negative where the compared
        extractor sees less."""
        difference = self._sum(self.total - self.weight * self.genuine, -self._residuals)
        value = float(self.total.mean()) - self.stated.value
        if not self.has_normal_limits:
            return self._otherwise(value, self.total, -1.0, (-1.0, 1.0))
        # G is between 0 and 1, so its limits lean; those of A lean the other way as much.
        t = t_quantile(0.5 + self.level / 2, difference.df) * difference.se
        g = self.stated
        half = t_quantile(0.5 + self.level / 2, self._of_genuine.df) * self._of_genuine.se
        low, high = value - t * (g.high - g.value) / half, value + t * (g.value - g.low) / half
        return Estimate(
            value, max(low, -1.0), min(high, 1.0), self.level, METHOD, self.n_pairs, None
        )

    @property
    def _why_no_interval(self) -> str:
        if self.n_pairs < MIN_N:
            return (
                f"No interval: {self.n_pairs} labelled pair{'s' * (self.n_pairs != 1)}; at least "
                f"{MIN_N} are needed."
            )
        n_effective = clustered_mean(self._residuals, self._own_families, bounds=None).n_effective
        return few_families(n_effective) if n_effective < MIN_FAMILIES else ""

    @property
    def has_normal_limits(self) -> bool:
        rarer = min(self.people.sum(), (1 - self.people).sum())
        return (
            self.n_disagreements >= FEWEST_DISAGREEMENTS
            and rarer >= FEWEST_OF_EACH
            and not self._why_no_interval
        )

    def _otherwise(
        self, value: float, rates: np.ndarray, sign: float, bounds: tuple[float, float]
    ) -> Estimate:
        """Return the estimate without normal limits: with those from exact limits of both error
        rates and the items, or none, with the reason."""
        if not self.n_pairs:
            return missing(0, self.level, "Nobody has labelled both outputs of a pair.")
        if reason := self._why_no_interval:
            return without_interval(value, self.n_pairs, self.level, reason)
        low, high = self._exact_limits(value, rates, sign)
        method = EXACT
        note = f"{self.n_disagreements} disagreements: exact limits of both error rates."
        # With few disagreements but many labels these alone may say more than both error rates.
        by_labels = self._limits_of_labels(value, sign)
        if by_labels and by_labels[1] - by_labels[0] < high - low:
            (low, high), method = by_labels, self.by_labels_alone.method
            note = (
                f"{self.n_disagreements} disagreements: limits of the labels alone, the narrower "
                "ones."
            )
        return Estimate(
            value,
            max(low, bounds[0]),
            min(high, bounds[1]),
            self.level,
            method,
            self.n_pairs,
            None,
            note,
        )

    def _limits_of_labels(self, value: float, sign: float) -> tuple[float, float] | None:
        """Return the limits of the labels without the reference, for A joined with those of T; None
        where they leave the estimate out."""
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
        """Return limits from exact ones of the error rates. With a and b the shares of the
        reference's flips, and of its other pairs, on which people say otherwise, G is reference ·
        (1 − a) + (1 − reference) · b: the items' part with its limits and exact ones of a and b,
        joined by squares (MOVER; Zou and Donner 2008)."""
        g = float(self.genuine.mean())
        (a, a_low, a_high), (b, b_low, b_high) = (
            (rate.value, rate.low, rate.high) if rate.n else (0.0, 0.0, 1.0)
            for rate in (self.errors.false_rights, self.errors.false_wrongs)
        )
        slope = 1 - a - b
        if sign > 0:
            of_rate = clustered_mean(rates, self.families, level=self.level)
            down, up = (slope * (limit - of_rate.value) for limit in (of_rate.low, of_rate.high))
        else:
            of_rate = clustered_mean(
                rates - slope * self.genuine, self.families, level=self.level, bounds=None
            )
            down, up = of_rate.low - of_rate.value, of_rate.high - of_rate.value
        less = down, g * (a_high - a), (1 - g) * (b - b_low)
        more = up, g * (a - a_low), (1 - g) * (b_high - b)
        # A falls as G rises, so the parts of the error rates change sides.
        if sign < 0:
            less, more = (down, *more[1:]), (up, *less[1:])
        return value - math.hypot(*np.nan_to_num(less, nan=1.0)), value + math.hypot(
            *np.nan_to_num(more, nan=1.0)
        )

    @property
    def n_more(self) -> int | None:
        """The number of pairs that would bring ten disagreements at the rate so far; 0 where there
        are as many, None without a disagreement."""
        return self.errors.n_more

    def half_width(self, n_more: float = 0) -> float:
        """Return the half-width of the interval of G after `n_more` pairs, perhaps infinitely many;
        NaN without a normal interval."""
        if not self.has_normal_limits:
            return math.nan
        of_labels = clustered_mean(self._residuals, self._own_families, bounds=None).se ** 2
        of_items = max(self._of_genuine.se**2 - of_labels, 0.0)
        shrink = 0.0 if math.isinf(n_more) else self.n_pairs / (self.n_pairs + n_more)
        return t_quantile(0.5 + self.level / 2, max(self._of_genuine.df, 1.0)) * math.sqrt(
            of_items + shrink * of_labels
        )


def flips_by_people(
    total: ArrayLike,
    genuine: ArrayLike,
    reference: ArrayLike,
    people: ArrayLike,
    item: ArrayLike,
    families: ArrayLike | None = None,
    level: float = 0.95,
) -> FlipsByPeople:
    """Take arguments as the fields of `FlipsByPeople`; items with NaN in `total` or `genuine` are
    left out with their pairs, and the labelled pairs are a random one of their item's. Raises
    BadInput for unequal lengths, and for pairs that are not 0 or 1."""
    t, g = np.asarray(total, dtype=float), np.asarray(genuine, dtype=float)
    f, y = np.asarray(reference, dtype=float), np.asarray(people, dtype=float)
    item_of_pair = np.asarray(item, dtype=int)
    names = np.arange(t.size) if families is None else np.asarray(families)
    if not (t.size == g.size == names.size and f.size == y.size == item_of_pair.size):
        raise BadInput(
            "Give each item a T, a G and a family, and each labelled pair two words and an item."
        )
    if not (np.isin(f, (0, 1)).all() and np.isin(y, (0, 1)).all()):
        raise BadInput("A labelled pair flips (1) or does not (0).")
    is_defined = ~np.isnan(t + g)
    place = np.cumsum(is_defined) - 1

    inside = is_defined[item_of_pair] if item_of_pair.size else np.zeros(0, dtype=bool)
    return FlipsByPeople(
        t[is_defined],
        g[is_defined],
        f[inside],
        y[inside],
        place[item_of_pair[inside]],
        family_numbers(names[is_defined]),
        level,
    )
