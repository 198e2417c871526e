"""All specifications of a decision at once, from sums over items or clusters.

A state is what makes the values of items (extractor, unread, reruns, prompt), a set is which items
count. A specification is one state on one set. Values and counts of all states are two matrices,
and a set multiplies them from the left, so that 480 specifications of 12,000 items need some dozen
products and no test is computed one by one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from flipcore.stats.base.estimate import MIN_CLAIM_FAMILIES, MIN_N, Estimate
from flipcore.stats.base.families import FamilyMeans
from flipcore.stats.base.guarded import ClusterSums, GuardedSide, ItemSums
from flipcore.stats.base.multiplicity import holm
from flipcore.stats.choices.choice import (
    WEIGHTS,
    Choice,
    at_most,
    selected,
    setting_of,
    specifications,
)
from flipcore.stats.choices.curve import Curve, Effect, SideTest, Tests
from flipcore.stats.choices.material import ALIKE, ITEM_CHOICES, Material, coarsest_units
from flipcore.stats.choices.shares import ShareSide

LEVEL = 0.95
FEWEST_MOVERS = 3  # units that make up an effect, for an interval of it


@dataclass(frozen=True, eq=False)
class _States:
    """Values (items, states), 0 where an item is left out, and 1 in `counted` where it is not."""

    values: np.ndarray
    counted: np.ndarray

    @cached_property
    def parts(self) -> tuple[np.ndarray, ...]:
        """The matrices of which clusters have sums: `ClusterSums`."""
        won, lost = np.maximum(self.values, 0.0), np.maximum(-self.values, 0.0)
        return self.counted, won, lost, (won > 0).astype(float), (lost > 0).astype(float)


@dataclass(frozen=True, eq=False)
class _Part:
    """The specifications of one set of items: their `rows`, the state of each (`columns`), and
    `weights` (items,), or (items, rows) where they differ between states. An item that is left out
    weighs 0; the weights of a specification add up to its number of items."""

    rows: np.ndarray
    columns: np.ndarray
    weights: np.ndarray

    def weighted(self, matrix: np.ndarray) -> np.ndarray:
        """Return the matrix (items, states) of the set's specifications (items, rows), weighted."""
        weights = self.weights[:, None] if self.weights.ndim == 1 else self.weights
        return weights * matrix[:, self.columns]


def count(material: Material, choices: Sequence[Choice] | None = None) -> Curve:
    """Count `material` in every way that `choices` allow; by default its defensible ones."""
    kept, note = at_most(selected(material.choices) if choices is None else choices)
    options = specifications(kept)
    declared = {choice.name: choice.options[0].name for choice in material.choices}
    settings = [declared | setting_of(kept, row) for row in options]
    states, parts = _parts(material, settings)
    order = np.argsort(np.concatenate([part.rows for part in parts]))
    units = np.unique(material.clusters, return_inverse=True)[1]
    coarse = coarsest_units(units, material.categories, kept)
    tests, basics = [], []
    for part in parts:
        sums = _sums(states, part, units)
        tests.append(_both_sides(sums, material.bounds))
        basics.append(_basics(states, part, sums))
    estimate, se, df, n_units, n_items = np.concatenate(basics, axis=1)[:, order]
    coarse_tests = tests
    if coarse.max(initial=-1) != units.max(initial=-1):
        coarse_tests = [_both_sides(_sums(states, part, coarse), material.bounds) for part in parts]
    # A choice that is not varied is as declared, and that may be closed.
    varied = {choice.name for choice in kept}
    fixed = [choice for choice in material.choices if choice.name not in varied]
    declared_closed = _why_closed(fixed, np.zeros(len(fixed), dtype=int))
    closed = [declared_closed or _why_closed(kept, row) for row in options]
    for place in np.flatnonzero(np.isnan(df)):
        closed[place] = closed[place] or (
            f"fewer than {MIN_N} items or {MIN_CLAIM_FAMILIES} clusters count"
        )
    is_open = np.array([not reason for reason in closed])
    places, contrasts = _contrasts(kept, options, is_open)
    changes = contrasts.T @ np.nan_to_num(estimate)
    per_unit, sizes = _unit_differences(states, parts, contrasts, estimate, coarse)
    return Curve(
        choices=kept,
        options=options,
        estimate=estimate,
        se=se,
        df=df,
        n_units=n_units.astype(int),
        n_items=n_items.astype(int),
        closed=tuple(closed),
        tests=Tests(tests, order),
        coarse_tests=Tests(coarse_tests, order),
        # An item without a value in any way is no unit of theirs.
        n_coarse=len(np.unique(coarse[states.counted.any(axis=1)])),
        effects=_tested(places, changes, per_unit, sizes),
        bounds=material.bounds,
        note=note,
    )


def _parts(material: Material, settings: Sequence[dict[str, str]]) -> tuple[_States, list[_Part]]:
    by_set: dict[tuple[str, ...], list[int]] = {}
    numbers: dict[tuple[str, ...], int] = {}
    values: list[np.ndarray] = []
    columns = []
    for place, setting in enumerate(settings):
        state = tuple(setting[name] for name in material.value_choices if name in setting)
        if state not in numbers:
            numbers[state] = len(values)
            values.append(material.values(setting))
        columns.append(numbers[state])
        key = tuple(setting[name] for name in ITEM_CHOICES if name in setting)
        by_set.setdefault(key, []).append(place)
    matrix = np.column_stack(values)
    states = _States(np.nan_to_num(matrix), (~np.isnan(matrix)).astype(float))
    parts = []
    for places in by_set.values():
        setting = settings[places[0]]
        of_states = np.array([columns[place] for place in places])
        weights = material.kept(setting).astype(float)
        part = _Part(np.array(places), of_states, weights)
        if setting.get(WEIGHTS) == ALIKE:
            alike = _alike(part.weighted(states.counted), material.categories)
            part = _Part(part.rows, of_states, alike)
        parts.append(part)
    return states, parts


def _alike(counted: np.ndarray, categories: np.ndarray) -> np.ndarray:
    """(items, k) weights by which every category that has items weighs the same."""
    sizes = _by_unit(categories) @ counted
    n_present = np.maximum((sizes > 0).sum(axis=0), 1)
    per_item = counted.sum(axis=0) / n_present / np.maximum(sizes, 1.0)
    return counted * per_item[categories]


def _by_unit(units: np.ndarray, weights: np.ndarray | None = None) -> Any:
    """(units, items) sparse matrix that sums items by unit."""
    from scipy.sparse import csr_array

    entries = np.ones(len(units)) if weights is None else weights
    return csr_array((entries, (units, np.arange(len(units)))))


def _sums(states: _States, part: _Part, units: np.ndarray) -> ItemSums | ClusterSums:
    """Sums of all specifications of a set; weighted items are clusters of one."""
    is_single = int(units.max(initial=-1)) + 1 == len(units)
    is_weighted = part.weights.ndim > 1
    counted, won, lost, *_ = states.parts
    if not is_weighted:
        squares_won, squares_lost = (part.weights @ matrix**2 for matrix in (won, lost))
        squares_won, squares_lost = squares_won[part.columns], squares_lost[part.columns]
    else:
        squares_won, squares_lost = (part.weighted(matrix**2).sum(axis=0) for matrix in (won, lost))
    if is_single and not is_weighted:
        total = part.weights @ states.values
        n = part.weights @ counted
        return ItemSums(n[part.columns], total[part.columns], squares_won + squares_lost)

    def summed(matrix: np.ndarray) -> np.ndarray:
        if is_single:
            return part.weighted(matrix)
        if is_weighted:
            return by_unit @ part.weighted(matrix)
        return (by_unit @ matrix)[:, part.columns]

    by_unit = _by_unit(units, None if is_weighted else part.weights)
    n_won, n_lost = states.parts[3:]
    return ClusterSums(
        sizes=summed(counted),
        won=summed(won),
        lost=summed(lost),
        n_won=summed(n_won),
        n_lost=summed(n_lost),
        squares_won=squares_won,
        squares_lost=squares_lost,
    )


def _both_sides(
    sums: ItemSums | ClusterSums, bounds: tuple[float, float]
) -> tuple[SideTest, SideTest]:
    if bounds[0] < 0:
        # Items of their own in their clusters: whoever sees one sees its cluster.
        is_clustered = isinstance(sums, ClusterSums) and bool((sums.sizes > 1).any())
        low, high = bounds
        return (
            GuardedSide.of(sums, bounds, low, is_clustered=is_clustered),
            GuardedSide.of(sums, bounds, high, is_clustered=is_clustered),
        )
    return ShareSide.of(sums, is_lower=True), ShareSide.of(sums, is_lower=False)


def _basics(states: _States, part: _Part, sums: ItemSums | ClusterSums) -> np.ndarray:
    """(5, k) estimate, se, df, numbers of units and of items."""
    if part.weights.ndim > 1:
        n_items = (part.weights > 0).sum(axis=0)
    else:
        n_items = (part.weights @ states.counted)[part.columns]
    if isinstance(sums, ClusterSums):
        means = sums.means
        is_few = (n_items < MIN_N) | (means.n_effective < MIN_CLAIM_FAMILIES)
        df = np.where(is_few, np.nan, means.df)
        return np.array([means.values, means.se, df, means.n_families, n_items])
    n = np.maximum(sums.n, 1)
    estimate = np.where(sums.n > 0, sums.total / n, np.nan)
    spread = np.maximum(sums.squares / n - estimate**2, 0.0)
    se = np.sqrt(spread / np.maximum(n - 1, 1))
    df = np.where(sums.n < MIN_N, np.nan, sums.n - 1.0)
    return np.array([estimate, se, df, sums.n, n_items])


def _why_closed(choices: Sequence[Choice], row: np.ndarray) -> str:
    reasons = []
    for choice, number in zip(choices, row, strict=True):
        reasons.append(choice.options[int(number)].closed)
    return next(filter(None, reasons), "")


def _contrasts(
    choices: Sequence[Choice], options: np.ndarray, is_open: np.ndarray
) -> tuple[list[tuple[Choice, int]], np.ndarray]:
    """Return (choice, option number) of each option that is compared with the declared one, and
    their contrasts (n_specifications, n_effects): the mean difference over all settings of the
    other choices in which both are open."""
    places, contrasts = [], []
    # Mixed radix: the specification with another option of one choice is so many rows away.
    sizes = [len(choice.options) for choice in choices]
    for column, choice in enumerate(choices):
        step = math.prod(sizes[column + 1 :])
        for number in range(1, len(choice.options)):
            changed = np.flatnonzero(options[:, column] == number)
            twins = changed - number * step
            is_pair = is_open[changed] & is_open[twins]
            if is_pair.any():
                contrast = np.zeros(len(options))
                contrast[changed[is_pair]] = 1 / is_pair.sum()
                contrast[twins[is_pair]] = -1 / is_pair.sum()
                places.append((choice, number))
                contrasts.append(contrast)
    if not places:
        return [], np.zeros((len(options), 0))
    return places, np.column_stack(contrasts)


def _unit_differences(
    states: _States,
    parts: Sequence[_Part],
    contrasts: np.ndarray,
    estimate: np.ndarray,
    units: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return what each unit adds to each effect (units, effects), and its number of items.

    A mean is a sum over units of ψ = Σ w (x - mean) / Σ w, but for a constant.
    """
    per_item = np.zeros((len(units), contrasts.shape[1]))
    is_counted = np.zeros(len(units), dtype=bool)
    means = np.nan_to_num(estimate)
    for part in parts:
        totals = part.weighted(states.counted).sum(axis=0)
        per_state = contrasts[part.rows] / np.maximum(totals, 1e-9)[:, None]
        per_mean = per_state * means[part.rows][:, None]
        values, counted = (matrix[:, part.columns] for matrix in (states.values, states.counted))
        if part.weights.ndim > 1:
            values, counted = part.weights * values, part.weights * counted
            per_item += values @ per_state - counted @ per_mean
        else:
            per_item += part.weights[:, None] * (values @ per_state - counted @ per_mean)
        is_counted |= (counted > 0).any(axis=1)
    by_unit = _by_unit(units)
    sizes = by_unit @ is_counted.astype(float)
    return (by_unit @ per_item)[sizes > 0], sizes[sizes > 0]


def _tested(
    places: Sequence[tuple[Choice, int]],
    changes: np.ndarray,
    per_unit: np.ndarray,
    sizes: np.ndarray,
) -> tuple[Effect, ...]:
    """Test effects by t over units, with Holm's correction.

    The degrees of freedom are the least of two effective numbers of units, less one: by size, and
    (Σψ²)²/Σψ⁴, because an option may move few of them.
    """
    if not places:
        return ()
    from scipy.special import stdtr, stdtrit

    n_units = len(sizes)
    by_size = FamilyMeans(sizes[:, None], sizes[:, None])
    squares, fourth = (per_unit**2).sum(axis=0), (per_unit**4).sum(axis=0)
    movers = np.divide(squares**2, fourth, out=np.ones(len(places)), where=fourth > 0)
    df = np.minimum(np.nan_to_num(by_size.df[0]), movers - 1)
    se = np.sqrt(squares * n_units / max(n_units - 1, 1))
    is_few = (
        (n_units < MIN_N) | (by_size.n_effective[0] < MIN_CLAIM_FAMILIES) | (movers < FEWEST_MOVERS)
    )
    moves = np.abs(changes) > 1e-12
    t = np.divide(np.abs(changes), se, out=np.zeros(len(places)), where=se > 0)
    p = np.where(moves, 2 * stdtr(np.maximum(df, 1e-9), -t), 1.0)
    p = np.where(moves & is_few, np.nan, p)
    half = np.where(is_few, np.nan, stdtrit(np.maximum(df, 1e-9), 0.5 + LEVEL / 2) * se)
    half = np.where(moves | (se > 1e-12), half, 0.0)
    effects = []
    for place, (choice, number) in enumerate(places):
        change = float(changes[place])
        low, high = change - half[place], change + half[place]
        method = "none" if math.isnan(low) else "t over units"
        estimate = Estimate(change, low, high, LEVEL, method, n_units, None)
        effects.append((choice, number, estimate, float(p[place])))
    adjusted = holm([p for *_, p in effects])
    return tuple(
        Effect(*effect, adjusted_p=value) for effect, value in zip(effects, adjusted, strict=True)
    )
