"""Controls matched 1:1 to benchmark items by their known traits, and the balance of the two sets
before and after.

Pairs minimise the summed squared differences, each in pooled standard deviations of the unmatched
sets (optimal assignment, as in Rosenbaum 1989); no pair differs by more than the caliper in any
trait. A difference of means is given in the same standard deviations before and after matching
(Stuart 2010, doi:10.1214/09-STS313). `Pairs` holds the stored matching, as a claim needs it: the
traits that pairs were matched by, and the balance that was reached.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.stats.base.estimate import number_text

LENGTH, STEPS, ACCURACY, SUBJECT = "length", "steps", "accuracy", "subject"
TRAITS = (LENGTH, STEPS, ACCURACY, SUBJECT)
TITLES = {
    LENGTH: "length in words",
    STEPS: "number of steps",
    ACCURACY: "accuracy of reference models",
    SUBJECT: "subject",
}
CALIPER = 0.5  # standard deviations, the most that one pair may differ by in one trait
WORST = 0.25  # standardised difference, the most that a paired claim may rest on
MOST_CELLS = 20_000_000  # of the matrix of all possible pairs
# Far above any allowed cost, so the assignment takes it only where nothing else is left.
_FORBIDDEN = 1e6


@dataclass(frozen=True, eq=False)
class Traits:
    """A set of items: `numbers` trait -> (n,) values, NaN where unknown; `subject` (n,) "" where
    unknown; `part` (n,) labels that a pair must share, such as the kind of item."""

    ids: tuple[str, ...]
    numbers: Mapping[str, np.ndarray]
    subject: tuple[str, ...]
    part: tuple[str, ...]

    def has(self, name: str) -> bool:
        """Return True where the trait is known of any item."""
        if name == SUBJECT:
            return any(self.subject)
        return name in self.numbers and bool(np.isfinite(self.numbers[name]).any())


@dataclass(frozen=True)
class Balance:
    """One trait: the standardised difference benchmark - control before and after matching (for
    subjects the largest of any, without a sign), and the ratio of variances after it. NaN where it
    is not known or there are no pairs."""

    trait: str
    before: float
    after: float
    ratio_after: float = math.nan

    @property
    def title(self) -> str:
        return TITLES.get(self.trait, self.trait)


@dataclass(frozen=True)
class Matching:
    """`pairs` benchmark id -> control id; `unpaired` benchmark ids without one. `by` are the traits
    that were matched, `unknown` those asked for of which one set says nothing."""

    pairs: Mapping[str, str]
    unpaired: tuple[str, ...]
    by: tuple[str, ...]
    unknown: tuple[str, ...]
    caliper: float
    balance: tuple[Balance, ...]
    models: tuple[str, ...] = field(default=())

    @property
    def n_benchmark(self) -> int:
        return len(self.pairs) + len(self.unpaired)

    def how(self) -> dict:
        """Return the record that is stored beside the pairs."""
        return {
            "by": list(self.by),
            "caliper": self.caliper,
            "models": list(self.models),
            "balance": {
                trait.trait: [_plain(trait.before), _plain(trait.after)] for trait in self.balance
            },
            "n_pairs": len(self.pairs),
            "n_unpaired": len(self.unpaired),
        }

    def sentence(self) -> str:
        """Say how many items have a control, and the largest difference that is left."""
        n = (
            f"{len(self.pairs):,} of {self.n_benchmark:,} benchmark items have a control of their "
            "own."
        )
        traits = [trait for trait in self.balance if not math.isnan(trait.after)]
        if not traits:
            return f"{n} Widen the caliper, match by fewer traits, or load more controls."
        worst = max(traits, key=lambda trait: abs(trait.after))
        largest_before = max(abs(trait.before) for trait in traits)
        return (
            f"{n} Largest difference after matching: {number_text(abs(worst.after))} SD "
            f"({worst.title}); before it was {number_text(largest_before)} SD."
        )


def _plain(x: float) -> float | None:
    # JSON has no NaN.
    return round(float(x), 4) if math.isfinite(x) else None


def matching_of(
    benchmark: Traits,
    control: Traits,
    by: Sequence[str] = TRAITS,
    caliper: float = CALIPER,
    models: Sequence[str] = (),
) -> Matching:
    """Find the best pairs by the traits `by` that both sets know; `models` are those that the
    accuracy is of. An item that does not say one of these traits gets no pair. Raises BadInput
    where nothing can be compared."""
    wrong = [name for name in by if name not in TRAITS]
    if wrong:
        raise BadInput(f"Controls cannot be matched by {wrong[0]!r}; there is {', '.join(TRAITS)}.")
    if not (0 < caliper <= 10):
        raise BadInput(
            f"The caliper came as {caliper:g}; give standard deviations above 0 and up to 10."
        )
    if not benchmark.ids or not control.ids:
        raise BadInput("Matching needs benchmark items and controls; one of the two sets is empty.")
    usable = tuple(name for name in by if _comparable(name, benchmark, control))
    if not usable:
        raise BadInput(
            "None of the chosen traits is known of both sets. Choose another trait, for example "
            "length."
        )
    pairs: dict[str, str] = {}
    for first, second in _blocks(benchmark, control, by_subject=SUBJECT in usable):
        # Subjects are matched exactly, by the blocks, so only numbers have a distance.
        pairs |= _assigned(
            benchmark, control, first, second, [name for name in usable if name != SUBJECT], caliper
        )
    unpaired = tuple(item for item in benchmark.ids if item not in pairs)
    unknown = tuple(name for name in by if name not in usable)
    rows = balance(benchmark, control, pairs)
    return Matching(
        pairs, unpaired, usable, unknown, caliper, rows, tuple(models) if ACCURACY in usable else ()
    )


def _comparable(name: str, benchmark: Traits, control: Traits) -> bool:
    """Return True where both sets know the trait, or share the name of a subject."""
    shared = name != SUBJECT or {*benchmark.subject} & {*control.subject} - {""}
    return benchmark.has(name) and control.has(name) and bool(shared)


def _blocks(
    benchmark: Traits, control: Traits, *, by_subject: bool
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the places of items that may be paired at all: of one part and, where asked, of one
    subject."""
    sides: list[dict] = []
    for items in (benchmark, control):
        by_key: dict[tuple[str, str], list[int]] = {}
        for place, (part, subject) in enumerate(zip(items.part, items.subject, strict=True)):
            if subject or not by_subject:
                by_key.setdefault((part, subject if by_subject else ""), []).append(place)
        sides.append(by_key)
    return [
        (np.array(sides[0][key]), np.array(sides[1][key]))
        for key in sorted(sides[0])
        if key in sides[1]
    ]


def _assigned(
    benchmark: Traits,
    control: Traits,
    first: np.ndarray,
    second: np.ndarray,
    names: Sequence[str],
    caliper: float,
) -> dict[str, str]:
    """Return the optimal pairs of one block."""
    from scipy.optimize import linear_sum_assignment

    if len(first) * len(second) > MOST_CELLS:
        raise BadInput(
            f"{len(first):,} benchmark items against {len(second):,} controls are too many to "
            "match at once. Match by subject too, or load fewer controls."
        )
    cost = np.zeros((len(first), len(second)))
    for name in names:
        scale = _spread(benchmark.numbers[name], control.numbers[name])
        values = benchmark.numbers[name][first][:, None]
        distance = np.abs(values - control.numbers[name][second][None, :]) / scale
        # Written so that NaN, an unknown trait, is forbidden too.
        cost += np.where(distance <= caliper, distance**2, _FORBIDDEN)
    rows, columns = linear_sum_assignment(cost)
    return {
        benchmark.ids[first[row]]: control.ids[second[column]]
        for row, column in zip(rows, columns, strict=True)
        if cost[row, column] < _FORBIDDEN
    }


def _spread(first: np.ndarray, second: np.ndarray) -> float:
    """Return the pooled standard deviation of two unmatched sets; without any spread the smallest
    number, so that only equals pair."""
    variances = [
        np.nanvar(values, ddof=1) if np.isfinite(values).sum() > 1 else 0.0
        for values in (first, second)
    ]
    return math.sqrt(sum(variances) / 2) or 1e-12


def balance(benchmark: Traits, control: Traits, pairs: Mapping[str, str]) -> tuple[Balance, ...]:
    """Return the balance of all traits that both sets know, matched or not."""
    place = {item: i for i, item in enumerate(benchmark.ids)}
    control_place = {item: i for i, item in enumerate(control.ids)}
    inside = [(a, b) for a, b in pairs.items() if a in place and b in control_place]
    first = np.array([place[a] for a, _ in inside], dtype=int)
    second = np.array([control_place[b] for _, b in inside], dtype=int)
    names = [*dict.fromkeys([*(name for name in TRAITS if name != SUBJECT), *benchmark.numbers])]
    rows = [
        _number_balance(name, benchmark.numbers[name], control.numbers[name], first, second)
        for name in names
        if _comparable(name, benchmark, control)
    ]
    if _comparable(SUBJECT, benchmark, control):
        rows.append(_subject_balance(benchmark.subject, control.subject, first, second))
    return tuple(rows)


def _number_balance(
    name: str, b: np.ndarray, c: np.ndarray, first: np.ndarray, second: np.ndarray
) -> Balance:
    scale = _spread(b, c)
    return Balance(
        name,
        _difference(b, c, scale),
        _difference(b[first], c[second], scale),
        _ratio(b[first], c[second]),
    )


def _difference(b: np.ndarray, c: np.ndarray, scale: float) -> float:
    if not (np.isfinite(b).any() and np.isfinite(c).any()):
        return math.nan
    difference = float(np.nanmean(b) - np.nanmean(c))
    # Without any spread the scale is tiny, and 0 must stay 0.
    return 0.0 if difference == 0 else difference / scale


def _ratio(b: np.ndarray, c: np.ndarray) -> float:
    """Return the variance of the benchmark over that of the control; NaN where either has none."""
    variances = [
        np.nanvar(values, ddof=1) if np.isfinite(values).sum() > 1 else 0.0 for values in (b, c)
    ]
    return float(variances[0] / variances[1]) if min(variances) > 0 else math.nan


def _subject_balance(
    b: Sequence[str], c: Sequence[str], first: np.ndarray, second: np.ndarray
) -> Balance:
    """Return the largest standardised difference of any subject's share, in the standard deviations
    before matching."""

    def largest(subjects: np.ndarray, control_subjects: np.ndarray) -> float:
        if not len(subjects) or not len(control_subjects):
            return math.nan
        return max(
            abs(float((subjects == name).mean() - (control_subjects == name).mean())) / scale[name]
            for name in scale
        )

    all_b, all_c = np.array(b, dtype=object), np.array(c, dtype=object)
    scale = {}
    for name in sorted({*b, *c}):
        shares = [float((side == name).mean()) for side in (all_b, all_c)]
        # The standard deviation of a 0/1 trait; a subject that all or none have has none.
        scale[name] = math.sqrt(sum(p * (1 - p) for p in shares) / 2) or 1e-12
    return Balance(SUBJECT, largest(all_b, all_c), largest(all_b[first], all_c[second]))


@dataclass(frozen=True)
class Pairs:
    """Stored pairs. `control_of` benchmark id -> control id, 1:1; `how_of` benchmark id -> the
    record of the matching (`Matching.how`)."""

    control_of: Mapping[str, str] = field(default_factory=dict)
    how_of: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def among(self, items: Collection[str]) -> Pairs:
        """Return the pairs that lie wholly in `items`."""
        control_of = {
            first: second
            for first, second in self.control_of.items()
            if first in items and second in items
        }
        return Pairs(control_of, {first: self.how_of.get(first, {}) for first in control_of})

    @property
    def _matchings(self) -> list[Mapping[str, Any]]:
        # Mappings cannot be hashed, their texts can.
        return list({repr(how): how for how in self.how_of.values()}.values())

    def note(self) -> str:
        """Say which traits the pairs were matched by; empty where none were stored."""
        names: list[str] = []
        for how in self._matchings:
            names += [name for name in how.get("by", ()) if name not in names]
        if not names:
            return ""
        return (
            f"Pairs were matched by {', '.join(TITLES.get(name, name) for name in names)}; they "
            "may differ in all else."
        )

    def problem(self) -> str:
        """Say why these pairs may not carry a claim: a trait in which they still differ; empty
        where there is none."""
        worst_name, worst = "", WORST
        for how in self._matchings:
            for name, (_, after) in how.get("balance", {}).items():
                if after is not None and abs(after) > worst:
                    worst_name, worst = name, abs(after)
        if not worst_name:
            return ""
        return (
            f"the pairs still differ in {TITLES.get(worst_name, worst_name)} by "
            f"{number_text(worst)} SD; at most {WORST:g} is allowed. Match controls again with a "
            "smaller caliper, or from a larger set."
        )
