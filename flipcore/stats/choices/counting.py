"""All specifications of a decision at once, from sums over items or clusters.

A state is what makes the values of items (extractor, unread, reruns, prompt), a set is which items
count. A specification is one state on one set. Values and counts of all states are two matrices,
and a set multiplies them from the left, so that 480 specifications of 12,000 items need some dozen
products and no test is computed one by one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

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
from flipcore.stats.choices.material import ALIKE, Material, coarsest_units
from flipcore.stats.choices.shares import ShareSide

LEVEL = 0.95
FEWEST_MOVERS = 3  # units that make up an effect, for an interval of it


@dataclass(frozen=True, eq=False)
class _Part:
    """The specifications of one set: their `rows`, and `values` and `weights` (items, rows) of
    their items. An item that is left out weighs 0; weights add up to the number of items."""

    rows: np.ndarray
    values: np.ndarray
    weights: np.ndarray
    is_weighted: bool


def count(material: Material, choices: Sequence[Choice] | None = None) -> Curve:
    """Count `material` in every way that `choices` allow; by default its defensible ones."""
    kept, note = at_most(selected(material.choices) if choices is None else choices)
    options = specifications(kept)
    declared = {choice.name: choice.options[0].name for choice in material.choices}
    settings = [declared | setting_of(kept, row) for row in options]
    parts = _parts(material, settings)
    order = np.argsort(np.concatenate([part.rows for part in parts]))
    units = np.unique(material.clusters, return_inverse=True)[1]
    coarse = coarsest_units(units, material.categories, kept)
    tests, basics = [], []
    for part in parts:
        sums = _sums(part, units)
        tests.append(_both_sides(sums, material.bounds))
        basics.append(_basics(part, sums))
    estimate, se, df, n_units, n_items = np.concatenate(basics, axis=1)[:, order]
    coarse_tests = tests
    if coarse.max(initial=-1) != units.max(initial=-1):
        coarse_tests = [_both_sides(_sums(part, coarse), material.bounds) for part in parts]
    closed = []
    for row, setting in zip(options, settings, strict=True):
        closed.append(_why_closed(kept, row) or material.why_closed(setting))
    for place in np.flatnonzero(np.isnan(df)):
        closed[place] = closed[place] or (
            f"fewer than {MIN_N} items or {MIN_CLAIM_FAMILIES} clusters count"
        )
    is_open = np.array([not reason for reason in closed])
    effects = _effects(kept, options, is_open, parts, estimate, coarse)
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
        n_coarse=int(coarse.max(initial=-1)) + 1,
        effects=effects,
        bounds=material.bounds,
        note=note,
    )


def _parts(material: Material, settings: Sequence[dict[str, str]]) -> list[_Part]:
    by_set: dict[tuple[str, ...], list[int]] = {}
    columns: dict[tuple[str, ...], np.ndarray] = {}
    states = []
    for place, setting in enumerate(settings):
        state = tuple(setting[name] for name in material.value_choices if name in setting)
        if state not in columns:
            columns[state] = material.values(setting)
        states.append(state)
        key = tuple(setting[name] for name in material.item_choices if name in setting)
        by_set.setdefault(key, []).append(place)
    parts = []
    for places in by_set.values():
        setting = settings[places[0]]
        values = np.column_stack([columns[states[place]] for place in places])
        weights = material.kept(setting)[:, None] & ~np.isnan(values)
        is_weighted = setting.get(WEIGHTS) == ALIKE
        if is_weighted:
            weights = _alike(weights, material.categories)
        values = np.nan_to_num(values)
        parts.append(_Part(np.array(places), values, weights.astype(float), is_weighted))
    return parts


def _alike(counted: np.ndarray, categories: np.ndarray) -> np.ndarray:
    """(items, k) weights by which every category that has items weighs the same."""
    one_hot = np.zeros((int(categories.max(initial=-1)) + 1, len(categories)))
    one_hot[categories, np.arange(len(categories))] = 1.0
    sizes = one_hot @ counted
    n_present = np.maximum((sizes > 0).sum(axis=0), 1)
    per_item = counted.sum(axis=0) / n_present / np.maximum(sizes, 1.0)
    return np.where(counted, per_item[categories], 0.0)


def _sums(part: _Part, units: np.ndarray) -> ItemSums | ClusterSums:
    """Sums of all specifications of a set; weighted items are clusters of one."""
    values, weights = part.values, part.weights
    is_single = int(units.max(initial=-1)) + 1 == len(units)
    if is_single and not part.is_weighted:
        weighted = weights * values
        return ItemSums(weights.sum(axis=0), weighted.sum(axis=0), (weighted * values).sum(axis=0))
    won, lost = np.maximum(values, 0.0), np.maximum(-values, 0.0)

    def summed(numbers: np.ndarray) -> np.ndarray:
        return numbers if is_single else by_unit @ numbers

    if not is_single:
        from scipy.sparse import csr_array

        places = (units, np.arange(len(units)))
        by_unit = csr_array((np.ones(len(units)), places))
    return ClusterSums(
        sizes=summed(weights),
        won=summed(weights * won),
        lost=summed(weights * lost),
        n_won=summed(weights * (values > 0)),
        n_lost=summed(weights * (values < 0)),
        squares_won=(weights * won**2).sum(axis=0),
        squares_lost=(weights * lost**2).sum(axis=0),
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


def _basics(part: _Part, sums: ItemSums | ClusterSums) -> np.ndarray:
    """(5, k) estimate, se, df, numbers of units and of items."""
    n_items = (part.weights > 0).sum(axis=0)
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


def _effects(
    choices: Sequence[Choice],
    options: np.ndarray,
    is_open: np.ndarray,
    parts: Sequence[_Part],
    estimate: np.ndarray,
    units: np.ndarray,
) -> tuple[Effect, ...]:
    """Compare each option with the declared one of its choice, over the settings of all others.

    The difference of two specifications is a sum over units of what each adds to either mean,
    ψ = Σ w (x - mean) / Σ w, so the differences per unit have the variance of the effect. The
    degrees of freedom are the least of two effective numbers of units, less one: by size, and
    (Σψ²)²/Σψ⁴, because an option may move few of them.
    """
    places, contrasts = [], []
    for column, choice in enumerate(choices):
        settings_beside = np.delete(options, column, axis=1)
        for number in range(1, len(choice.options)):
            contrast = np.zeros(len(options))
            declared = np.flatnonzero((options[:, column] == 0) & is_open)
            twins = {settings_beside[place].tobytes(): place for place in declared}
            pairs = []
            for place in np.flatnonzero((options[:, column] == number) & is_open):
                twin = twins.get(settings_beside[place].tobytes())
                if twin is not None:
                    pairs.append((place, twin))
            for place, twin in pairs:
                contrast[place] += 1 / len(pairs)
                contrast[twin] -= 1 / len(pairs)
            if pairs:
                places.append((choice, number))
                contrasts.append(contrast)
    if not places:
        return ()
    matrix = np.column_stack(contrasts)
    per_item = np.zeros((len(units), len(places)))
    sizes = np.zeros(len(units))
    for part in parts:
        shares = part.weights / np.maximum(part.weights.sum(axis=0), 1e-9)
        centered = part.values - np.nan_to_num(estimate[part.rows])
        per_item += (shares * centered) @ matrix[part.rows]
        sizes = np.maximum(sizes, (part.weights > 0).any(axis=1))
    n_units = int(units.max(initial=-1)) + 1
    per_unit = np.zeros((n_units, len(places)))
    np.add.at(per_unit, units, per_item)
    unit_sizes = np.bincount(units, weights=sizes, minlength=n_units)
    changes = matrix.T @ np.nan_to_num(estimate)
    return _tested(places, changes, per_unit[unit_sizes > 0], unit_sizes[unit_sizes > 0])


def _tested(
    places: Sequence[tuple[Choice, int]],
    changes: np.ndarray,
    per_unit: np.ndarray,
    sizes: np.ndarray,
) -> tuple[Effect, ...]:
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
