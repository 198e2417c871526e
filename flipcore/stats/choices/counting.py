"""Count all specifications of a decision at once, from sums over items or clusters.

Some choices decide the values of items (extractor, unread, reruns, prompt); their combinations are
states. Other choices decide which items count; their combinations are sets. A specification is one
state on one set. The values and counts of all states are two matrices, and a set multiplies them
from the left by its weights. So 480 specifications of 12,000 items need about a dozen products, and
tests are computed for whole sets.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from flipcore.stats.base.estimate import MIN_CLAIM_FAMILIES, MIN_N, Estimate
from flipcore.stats.base.families import FamilyMeans
from flipcore.stats.base.guarded import ClusterSums, GuardedSide, ItemSums
from flipcore.stats.base.multiplicity import holm
from flipcore.stats.choices.choice import (
    CUT,
    UNREAD,
    WEIGHTS,
    Choice,
    are_apart,
    defensible,
    limit_specifications,
    selected,
    setting_of,
    specifications,
)
from flipcore.stats.choices.curve import Curve, Effect, SideTest, Tests
from flipcore.stats.choices.material import ALIKE, ITEM_CHOICES, Material, coarsest_units
from flipcore.stats.choices.shares import ShareSide

LEVEL = 0.95
TOO_FEW = f"fewer than {MIN_N} items or {MIN_CLAIM_FAMILIES} clusters count"
MIN_MOVERS = 3  # effective number of units that an effect must come from to have an interval


@dataclass(frozen=True, eq=False)
class _States:
    """`values` (items, states), 0 where an item is left out; `counted` is 1 where it counts, else
    0."""

    values: np.ndarray
    counted: np.ndarray

    @cached_property
    def won(self) -> np.ndarray:
        """(items, states) positive values, else 0."""
        return np.maximum(self.values, 0.0)

    @cached_property
    def lost(self) -> np.ndarray:
        """(items, states) negative values without their sign, else 0."""
        return np.maximum(-self.values, 0.0)


@dataclass(frozen=True, eq=False)
class _Part:
    """The k specifications of one set of items.

    rows : (k,) numbers of the specifications.
    columns : (k,) the state of each.
    weights : (items,), or (items, k) if they differ between states. Items that do not count have
        weight 0; the weights of a specification add up to its number of items.
    """

    rows: np.ndarray
    columns: np.ndarray
    weights: np.ndarray

    def weighted(self, matrix: np.ndarray) -> np.ndarray:
        """Return the columns of `matrix` (items, states) for these specifications, times the
        weights: (items, k)."""
        weights = self.weights[:, None] if self.weights.ndim == 1 else self.weights
        return weights * matrix[:, self.columns]


def count(material: Material, choices: Sequence[Choice] | None = None) -> Curve:
    """Count `material` under all combinations of `choices`; None means its defensible choices."""
    varied, note = limit_specifications(selected(material.choices) if choices is None else choices)
    curve = replace(_count(material, varied), note=note)
    ends = material.ends()
    if ends is None:
        return curve
    # How unread answers count makes no difference where all of them are wrong or right.
    kept_choices = [choice for choice in varied if choice.name not in (UNREAD, CUT)]
    low, high = (_count(end, kept_choices) for end in ends)
    kept = [column for column, choice in enumerate(varied) if choice in kept_choices]
    rows = np.zeros(len(curve), dtype=int)
    if kept_choices:
        sizes = [len(choice.options) for choice in kept_choices]
        rows = np.ravel_multi_index(tuple(curve.options[:, kept].T), sizes)
    return replace(curve, lowest=low.estimate[rows], highest=high.estimate[rows], ends=(low, high))


def _count(material: Material, varied: Sequence[Choice]) -> Curve:
    """Count `material` under all combinations of `varied`, with unread answers as each says."""
    options = specifications(varied)
    declared = {choice.name: choice.options[0].name for choice in material.choices}
    settings = [declared | setting_of(varied, row) for row in options]
    states, parts = _parts(material, settings)
    # Results come part by part; `order` brings them into the order of the specifications.
    order = np.argsort(np.concatenate([part.rows for part in parts]))
    units = np.unique(material.clusters, return_inverse=True)[1]
    effect_units = coarsest_units(material, varied)
    tests, estimates = [], []
    for part in parts:
        sums = _sums(states, part, units)
        tests.append(_both_sides(sums, material.bounds))
        estimates.append(_estimates(states, part, sums))
    estimate, se, df, n_units, n_items = np.concatenate(estimates, axis=1)[:, order]
    # "Survives every choice" is about the defensible ways, so its units are the coarsest that these
    # ways leave out.
    survival_units = coarsest_units(material, defensible(varied))
    coarse_tests = tests
    if survival_units.max(initial=-1) != units.max(initial=-1):
        coarse_tests = []
        for part in parts:
            coarse_tests.append(_both_sides(_sums(states, part, survival_units), material.bounds))
    # A choice that is not varied has its declared option, which may be closed.
    varied_names = {choice.name for choice in varied}
    fixed = [choice for choice in material.choices if choice.name not in varied_names]
    why_fixed_closed = _why_closed(fixed, np.zeros(len(fixed), dtype=int))
    closed = [why_fixed_closed or _why_closed(varied, row) for row in options]
    for row in np.flatnonzero(np.isnan(df)):
        closed[row] = closed[row] or TOO_FEW
    is_open = np.array([not reason for reason in closed])
    compared, contrasts = _contrasts(varied, options, is_open)
    # Closed specifications have weight 0 in contrasts, but 0 times NaN is NaN.
    changes = contrasts.T @ np.nan_to_num(estimate)
    per_unit, sizes = _unit_differences(states, parts, contrasts, estimate, effect_units)
    return Curve(
        choices=tuple(varied),
        options=options,
        estimate=estimate,
        se=se,
        df=df,
        n_units=n_units.astype(int),
        n_items=n_items.astype(int),
        closed=tuple(closed),
        tests=Tests(tests, order),
        coarse_tests=Tests(coarse_tests, order),
        # Without the units of items that have no value in any state.
        n_coarse=len(np.unique(survival_units[states.counted.any(axis=1)])),
        effects=_effects(compared, changes, per_unit, sizes),
        bounds=material.bounds,
        lowest=estimate,
        highest=estimate,
    )


def _parts(material: Material, settings: Sequence[dict[str, str]]) -> tuple[_States, list[_Part]]:
    """Return the values of all states, and the specifications grouped by set of items."""
    rows_of_set: dict[tuple[str, ...], list[int]] = {}
    column_of_state: dict[tuple[str, ...], int] = {}
    values: list[np.ndarray] = []
    columns = []
    for row, setting in enumerate(settings):
        state = tuple(setting[name] for name in material.value_choices if name in setting)
        if state not in column_of_state:
            column_of_state[state] = len(values)
            values.append(material.values(setting))
        columns.append(column_of_state[state])
        item_set = tuple(setting[name] for name in ITEM_CHOICES if name in setting)
        rows_of_set.setdefault(item_set, []).append(row)
    matrix = np.column_stack(values)
    states = _States(np.nan_to_num(matrix), (~np.isnan(matrix)).astype(float))
    parts = []
    for rows in rows_of_set.values():
        setting = settings[rows[0]]
        weights = material.is_counted(setting).astype(float)
        part = _Part(np.array(rows), np.array(columns)[rows], weights)
        if setting.get(WEIGHTS) == ALIKE:
            weights = _category_weights(part.weighted(states.counted), material.categories)
            part = replace(part, weights=weights)
        parts.append(part)
    return states, parts


def _category_weights(counted: np.ndarray, categories: np.ndarray) -> np.ndarray:
    """Return (items, k) weights with which all categories that have items weigh the same."""
    sizes = _summing_matrix(categories) @ counted
    n_present = np.maximum((sizes > 0).sum(axis=0), 1)
    per_item = counted.sum(axis=0) / n_present / np.maximum(sizes, 1.0)
    return counted * per_item[categories]


def _summing_matrix(units: np.ndarray, weights: np.ndarray | None = None) -> Any:
    """Return the sparse matrix (units, items) that sums items by unit, with optional item
    weights."""
    from scipy.sparse import csr_array

    entries = np.ones(len(units)) if weights is None else weights
    return csr_array((entries, (units, np.arange(len(units)))))


def _sums(states: _States, part: _Part, units: np.ndarray) -> ItemSums | ClusterSums:
    """Return the sums of all specifications of a set. `ItemSums` are enough if each item is a unit
    and items have equal weights."""
    is_single = int(units.max(initial=-1)) + 1 == len(units)
    is_weighted = part.weights.ndim > 1
    by_unit = _summing_matrix(units, None if is_weighted else part.weights)

    def total(matrix: np.ndarray) -> np.ndarray:
        """Return (k,) sums of `matrix` (items, states) over items."""
        if is_weighted:
            return part.weighted(matrix).sum(axis=0)
        # All states have the same weights, so each state is summed only once.
        return (part.weights @ matrix)[part.columns]

    def total_by_unit(matrix: np.ndarray) -> np.ndarray:
        """Return (units, k) sums of `matrix` (items, states) over the items of a unit."""
        if is_single:
            return part.weighted(matrix)
        if is_weighted:
            return by_unit @ part.weighted(matrix)
        return (by_unit @ matrix)[:, part.columns]

    squares_won, squares_lost = total(states.won**2), total(states.lost**2)
    if is_single and not is_weighted:
        return ItemSums(total(states.counted), total(states.values), squares_won + squares_lost)
    return ClusterSums(
        sizes=total_by_unit(states.counted),
        won=total_by_unit(states.won),
        lost=total_by_unit(states.lost),
        n_won=total_by_unit((states.won > 0).astype(float)),
        n_lost=total_by_unit((states.lost > 0).astype(float)),
        squares_won=squares_won,
        squares_lost=squares_lost,
    )


def _both_sides(
    sums: ItemSums | ClusterSums, bounds: tuple[float, float]
) -> tuple[SideTest, SideTest]:
    """Return the tests against the lower and the upper side: guarded ones of a difference, Wilson's
    of a score."""
    if bounds[0] < 0:
        # Weighted items are clusters of one item each, which is not clustering.
        is_clustered = isinstance(sums, ClusterSums) and bool((sums.sizes > 1).any())
        low, high = (
            GuardedSide.from_sums(sums, bounds, end, is_clustered=is_clustered) for end in bounds
        )
        return low, high
    return ShareSide.from_sums(sums, is_lower=True), ShareSide.from_sums(sums, is_lower=False)


def _estimates(states: _States, part: _Part, sums: ItemSums | ClusterSums) -> np.ndarray:
    """Return (5, k): estimate, standard error, degrees of freedom (NaN if too few items count),
    number of units and number of items."""
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
    """Return the (choice, option number) that can be compared with the declared option, and their
    contrasts (specifications, effects).

    A contrast is the mean difference over all equally defensible settings of the other choices for
    which both specifications are open.
    """
    is_apart = are_apart(choices, options)
    compared, contrasts = [], []
    sizes = [len(choice.options) for choice in choices]
    for column, choice in enumerate(choices):
        # Rows are in mixed radix: the next option of this choice is `step` rows further.
        step = math.prod(sizes[column + 1 :])
        for number in range(1, len(choice.options)):
            changed = np.flatnonzero(options[:, column] == number)
            declared = changed - number * step
            is_pair = is_open[changed] & is_open[declared] & ~is_apart[declared]
            if is_pair.any():
                contrast = np.zeros(len(options))
                contrast[changed[is_pair]] = 1 / is_pair.sum()
                contrast[declared[is_pair]] = -1 / is_pair.sum()
                compared.append((choice, number))
                contrasts.append(contrast)
    if not compared:
        return [], np.zeros((len(options), 0))
    return compared, np.column_stack(contrasts)


def _unit_differences(
    states: _States,
    parts: Sequence[_Part],
    contrasts: np.ndarray,
    estimate: np.ndarray,
    units: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the contribution of each unit to each effect (units, effects), and its number of items
    (units,). Units without a counted item are left out.

    Except for a constant, a mean is a sum over units of ψ = Σ w (x - mean) / Σ w.
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
    by_unit = _summing_matrix(units)
    sizes = by_unit @ is_counted.astype(float)
    return (by_unit @ per_item)[sizes > 0], sizes[sizes > 0]


def _effects(
    compared: Sequence[tuple[Choice, int]],
    changes: np.ndarray,
    per_unit: np.ndarray,
    sizes: np.ndarray,
) -> tuple[Effect, ...]:
    """Test effects by Student's t over units, with Holm's correction.

    The degrees of freedom are an effective number of units minus one. That number is the smaller of
    two: by the sizes of units, and (Σψ²)²/Σψ⁴, because an option may change few units.
    """
    if not compared:
        return ()
    from scipy.special import stdtr, stdtrit

    n_units = len(sizes)
    by_size = FamilyMeans(sizes[:, None], sizes[:, None])
    squares, fourth = (per_unit**2).sum(axis=0), (per_unit**4).sum(axis=0)
    n_movers = np.divide(squares**2, fourth, out=np.ones(len(compared)), where=fourth > 0)
    df = np.minimum(np.nan_to_num(by_size.df[0]), n_movers - 1)
    se = np.sqrt(squares * n_units / max(n_units - 1, 1))
    is_few = (
        (n_units < MIN_N) | (by_size.n_effective[0] < MIN_CLAIM_FAMILIES) | (n_movers < MIN_MOVERS)
    )
    is_changed = np.abs(changes) > 1e-12
    t = np.divide(np.abs(changes), se, out=np.zeros(len(compared)), where=se > 0)
    # 1e-9, because `stdtr` needs degrees of freedom above 0; such effects are `is_few`.
    p = np.where(is_changed, 2 * stdtr(np.maximum(df, 1e-9), -t), 1.0)
    p = np.where(is_changed & is_few, np.nan, p)
    half = np.where(is_few, np.nan, stdtrit(np.maximum(df, 1e-9), 0.5 + LEVEL / 2) * se)
    # If an option changes no unit at all, the interval is exactly [0, 0], however few units.
    half = np.where(is_changed | (se > 1e-12), half, 0.0)
    adjusted = holm(p.tolist())
    effects = []
    for i, (choice, number) in enumerate(compared):
        change = float(changes[i])
        low, high = change - half[i], change + half[i]
        method = "none" if math.isnan(low) else "t over units"
        estimate = Estimate(change, low, high, level=LEVEL, method=method, n=n_units, seed=None)
        effects.append(Effect(choice, number, estimate, float(p[i]), adjusted[i]))
    return tuple(effects)
