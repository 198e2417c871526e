"""Match controls 1:1 to benchmark items by known traits, and measure the balance of the two sets.

The pairs are the optimal assignment (Rosenbaum 1989): they minimize the sum of squared differences.
A difference is measured in pooled standard deviations of the unmatched sets. No pair differs by
more than the caliper in any trait. The balance of a trait is the difference of its means between
the sets, in the same standard deviations, before and after matching (Stuart 2010,
doi:10.1214/09-STS313). `Pairs` is a matching that was stored, with its traits and its balance.
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
CALIPER = 0.5  # largest difference within a pair in one trait, in standard deviations
MAX_IMBALANCE = 0.25  # largest standardised difference after matching that a claim may have
MAX_CELLS = 20_000_000  # largest matrix of all possible pairs
# Far above any allowed cost, so the assignment takes it only if no other pair is possible.
_FORBIDDEN = 1e6


@dataclass(frozen=True, eq=False)
class Traits:
    """Traits of a set of items.

    numbers : trait -> (items,) values, NaN where unknown.
    subject : (items,), "" where unknown.
    part : (items,) labels that both items of a pair must share, such as the kind of item.
    """

    ids: tuple[str, ...]
    numbers: Mapping[str, np.ndarray]
    subject: tuple[str, ...]
    part: tuple[str, ...]

    def has(self, name: str) -> bool:
        """Return True if the trait is known for any item."""
        if name == SUBJECT:
            return any(self.subject)
        return name in self.numbers and bool(np.isfinite(self.numbers[name]).any())


@dataclass(frozen=True)
class Balance:
    """Balance of one trait.

    before, after : standardised difference of the means, benchmark - control, before and after
        matching; for subjects the largest of the absolute standardised differences of shares.
    ratio_after : variance of the benchmark over that of the control, after matching.

    Values are NaN if the trait is unknown or there are no pairs.
    """

    trait: str
    before: float
    after: float
    ratio_after: float = math.nan

    @property
    def title(self) -> str:
        return TITLES.get(self.trait, self.trait)


@dataclass(frozen=True)
class Matching:
    """Result of matching.

    pairs : benchmark id -> control id.
    unpaired : benchmark ids without a control.
    by : traits that pairs were matched by.
    unknown : traits that were asked for but that one set does not know.
    models : reference models whose accuracy was matched.
    """

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
        """Return the record of the matching, which is stored with the pairs."""
        balance_of_trait = {}
        for measured in self.balance:
            balance_of_trait[measured.trait] = [_plain(measured.before), _plain(measured.after)]
        return {
            "by": list(self.by),
            "caliper": self.caliper,
            "models": list(self.models),
            "balance": balance_of_trait,
            "n_pairs": len(self.pairs),
            "n_unpaired": len(self.unpaired),
        }

    def sentence(self) -> str:
        """Say how many items have a control, and the largest difference that remains."""
        counts = (
            f"{len(self.pairs):,} of {self.n_benchmark:,} benchmark items have a control of their "
            "own."
        )
        measured = [balance for balance in self.balance if not math.isnan(balance.after)]
        if not measured:
            return f"{counts} Widen the caliper, match by fewer traits, or load more controls."
        worst = max(measured, key=lambda balance: abs(balance.after))
        largest_before = max(abs(balance.before) for balance in measured)
        return (
            f"{counts} Largest difference after matching: {number_text(abs(worst.after))} SD "
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
    """Find the best pairs by those traits of `by` that both sets know.

    `models` are the reference models whose accuracy is a trait. An item without a value in one of
    the traits gets no pair. Raises BadInput if a set is empty, a trait or the caliper is not
    allowed, or no trait is known for both sets.
    """
    not_traits = [name for name in by if name not in TRAITS]
    if not_traits:
        raise BadInput(
            f"Controls cannot be matched by {not_traits[0]!r}; there is {', '.join(TRAITS)}."
        )
    if not (0 < caliper <= 10):
        raise BadInput(
            f"The caliper came as {caliper:g}; give standard deviations above 0 and up to 10."
        )
    if not benchmark.ids or not control.ids:
        raise BadInput("Matching needs benchmark items and controls; one of the two sets is empty.")
    usable = tuple(name for name in by if _is_comparable(name, benchmark, control))
    if not usable:
        raise BadInput(
            "None of the chosen traits is known of both sets. Choose another trait, for example "
            "length."
        )
    pairs: dict[str, str] = {}
    # Subjects are matched exactly, by the blocks, so only numbers have a distance.
    names = [name for name in usable if name != SUBJECT]
    for rows, control_rows in _blocks(benchmark, control, by_subject=SUBJECT in usable):
        pairs |= _assign_pairs(benchmark, control, rows, control_rows, names, caliper)
    return Matching(
        pairs,
        unpaired=tuple(item for item in benchmark.ids if item not in pairs),
        by=usable,
        unknown=tuple(name for name in by if name not in usable),
        caliper=caliper,
        balance=balance(benchmark, control, pairs),
        models=tuple(models) if ACCURACY in usable else (),
    )


def _is_comparable(name: str, benchmark: Traits, control: Traits) -> bool:
    """Return True if both sets know the trait; for subjects, if they have one in common."""
    if name == SUBJECT:
        return bool({*benchmark.subject} & {*control.subject} - {""})
    return benchmark.has(name) and control.has(name)


def _blocks(
    benchmark: Traits, control: Traits, *, by_subject: bool
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return blocks of items that may be paired, as (benchmark rows, control rows). The items of a
    block have the same part and, with `by_subject`, the same subject."""
    rows_by_block = _rows_by_block(benchmark, by_subject=by_subject)
    control_rows_by_block = _rows_by_block(control, by_subject=by_subject)
    blocks = []
    for key in sorted(rows_by_block):
        if key in control_rows_by_block:
            blocks.append((np.array(rows_by_block[key]), np.array(control_rows_by_block[key])))
    return blocks


def _rows_by_block(items: Traits, *, by_subject: bool) -> dict[tuple[str, str], list[int]]:
    """Return (part, subject) -> indices of its items; the subject is "" without `by_subject`."""
    rows_by_block: dict[tuple[str, str], list[int]] = {}
    for row, (part, subject) in enumerate(zip(items.part, items.subject, strict=True)):
        # An item of unknown subject gets no pair, as one without a value in another trait.
        if subject or not by_subject:
            rows_by_block.setdefault((part, subject if by_subject else ""), []).append(row)
    return rows_by_block


def _assign_pairs(
    benchmark: Traits,
    control: Traits,
    rows: np.ndarray,
    control_rows: np.ndarray,
    names: Sequence[str],
    caliper: float,
) -> dict[str, str]:
    """Return the optimal pairs of one block, benchmark id -> control id."""
    from scipy.optimize import linear_sum_assignment

    if len(rows) * len(control_rows) > MAX_CELLS:
        raise BadInput(
            f"{len(rows):,} benchmark items against {len(control_rows):,} controls are too many to "
            "match at once. Match by subject too, or load fewer controls."
        )
    cost = np.zeros((len(rows), len(control_rows)))
    for name in names:
        scale = _spread(benchmark.numbers[name], control.numbers[name])
        values = benchmark.numbers[name][rows][:, None]
        distance = np.abs(values - control.numbers[name][control_rows][None, :]) / scale
        # The comparison is False for the NaN of an unknown trait, which forbids the pair too.
        cost += np.where(distance <= caliper, distance**2, _FORBIDDEN)
    pairs = {}
    for i, j in zip(*linear_sum_assignment(cost), strict=True):
        if cost[i, j] < _FORBIDDEN:
            pairs[benchmark.ids[rows[i]]] = control.ids[control_rows[j]]
    return pairs


def _spread(first: np.ndarray, second: np.ndarray) -> float:
    """Return the pooled standard deviation of two unmatched sets. If nothing varies it is 1e-12, so
    that only items with equal values are within the caliper."""
    return math.sqrt((_variance(first) + _variance(second)) / 2) or 1e-12


def _variance(values: np.ndarray) -> float:
    return float(np.nanvar(values, ddof=1)) if np.isfinite(values).sum() > 1 else 0.0


def balance(benchmark: Traits, control: Traits, pairs: Mapping[str, str]) -> tuple[Balance, ...]:
    """Return the balance of all traits that both sets know, whether they were matched or not."""
    row_of_item = {item: i for i, item in enumerate(benchmark.ids)}
    row_of_control = {item: i for i, item in enumerate(control.ids)}
    pair_rows = []
    for item, control_item in pairs.items():
        # Stored pairs may be of items that these sets lack.
        if item in row_of_item and control_item in row_of_control:
            pair_rows.append((row_of_item[item], row_of_control[control_item]))
    rows, control_rows = np.array(pair_rows, dtype=int).reshape(-1, 2).T
    names = dict.fromkeys([*(name for name in TRAITS if name != SUBJECT), *benchmark.numbers])
    balances = []
    for name in names:
        if _is_comparable(name, benchmark, control):
            values, control_values = benchmark.numbers[name], control.numbers[name]
            balances.append(_number_balance(name, values, control_values, rows, control_rows))
    if _is_comparable(SUBJECT, benchmark, control):
        balances.append(_subject_balance(benchmark.subject, control.subject, rows, control_rows))
    return tuple(balances)


def _number_balance(
    name: str,
    values: np.ndarray,
    control_values: np.ndarray,
    rows: np.ndarray,
    control_rows: np.ndarray,
) -> Balance:
    # The same scale before and after, so that the two differences can be compared.
    scale = _spread(values, control_values)
    matched, control_matched = values[rows], control_values[control_rows]
    variance, control_variance = _variance(matched), _variance(control_matched)
    has_ratio = variance > 0 and control_variance > 0
    return Balance(
        name,
        before=_standardized_difference(values, control_values, scale),
        after=_standardized_difference(matched, control_matched, scale),
        ratio_after=variance / control_variance if has_ratio else math.nan,
    )


def _standardized_difference(values: np.ndarray, control_values: np.ndarray, scale: float) -> float:
    if not (np.isfinite(values).any() and np.isfinite(control_values).any()):
        return math.nan
    return float(np.nanmean(values) - np.nanmean(control_values)) / scale


def _subject_balance(
    subjects: Sequence[str],
    control_subjects: Sequence[str],
    rows: np.ndarray,
    control_rows: np.ndarray,
) -> Balance:
    """Return the balance of subjects: the largest difference of any subject's share, in standard
    deviations before matching."""
    subject, control_subject = np.array(subjects, object), np.array(control_subjects, object)
    deviations = {}
    for name in sorted({*subjects, *control_subjects}):
        shares = [float((labels == name).mean()) for labels in (subject, control_subject)]
        # The standard deviation of a 0/1 trait; it is 0 for a subject that all or none have.
        deviations[name] = math.sqrt(sum(p * (1 - p) for p in shares) / 2) or 1e-12

    def largest_difference(labels: np.ndarray, control_labels: np.ndarray) -> float:
        if not len(labels):  # no pairs
            return math.nan
        differences = []
        for name, deviation in deviations.items():
            difference = float((labels == name).mean() - (control_labels == name).mean())
            differences.append(abs(difference) / deviation)
        return max(differences)

    return Balance(
        SUBJECT,
        largest_difference(subject, control_subject),
        largest_difference(subject[rows], control_subject[control_rows]),
    )


@dataclass(frozen=True)
class Pairs:
    """Stored pairs: `control_of` is benchmark id -> control id, 1:1; `how_of` is benchmark id ->
    the record of the matching that made the pair (`Matching.how`)."""

    control_of: Mapping[str, str] = field(default_factory=dict)
    how_of: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def among(self, items: Collection[str]) -> Pairs:
        """Return the pairs of which both members are in `items`."""
        control_of = {}
        for item, control in self.control_of.items():
            if item in items and control in items:
                control_of[item] = control
        return Pairs(control_of, {item: self.how_of.get(item, {}) for item in control_of})

    @property
    def _matchings(self) -> list[Mapping[str, Any]]:
        # Each record once. Mappings cannot be hashed, but their texts can.
        return list({repr(how): how for how in self.how_of.values()}.values())

    def note(self) -> str:
        """Say which traits the pairs were matched by; "" if no record names any."""
        names: list[str] = []
        for how in self._matchings:
            names += [name for name in how.get("by", ()) if name not in names]
        if not names:
            return ""
        titles = ", ".join(TITLES.get(name, name) for name in names)
        return f"Pairs were matched by {titles}; they may differ in all else."

    def problem(self) -> str:
        """Say why these pairs allow no claim: in some trait they still differ too much. Return ""
        if they do not."""
        worst_name, worst = "", MAX_IMBALANCE
        for how in self._matchings:
            for name, (_, after) in how.get("balance", {}).items():
                if after is not None and abs(after) > worst:
                    worst_name, worst = name, abs(after)
        if not worst_name:
            return ""
        return (
            f"the pairs still differ in {TITLES.get(worst_name, worst_name)} by "
            f"{number_text(worst)} SD; at most {MAX_IMBALANCE:g} is allowed. Match controls again "
            "with a smaller caliper, or from a larger set."
        )
