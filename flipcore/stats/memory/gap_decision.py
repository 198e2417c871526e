"""The test that decides a drop gap, chosen by the kind of control.

random : benchmark and control are a random split of one source, so their difficulty cannot differ.
    The test is a studentised permutation of the drops in points.
paired, calibrated : sign flips of the differences within pairs.
other : the benchmark must lose more on all three scales of `three_scales`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.core.study import CALIBRATED_CONTROL as CALIBRATED
from flipcore.core.study import CONTROLS
from flipcore.core.study import OTHER_CONTROL as OTHER
from flipcore.core.study import PAIRED_CONTROL as PAIRED
from flipcore.core.study import RANDOM_CONTROL as RANDOM
from flipcore.stats.base.estimate import MIN_CLAIM_FAMILIES, MIN_N, Estimate, missing
from flipcore.stats.base.intervals import mean_interval
from flipcore.stats.base.resample import N_PERMUTATIONS, monte_carlo_p, sign_flip_p
from flipcore.stats.memory.drop_gap import permuted_t
from flipcore.stats.memory.gap_intervals import gap_estimate, n_changed
from flipcore.stats.memory.rewritten import Rewritten
from flipcore.stats.memory.three_scales import ScaleGap, scale_gaps
from flipcore.text.counts import count_of

# Labels of the items of (benchmark, control), or None if items are the unit
Families = tuple[np.ndarray | None, np.ndarray | None]
# One-sided: the claim is that the benchmark loses more.
LEVEL = 0.025
KEYS_LEVEL = 0.05  # of Fisher's test for wrong keys
# Least share of items in families that both sides have, after a random split by item. Sets that
# were made separately share hardly any family.
MOSTLY_SPLIT = 0.75
FAMILY, FAMILIES = "rewritten family of items", "rewritten families of items"


@dataclass(frozen=True, eq=False)
class GapDecision:
    """The decision on a drop gap. Tuples of counts are (benchmark, control).

    control : the declared kind of control.
    gap, gap_90 : difference of the mean drops as shares, at 95% and (for equivalence) at 90%.
    p : one-sided p of the rule; the largest of the three scales' for `other`; NaN if not tested.
    units : number of items, or of families where items share templates; number of pairs, twice.
    scales : gaps on the three scales, for `other` only.
    changed : number of items whose correctness changed.
    families : True if families are the units.
    withheld : why nothing may be claimed; "" if something may.
    note : the traits that pairs were matched by.
    mended : number of items wrong before and better after, as wrong answer keys make them.
    without_mended : the decision without the mended items of one side. It is made if the shares of
        wrong items that were mended differ; the side with the larger share loses its mended items.
    """

    control: str
    gap: Estimate
    gap_90: Estimate
    p: float
    units: tuple[int, int]
    scales: tuple[ScaleGap, ...]
    changed: tuple[int, int]
    families: bool = False
    withheld: str = ""
    note: str = ""
    mended: tuple[int, int] = (0, 0)
    without_mended: GapDecision | None = None

    @property
    def is_larger(self) -> bool:
        """True if the benchmark loses more by the rule for this control. There is no correction for
        several detectors here."""
        if self.withheld or math.isnan(self.p):
            return False
        if self.control == OTHER:
            loses_more = all(scale_gap.loses_more for scale_gap in self.scales)
        else:
            loses_more = self.gap.low > 0
        return self.p <= LEVEL and loses_more


@dataclass(frozen=True, eq=False)
class Sides:
    """Two rewritten sets with facts about their items.

    guess : chance of a right guess, 1 / options, of (benchmark, control); 0 without options.
    family : item id -> template.
    pairs : benchmark id -> control id.
    pairs_note : sentence about the traits that pairs were matched by.
    pairs_problem : why these pairs allow no claim; "" if they do.
    """

    benchmark: Rewritten
    control: Rewritten
    guess: tuple[float, float] = (0.0, 0.0)
    family: Mapping[str, str] | None = None
    pairs: Mapping[str, str] | None = None
    pairs_note: str = ""
    pairs_problem: str = ""

    @cached_property
    def labels(self) -> Families:
        """Template of each covered item; None if no two items share a template."""
        return families_of(self.benchmark.covered_ids, self.control.covered_ids, self.family)

    @cached_property
    def units(self) -> Families:
        """Unit of each covered item that a random split exchanges; None if items are units."""
        return split_units(self.benchmark.covered_ids, self.control.covered_ids, self.family)


def families_of(
    first: Sequence[str], second: Sequence[str], family: Mapping[str, str] | None
) -> Families:
    """Return the family of each item of both sets; (None, None) if no two items share a family."""
    if not family:
        return None, None
    first_labels = np.array([family.get(item, item) for item in first], dtype=object)
    second_labels = np.array([family.get(item, item) for item in second], dtype=object)
    if not (_is_repeated(first_labels) or _is_repeated(second_labels)):
        return None, None
    return first_labels, second_labels


def _is_repeated(labels: np.ndarray) -> bool:
    return len(set(labels)) < len(labels)


def split_units(
    first_ids: Sequence[str], second_ids: Sequence[str], family: Mapping[str, str] | None
) -> Families:
    """Return the name of the unit of each item that a random split exchanges.

    A family that is on one side only is exchanged as a whole. If the families `are_split`, items of
    a family on both sides are exchanged one by one. (None, None) if each item is a unit.
    """
    first, second = families_of(first_ids, second_ids, family)
    if first is None or second is None or not are_split(first, second):
        return first, second
    shared = set(first) & set(second)
    units = []
    for ids, labels in ((first_ids, first), (second_ids, second)):
        names = [
            item if label in shared else label for item, label in zip(ids, labels, strict=True)
        ]
        units.append(np.array(names, dtype=object))
    if not (_is_repeated(units[0]) or _is_repeated(units[1])):
        return None, None
    return units[0], units[1]


def are_split(first: Sequence[str] | np.ndarray, second: Sequence[str] | np.ndarray) -> bool:
    """Return True if the families of items look like a random split by item.

    Then on each side at least three quarters of the items have families that both sides have. A few
    shared families are not enough to make single items exchangeable.
    """
    shared = set(first) & set(second)
    return all(
        sum(label in shared for label in labels) >= MOSTLY_SPLIT * len(labels)
        for labels in (first, second)
    )


def gap_decision(
    sides: Sides, control: str = OTHER, seed: int = 0, m: int = N_PERMUTATIONS
) -> GapDecision:
    """Decide the gap by the rule for the declared kind of control, with at least `m` permutations
    or sign flips. Raises BadInput for an unknown kind of control."""
    if control not in CONTROLS:
        raise BadInput(f"The control came as {control!r}; it is one of {', '.join(CONTROLS)}.")
    if control in (PAIRED, CALIBRATED):
        return _decide_paired(sides, control, seed, m)
    decision = _decide_unpaired(sides, control, seed, m)
    n_mended = int(sides.benchmark.is_mended.sum()), int(sides.control.is_mended.sum())
    n_wrong = _n_wrong(sides.benchmark), _n_wrong(sides.control)
    # A wrong answer key that rewriting corrects looks like a mended answer, and can make or hide a
    # gap. Deciding again without the mended items shows if the decision depends on them.
    if decision.withheld or not _shares_differ(n_mended, n_wrong):
        return replace(decision, mended=n_mended)
    share, control_share = (k / max(n, 1) for k, n in zip(n_mended, n_wrong, strict=True))
    if share > control_share:
        remaining = replace(sides, benchmark=sides.benchmark.without(sides.benchmark.is_mended))
    else:
        remaining = replace(sides, control=sides.control.without(sides.control.is_mended))
    without_mended = _decide_unpaired(remaining, control, seed, m)
    return replace(decision, mended=n_mended, without_mended=without_mended)


def _n_wrong(items: Rewritten) -> int:
    return int((items.before[items.covered] == 0).sum())


def _shares_differ(counts: tuple[int, int], sizes: tuple[int, int]) -> bool:
    """Return True if two shares differ by Fisher's exact test, two-sided at .05."""
    from scipy.stats import fisher_exact

    if min(sizes) <= 0 or sum(counts) <= 0:
        return False
    table = [[k, n - k] for k, n in zip(counts, sizes, strict=True)]
    return float(fisher_exact(table)[1]) < KEYS_LEVEL


def _decide_unpaired(sides: Sides, control: str, seed: int, m: int) -> GapDecision:
    # A random split exchanges items or whole families; for other controls families are the unit.
    labels = sides.units if control == RANDOM else sides.labels
    sets = (sides.benchmark, sides.control)
    drops = [
        items.drops if label is None else _family_means(items.drops, label)
        for items, label in zip(sets, labels, strict=True)
    ]
    is_family = labels[0] is not None
    units = (len(drops[0]), len(drops[1]))
    gap, gap_90 = (gap_estimate(*sets, level, labels) for level in (0.95, 0.90))
    names = ("rewritten benchmark item", "rewritten control item")
    withheld = _too_few(units, (FAMILY, FAMILY) if is_family else names)
    if not withheld and is_family and gap.is_too_short:
        withheld = (
            f"the families of a set weigh as much as {gap.effective:.1f} equal ones; at least "
            f"{MIN_CLAIM_FAMILIES} are needed."
        )
    scales: tuple[ScaleGap, ...] = ()
    p = math.nan
    if not withheld and control == RANDOM:
        statistic, draw = permuted_t(drops[0], drops[1], generator(seed))
        p = monte_carlo_p(statistic, draw, m, alpha=LEVEL).p
    elif not withheld:
        answers, control_answers = (
            (items.before[items.covered], items.after_mean[items.covered]) for items in sets
        )
        scales = scale_gaps(answers, control_answers, sides.guess, labels)
        # All three scales must reject, so the rule's p is the largest of the three.
        p = max(scale_gap.p for scale_gap in scales)
    return GapDecision(
        control,
        gap,
        gap_90=gap_90,
        p=p,
        units=units,
        scales=scales,
        changed=(n_changed(sides.benchmark.drops), n_changed(sides.control.drops)),
        families=is_family,
        withheld=withheld,
    )


def _decide_paired(sides: Sides, control: str, seed: int, m: int) -> GapDecision:
    differences = pair_differences(sides)
    n = len(differences)
    changed = n_changed(sides.benchmark.drops), n_changed(sides.control.drops)
    if not sides.pairs:
        withheld = (
            "The control is declared as paired, and no pairs are stored: match controls under "
            "Memory, Drop gap."
        )
        empty = missing(0, note="No pairs are stored.")
        return GapDecision(
            control,
            empty,
            gap_90=empty,
            p=math.nan,
            units=(0, 0),
            scales=(),
            changed=changed,
            withheld=withheld,
        )
    gap, gap_90 = (pair_estimate(differences, level, seed) for level in (0.95, 0.90))
    withheld = _too_few((n, n), ("rewritten pair", "rewritten pair")) or sides.pairs_problem
    p = math.nan
    if not withheld:
        p = sign_flip_p(differences, generator(seed), m, alpha=LEVEL, one_sided=True).p
    return GapDecision(
        control,
        gap,
        gap_90=gap_90,
        p=p,
        units=(n, n),
        scales=(),
        changed=changed,
        withheld=withheld,
        note=sides.pairs_note,
    )


def pair_differences(sides: Sides) -> np.ndarray:
    """Return (pairs,) the drop of the benchmark item minus the drop of its control. Pairs with an
    uncovered item are left out."""
    drops = dict(zip(sides.benchmark.covered_ids, sides.benchmark.drops, strict=True))
    control_drops = dict(zip(sides.control.covered_ids, sides.control.drops, strict=True))
    differences = []
    for item, control in (sides.pairs or {}).items():
        if item in drops and control in control_drops:
            differences.append(drops[item] - control_drops[control])
    return np.array(differences)


def pair_estimate(
    differences: Sequence[float] | np.ndarray, level: float, seed: int = 0
) -> Estimate:
    """Return the mean difference within pairs. For the interval, a pair of +1 and a pair of -1 are
    added (Bonett and Price), so that its width is never 0."""
    d = np.asarray(differences, dtype=float)
    if len(d) < MIN_N:
        # A difference of two drops lies between -2 and 2.
        return mean_interval(d, level=level, seed=seed, bounds=(-2.0, 2.0))
    padded = np.append(d, (1.0, -1.0))
    interval = mean_interval(padded, kind="clt_cluster", level=level, bounds=(-2.0, 2.0))
    return Estimate(
        float(d.mean()),
        interval.low,
        interval.high,
        level=level,
        method="bonett_price",
        n=len(d),
        seed=None,
    )


def _family_means(drops: np.ndarray, labels: np.ndarray) -> np.ndarray:
    # `np.unique` sorts, and labels of mixed types cannot be sorted unless they are texts.
    family_index = np.unique(labels.astype(str), return_inverse=True)[1]
    return np.bincount(family_index, weights=drops) / np.bincount(family_index)


def _too_few(counts: tuple[int, int], names: tuple[str, str]) -> str:
    """Say that a set is too small for a claim; "" if both are large enough."""
    for n, name in zip(counts, names, strict=True):
        if n < MIN_N:
            units = count_of(n, name, FAMILIES if name == FAMILY else "")
            return f"{units}; at least {MIN_N} are needed for an interval and a claim."
    return ""
