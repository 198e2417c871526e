"""T = G + A with people as the truth of what an output answers: what they say of a random part of the pairs, and the reference of all.

A label says which answer one output states. So a pair of outputs flips by people where its two labels differ, and G by people is the
share of pairs of an item's variants whose outputs *state* different answers: the flips that a reader without errors would see. Whether
the model "meant" the change is no part of it. T stays what the compared extractor sees, which needs no label, and A = T − G is what it
sees beyond the statements; the reference has such a part as well. All are means over items of an item's share of pairs, as without labels.

Prediction-powered inference on items (Angelopoulos, Duchi and Zrnic 2023, arXiv:2311.01453), the labelled pairs being among all pairs:
G = λ · mean(G of the reference) + mean over labelled items of (people − λ · reference), families as units. With few disagreements exact
limits of both error rates stand in, as for a score (`score.corrected`), or those of the labels alone where they are narrower.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from flipcore.core.errors import BadInput
from flipcore.stats.base.estimate import MIN_FAMILIES, MIN_N, Estimate, missing, without_interval
from flipcore.stats.base.families import ClusteredMean, clustered_difference, clustered_mean, family_numbers, few_families
from flipcore.stats.base.proportions import t_quantile
from flipcore.stats.score.corrected import EXACT, FEWEST_DISAGREEMENTS, METHOD, Corrected, corrected
from flipcore.stats.score.error_bar import limits_of_score

FEWEST_OF_EACH = 5  # labelled pairs that flip by people, and that do not: with fewer, normal limits held .88 in simulation


@dataclass(frozen=True, eq=False)
class FlipsByPeople:
    """`total` and `genuine` (items,) are each item's share of pairs that flip under the compared extractor and the reference. `reference`
    and `people` (pairs,) are 1 where a labelled pair flips by the one and the other, `item` (pairs,) its place among the items.
    `families` (items,) are the units. Every estimate is a share of pairs; its `n` counts labelled pairs."""

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
        """The reference's errors on the labelled pairs: `false_rights` are flips that people do not see, `false_wrongs` are missed."""
        return corrected(self.reference, self.people, self.families[self.item], self.level)

    @cached_property
    def weight(self) -> float:
        """λ, how far the reference is trusted: the slope of people's flips on its own; 1 where the labelled pairs show none."""
        return self.errors.weight

    @cached_property
    def labelled_items(self) -> np.ndarray:
        return np.unique(self.item)

    def _by_item(self, of_pairs: np.ndarray) -> np.ndarray:
        """(labelled items,) means over an item's labelled pairs."""
        sums = np.bincount(self.item, weights=of_pairs, minlength=self.total.size)
        return (sums / np.maximum(np.bincount(self.item, minlength=self.total.size), 1))[self.labelled_items]

    @cached_property
    def _rest(self) -> np.ndarray:
        """(labelled items,) what people say less λ · what the reference says, each distance from the mean widened by an item's leverage on
        λ, which the labels themselves gave (HC2; MacKinnon and White 1985)."""
        rest, f = self._by_item(self.people - self.weight * self.reference), self._by_item(self.reference)
        if rest.size < 3:
            return rest
        squares = (f - f.mean()) ** 2
        leverage = 1 / f.size + (squares / squares.sum() if squares.any() else 0.0)
        wider = (rest - rest.mean()) * np.sqrt((1 - 1 / f.size) / np.maximum(1 - leverage, 1 / f.size))
        return rest.mean() + wider - wider.mean()

    @property
    def _own_families(self) -> np.ndarray:
        return self.families[self.labelled_items]

    def _sum(self, of_all: np.ndarray, of_labelled: np.ndarray) -> ClusteredMean:
        """A mean over all items plus one over the labelled, which are among them."""
        return clustered_difference(of_all, self.families, -of_labelled, self._own_families, level=self.level, bounds=None)

    @cached_property
    def _of_genuine(self) -> ClusteredMean:
        return self._sum(self.weight * self.genuine, self._rest)

    @property
    def by_labels_alone(self) -> Estimate:
        """G of the labelled pairs alone, without the reference."""
        return clustered_mean(self._by_item(self.people), self._own_families, level=self.level).estimate()

    @cached_property
    def stated(self) -> Estimate:
        """G by people: the share of pairs whose outputs state different answers."""
        value = min(max(self._of_genuine.value, 0.0), 1.0) if self.n_pairs else math.nan
        if not self.has_normal_limits:
            return self._otherwise(value, self.genuine, 1.0, (0.0, 1.0))
        low, high = limits_of_score(value, self._of_genuine.se**2, self._of_genuine.df, math.inf, self.level)
        return Estimate(value, low, high, self.level, METHOD, self.n_pairs, None)

    @cached_property
    def artifact(self) -> Estimate:
        """A by people, T − G: what the compared extractor sees beyond it; negative where it sees less."""
        one = self._sum(self.total - self.weight * self.genuine, -self._rest)
        value = float(self.total.mean()) - self.stated.value
        if not self.has_normal_limits:
            return self._otherwise(value, self.total, -1.0, (-1.0, 1.0))
        # G is between 0 and 1, so its limits lean; those of A lean the other way as much
        t, g = t_quantile(0.5 + self.level / 2, one.df) * one.se, self.stated
        half = t_quantile(0.5 + self.level / 2, self._of_genuine.df) * self._of_genuine.se
        low, high = value - t * (g.high - g.value) / half, value + t * (g.value - g.low) / half
        return Estimate(value, max(low, -1.0), min(high, 1.0), self.level, METHOD, self.n_pairs, None)

    @property
    def _why_no_interval(self) -> str:
        if self.n_pairs < MIN_N:
            return f"No interval: {self.n_pairs} labelled pair{'s' * (self.n_pairs != 1)}; at least {MIN_N} are needed."
        n_effective = clustered_mean(self._rest, self._own_families, bounds=None).n_effective
        return few_families(n_effective) if n_effective < MIN_FAMILIES else ""

    @property
    def has_normal_limits(self) -> bool:
        rarer = min(self.people.sum(), (1 - self.people).sum())
        return self.n_disagreements >= FEWEST_DISAGREEMENTS and rarer >= FEWEST_OF_EACH and not self._why_no_interval

    def _otherwise(self, value: float, rates: np.ndarray, sign: float, bounds: tuple[float, float]) -> Estimate:
        """Without normal limits: those that exact ones of both error rates and the items leave, or none, with the reason."""
        if not self.n_pairs:
            return missing(0, self.level, "Nobody has labelled both outputs of a pair.")
        if why := self._why_no_interval:
            return without_interval(value, self.n_pairs, self.level, why)
        low, high = self._exact_limits(value, rates, sign)
        method, note = EXACT, f"{self.n_disagreements} disagreements: exact limits of both error rates."
        alone = self._limits_alone(value, sign)
        if alone and alone[1] - alone[0] < high - low:
            (low, high), method = alone, self.by_labels_alone.method
            note = f"{self.n_disagreements} disagreements: limits of the labels alone, the narrower ones."
        return Estimate(value, max(low, bounds[0]), min(high, bounds[1]), self.level, method, self.n_pairs, None, note)

    def _limits_alone(self, value: float, sign: float) -> tuple[float, float] | None:
        """Those that the labels have without the reference, for A joined with those of T; None where they leave the estimate out."""
        alone, g = self.by_labels_alone, value if sign > 0 else self.stated.value
        if not (alone.has_interval and alone.low <= g <= alone.high):
            return None
        if sign > 0:
            return alone.low, alone.high
        t = clustered_mean(self.total, self.families, level=self.level)
        return value - math.hypot(t.value - t.low, alone.high - g), value + math.hypot(t.high - t.value, g - alone.low)

    def _exact_limits(self, value: float, rates: np.ndarray, sign: float) -> tuple[float, float]:
        """With a and b the shares of the reference's flips, and of its other pairs, on which people say otherwise, G is
        reference · (1 − a) + (1 − reference) · b: the items' part with its limits and exact ones of a and b, joined by squares (MOVER;
        Zou and Donner 2008)."""
        g = float(self.genuine.mean())
        (a, a_low, a_high), (b, b_low, b_high) = (
            (one.value, one.low, one.high) if one.n else (0.0, 0.0, 1.0)
            for one in (self.errors.false_rights, self.errors.false_wrongs)
        )
        slope = 1 - a - b
        if sign > 0:
            of_rate = clustered_mean(rates, self.families, level=self.level)
            down, up = (slope * (one - of_rate.value) for one in (of_rate.low, of_rate.high))
        else:
            of_rate = clustered_mean(rates - slope * self.genuine, self.families, level=self.level, bounds=None)
            down, up = of_rate.low - of_rate.value, of_rate.high - of_rate.value
        less = down, g * (a_high - a), (1 - g) * (b - b_low)
        more = up, g * (a - a_low), (1 - g) * (b_high - b)
        if sign < 0:
            less, more = (down, *more[1:]), (up, *less[1:])
        return value - math.hypot(*np.nan_to_num(less, nan=1.0)), value + math.hypot(*np.nan_to_num(more, nan=1.0))

    @property
    def n_more(self) -> int | None:
        """Pairs that would bring ten disagreements at the rate so far; 0 where they are there, None without a disagreement."""
        return self.errors.n_more

    def half_width(self, n_more: float = 0) -> float:
        """Of the interval of G after as many more pairs, without end for infinity; NaN without a normal interval."""
        if not self.has_normal_limits:
            return math.nan
        of_labels = clustered_mean(self._rest, self._own_families, bounds=None).se ** 2
        rest = max(self._of_genuine.se**2 - of_labels, 0.0)
        shrink = 0.0 if math.isinf(n_more) else self.n_pairs / (self.n_pairs + n_more)
        return t_quantile(0.5 + self.level / 2, max(self._of_genuine.df, 1.0)) * math.sqrt(rest + shrink * of_labels)


def flips_by_people(
    total: ArrayLike,
    genuine: ArrayLike,
    reference: ArrayLike,
    people: ArrayLike,
    item: ArrayLike,
    families: ArrayLike | None = None,
    level: float = 0.95,
) -> FlipsByPeople:
    """As the fields of `FlipsByPeople`; items with NaN in `total` or `genuine` are left out with their pairs, and the labelled pairs are
    a random one of their item's. Raises BadInput for unequal lengths, and for pairs that are not 0 or 1."""
    t, g = np.asarray(total, dtype=float), np.asarray(genuine, dtype=float)
    f, y, at = np.asarray(reference, dtype=float), np.asarray(people, dtype=float), np.asarray(item, dtype=int)
    names = np.arange(t.size) if families is None else np.asarray(families)
    if not (t.size == g.size == names.size and f.size == y.size == at.size):
        raise BadInput("Give each item a T, a G and a family, and each labelled pair two words and an item.")
    if not (np.isin(f, (0, 1)).all() and np.isin(y, (0, 1)).all()):
        raise BadInput("A labelled pair flips (1) or does not (0).")
    there = ~np.isnan(t + g)
    place = np.cumsum(there) - 1
    inside = there[at] if at.size else np.zeros(0, dtype=bool)
    return FlipsByPeople(t[there], g[there], f[inside], y[inside], place[at[inside]], family_numbers(names[there]), level)
