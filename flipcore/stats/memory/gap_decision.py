"""Which test decides a drop gap: it depends on what the control is.

`random`: a random split of one source, so that difficulty cannot differ; a studentised permutation of the drops in points.
`paired`, `calibrated`: sign flips of the differences within pairs. `other`: all three scales of `three_scales`.
The old rule, permutation AND conditional gap, is withdrawn: its numbers stay on the page and decide nothing.
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
from flipcore.stats.memory.gap_intervals import gap_estimate
from flipcore.stats.memory.rewritten import Rewritten
from flipcore.stats.memory.three_scales import ScaleGap, scale_gaps

Families = tuple[np.ndarray | None, np.ndarray | None]
LEVEL = 0.025
KEYS_LEVEL = 0.05
MOSTLY_SPLIT = 0.75


@dataclass(frozen=True, eq=False)
class GapDecision:
    """What decides. `gap` is the difference in points that the rule tests, at 95% (`gap_90` at 90%, for equivalence);
    `p` its one-sided p (`other`: the largest of the three scales'). `units` are items, or families of items made from one
    template, (benchmark, control), and pairs twice. `withheld` says why nothing may be claimed, `note` what pairs were matched
    by. `mended` are items wrong before and better after, (benchmark, control), as wrong keys make them; where their shares of what
    was wrong differ, `without_mended` is the decision without those of the side with more."""

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
        """The benchmark loses more by the rule for this control, before any correction for several detectors."""
        if self.withheld or math.isnan(self.p):
            return False
        more = all(one.is_lower for one in self.scales) if self.control == OTHER else self.gap.low > 0
        return self.p <= LEVEL and more


@dataclass(frozen=True, eq=False)
class Sides:
    """Two rewritten sets with what is known of their items: `guess` 1/K of (benchmark, control), 0 where nothing is chosen;
    `family` item id -> template, `pairs` benchmark id -> control id with `pairs_note`, what they were matched by, and
    `pairs_problem`, why they may carry no claim."""

    benchmark: Rewritten
    control: Rewritten
    guess: tuple[float, float] = (0.0, 0.0)
    family: Mapping[str, str] | None = None
    pairs: Mapping[str, str] | None = None
    pairs_note: str = ""
    pairs_problem: str = ""

    @cached_property
    def labels(self) -> Families:
        """Template of every covered item, or None where each item is its own."""
        return families_of(self.benchmark.covered_ids, self.control.covered_ids, self.family)

    @cached_property
    def units(self) -> Families:
        """What a random control exchanges of them."""
        return exchangeable(self.benchmark.covered_ids, self.control.covered_ids, self.family)


def families_of(first: Sequence[str], second: Sequence[str], family: Mapping[str, str] | None) -> Families:
    """The family of each item of two sets, or None twice where each item is its own."""
    if not family:
        return None, None
    sides = [np.array([family.get(i, i) for i in ids], dtype=object) for ids in (first, second)]
    repeated = any(len(set(labels)) < len(labels) for labels in sides)
    return (sides[0], sides[1]) if repeated else (None, None)


def exchangeable(first_ids: Sequence[str], second_ids: Sequence[str], family: Mapping[str, str] | None) -> Families:
    """What a random split exchanges, a name for every item, None where that is the item: families of one side as a whole; item by
    item those of families that `are_split`."""
    first, second = families_of(first_ids, second_ids, family)
    if first is None or second is None or not are_split(first, second):
        return first, second
    shared = set(first) & set(second)
    names = [
        np.array([i if label in shared else label for i, label in zip(ids, labels, strict=True)], dtype=object)
        for ids, labels in ((first_ids, first), (second_ids, second))
    ]
    return (names[0], names[1]) if any(len(set(one)) < len(one) for one in names) else (None, None)


def are_split(first: Sequence[str] | np.ndarray, second: Sequence[str] | np.ndarray) -> bool:
    """At least three quarters of the items of either side, given by their families, are of families on both sides, as a random split
    by item leaves them. One wording that both sides share does not make single items exchangeable."""
    shared = set(first) & set(second)
    return all(sum(label in shared for label in one) >= MOSTLY_SPLIT * len(one) for one in (first, second))


def gap_decision(sides: Sides, control: str = OTHER, seed: int = 0, m: int = N_PERMUTATIONS) -> GapDecision:
    """The decision for what the control is declared to be; at least `m` permutations or sign flips."""
    if control not in CONTROLS:
        raise BadInput(f"The control came as {control!r}; it is one of {', '.join(CONTROLS)}.")
    if control in (PAIRED, CALIBRATED):
        return _paired(sides, control, seed, m)
    decision, mended = _unpaired(sides, control, seed, m), [one.is_mended for one in (sides.benchmark, sides.control)]
    n_mended = int(mended[0].sum()), int(mended[1].sum())
    n_wrong = [int((one.before[one.covered] == 0).sum()) for one in (sides.benchmark, sides.control)]
    if decision.withheld or not _differ(n_mended, (n_wrong[0], n_wrong[1])):
        return replace(decision, mended=n_mended)
    shares = [k / max(n, 1) for k, n in zip(n_mended, n_wrong, strict=True)]
    if shares[0] > shares[1]:
        fewer = replace(sides, benchmark=sides.benchmark.without(mended[0]))
    else:
        fewer = replace(sides, control=sides.control.without(mended[1]))
    return replace(decision, mended=n_mended, without_mended=_unpaired(fewer, control, seed, m))


def _differ(counts: tuple[int, int], sizes: tuple[int, int]) -> bool:
    """Whether two shares differ, exact (Fisher), two-sided at .05."""
    from scipy.stats import fisher_exact

    table = [[k, n - k] for k, n in zip(counts, sizes, strict=True)]
    return min(sizes) > 0 and sum(counts) > 0 and float(fisher_exact(table)[1]) < KEYS_LEVEL


def _unpaired(sides: Sides, control: str, seed: int, m: int) -> GapDecision:
    labels = sides.units if control == RANDOM else sides.labels
    sets = (sides.benchmark, sides.control)
    drops = [one.drops if label is None else _family_means(one.drops, label) for one, label in zip(sets, labels, strict=True)]
    is_family = labels[0] is not None
    units = (len(drops[0]), len(drops[1]))
    gap, gap_90 = (gap_estimate(*sets, level, labels) for level in (0.95, 0.90))
    why = _too_few(units, is_family, ("benchmark", "control"))
    if not why and is_family and gap.is_too_short:
        why = (
            f"the families of a set weigh as much as {gap.effective:.1f} equal ones; at least {MIN_CLAIM_FAMILIES} are needed."
        )
    scales: tuple[ScaleGap, ...] = ()
    p = math.nan
    if not why and control == RANDOM:
        statistic, draw = permuted_t(drops[0], drops[1], generator(seed))
        p = monte_carlo_p(statistic, draw, m, alpha=LEVEL).p
    elif not why:
        before_after = [(one.before[one.covered], one.after_mean[one.covered]) for one in sets]
        scales = scale_gaps(before_after[0], before_after[1], sides.guess, labels)
        p = max(one.p for one in scales)
    return GapDecision(control, gap, gap_90, p, units, scales, _changed(sets), is_family, why)


def _paired(sides: Sides, control: str, seed: int, m: int) -> GapDecision:
    differences = pair_differences(sides)
    n, changed = len(differences), _changed((sides.benchmark, sides.control))
    if not sides.pairs:
        why = "The control is declared as paired, and no pairs are stored: match controls under Memory, Drop gap."
        empty = missing(0, note="No pairs are stored.")
        return GapDecision(control, empty, empty, math.nan, (0, 0), (), changed, False, why)
    gap, gap_90 = (pair_estimate(differences, level, seed) for level in (0.95, 0.90))
    why = _too_few((n, n), False, ("pair", "pair")) or sides.pairs_problem
    p = math.nan if why else sign_flip_p(differences, generator(seed), m, alpha=LEVEL, one_sided=True).p
    return GapDecision(control, gap, gap_90, p, (n, n), (), changed, False, why, sides.pairs_note)


def pair_differences(sides: Sides) -> np.ndarray:
    """(pairs,) drop of the benchmark item less that of its control; pairs with an uncovered member leave."""
    first, second = (dict(zip(one.covered_ids, one.drops, strict=True)) for one in (sides.benchmark, sides.control))
    return np.array([first[a] - second[b] for a, b in (sides.pairs or {}).items() if a in first and b in second])


def pair_estimate(differences: Sequence[float] | np.ndarray, level: float, seed: int = 0) -> Estimate:
    """Mean difference within pairs; where nothing differs, an interval from one pair up and one down (Bonett and Price)."""
    d = np.asarray(differences, dtype=float)
    if len(d) < MIN_N:
        return mean_interval(d, level=level, seed=seed, bounds=(-2.0, 2.0))
    padded = np.append(d, (1.0, -1.0))
    interval = mean_interval(padded, kind="clt_cluster", level=level, bounds=(-2.0, 2.0))
    return Estimate(float(d.mean()), interval.low, interval.high, level, "bonett_price", len(d), None)


def _family_means(drops: np.ndarray, labels: np.ndarray) -> np.ndarray:
    code = np.unique(labels.astype(str), return_inverse=True)[1]
    return np.bincount(code, weights=drops) / np.bincount(code)


def _changed(sets: Sequence[Rewritten]) -> tuple[int, int]:
    first, second = (int((np.abs(one.drops) > 1e-12).sum()) for one in sets)
    return first, second


def _too_few(units: tuple[int, int], is_family: bool, names: tuple[str, str]) -> str:
    """Why a set this small makes no claim; empty where both are large enough."""
    for n, name in zip(units, names, strict=True):
        if n < MIN_N:
            unit = "family of items" if is_family else "pair" if name == "pair" else f"{name} item"
            many = "families of items" if is_family else f"{unit}s"
            return f"{n} rewritten {unit if n == 1 else many}; at least {MIN_N} are needed for an interval and a claim."
    return ""
