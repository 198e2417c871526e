"""Effect on T, G and A of striking out reviewed variants (paraphrases, typos, translations): each
by itself, and the worst few.

Striking one changes its item's rates, or leaves the item undefined when only the base is left; then
the item leaves the mean.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd

from flipcore.core.errors import BadInput
from flipcore.core.wordings import NOUNS, PARAPHRASE
from flipcore.stats.base.resample import SLACK
from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.decomposition import item_rates, quantities

QUANTITIES = ("T", "G", "A")
MOST_AN_ITEM = 5
WORST = 2.0  # above any T, G or A, so that the first step keeps as many items defined as it can
Place = tuple[str, str]  # item, variant


def moved_by_all(
    readouts: pd.DataFrame, materials: Mapping[str, Mapping[Place, str]]
) -> dict[str, float]:
    """Return `moved_by_each` of all axes in `materials`, each by the flip rate of its axis; a pair
    belongs to one axis."""
    moved: dict[str, float] = {}
    for axis, axis_materials in materials.items():
        moved |= moved_by_each(readouts, axis_materials, axis)
    return moved


def moved_by_each(
    readouts: pd.DataFrame, materials: Mapping[Place, str], axis: str = PARAPHRASE
) -> dict[str, float]:
    """Map each pair to how far the mean flip rate T of the axis moves without it: the largest
    |change| over models and extractors.

    `readouts` as `store.queries.readouts` gives them, `materials` (item, variant) -> pair.
    """
    moved = dict.fromkeys(materials.values(), 0.0)
    frame = readouts[readouts["axis"] == axis]
    for (_, extractor), rows in frame.groupby(["model", "extractor"], sort=False):
        rates = _patterns(rows, list(materials), str(extractor), str(extractor), axis)
        all_rates = rates.values[()][:, 0]
        for pattern, values in rates.values.items():
            for place, item in enumerate(rates.names):
                for variant in rates.struck(item, pattern):
                    pair = materials[item, variant]
                    # The largest over models and extractors: it is enough that one rate depends on
                    # the pair.
                    moved[pair] = max(moved[pair], _change(all_rates, place, values[place, 0]))
    return moved


def _change(rates: np.ndarray, place: int, value: float) -> float:
    """Return |mean with `value` at one place - mean| over defined items; 0 where undefined."""
    n, total, replaced = int((~np.isnan(rates)).sum()), float(np.nansum(rates)), rates[place]
    without, n_without = (total - replaced, n - 1) if not math.isnan(replaced) else (total, n)
    after, n_after = (
        (without + value, n_without + 1) if not math.isnan(value) else (without, n_without)
    )
    return abs(after / n_after - total / n) if n and n_after else 0.0


@dataclass(frozen=True)
class _Rates:
    """`values[pattern]` are (items, 3) T, G and A when in each item the paraphrases of these ranks
    are struck out."""

    names: list[str]
    ranked: Mapping[str, list[str]]
    values: dict[tuple[int, ...], np.ndarray]

    def struck(self, item: str, pattern: tuple[int, ...]) -> list[str]:
        """The variants of an item that a pattern strikes; empty where the item has too few."""
        names = self.ranked.get(item, [])
        if any(rank >= len(names) for rank in pattern):
            return []
        return [names[rank] for rank in pattern]


def _patterns(
    rows: pd.DataFrame,
    struck: Sequence[Place],
    extractor: str,
    reference: str,
    axis: str,
    most: int = 1,
) -> _Rates:
    """Compute the rates under each pattern of at most `most` of the paraphrases in `struck`, ranked
    within their item."""
    present = set(zip(rows["item_id"], rows["variant"], strict=True))
    ranked: dict[str, list[str]] = {}
    for item, variant in struck:
        if (item, variant) in present:
            ranked.setdefault(item, []).append(variant)
    deepest = max(map(len, ranked.values()), default=0)
    if deepest > MOST_AN_ITEM and most > 1:
        raise BadInput(
            f"An item has {deepest} {NOUNS[axis][1]} without a verdict; bounds are computed for "
            f"at most {MOST_AN_ITEM}. Review some of them first."
        )
    rates = _Rates(list(dict.fromkeys(rows["item_id"])), ranked, {})
    for size in range(min(most, deepest) + 1):
        for pattern in combinations(range(deepest), size):
            # All items are struck at once: an item's rates depend on its own strikes alone, so the
            # patterns of all items cost no more than those of the item with the most variants.
            strikes = set()
            for item, names in ranked.items():
                strikes |= {(item, names[rank]) for rank in pattern if rank < len(names)}
            rates.values[pattern] = _values(rows, strikes, extractor, reference, axis, rates.names)
    return rates


def _values(
    rows: pd.DataFrame,
    strikes: Collection[Place],
    extractor: str,
    reference: str,
    axis: str,
    items: Sequence[str],
) -> np.ndarray:
    keys = zip(rows["item_id"], rows["variant"], strict=True)
    # Bounds go by item, whatever items share.
    coded = replace(coded_answers(rows[[key not in strikes for key in keys]]), families=None)
    row_of = {item: row for row, item in enumerate(coded.items)}
    values = quantities(item_rates(coded, axis, extractor, reference).values, *QUANTITIES)
    undefined = [math.nan] * len(QUANTITIES)
    return np.array([values[row_of[item]] if item in row_of else undefined for item in items])


def extreme_strikes(
    readouts: pd.DataFrame,
    unreviewed: Sequence[Place],
    n_bad: int,
    extractor: str,
    reference: str,
    axis: str = PARAPHRASE,
) -> dict[str, tuple[set[Place], set[Place]]]:
    """Return for T, G and A the `n_bad` of the `unreviewed` paraphrases that leave the mean
    smallest and largest when struck out.

    `readouts` are those of one model. Exact: a mean over the items that stay defined is a ratio, so
    Dinkelbach's iteration over a knapsack of n_bad strikes. Raises BadInput for more strikes than
    paraphrases.
    """
    rows = readouts[readouts["axis"] == axis]
    rates = _patterns(rows, unreviewed, extractor, reference, axis, MOST_AN_ITEM)
    n = sum(map(len, rates.ranked.values()))
    if not 0 <= n_bad <= n:
        raise BadInput(f"{n_bad} {NOUNS[axis][1]} cannot be struck out of {n}.")
    return {
        name: (_extreme(rates, column, n_bad, 1), _extreme(rates, column, n_bad, -1))
        for column, name in enumerate(QUANTITIES)
    }


def _extreme(rates: _Rates, column: int, n_bad: int, sign: int) -> set[Place]:
    """Return the n_bad strikes that minimise sign * mean over the items that stay defined."""
    options = []
    for i, item in enumerate(rates.names):
        options.append(
            [
                (len(pattern), sign * values[i, column], pattern)
                for pattern, values in rates.values.items()
                if not pattern or rates.struck(item, pattern)
            ]
        )
    level = WORST
    selection: list = []
    # Each step is a mean that can be had and is smaller than the last, so the steps are finite.
    while True:
        candidates = _knapsack(options, n_bad, level)
        numbers = [value for _, value, _ in candidates if not math.isnan(value)]
        if selection and (not numbers or sum(numbers) / len(numbers) >= level - SLACK):
            break
        selection, level = candidates, sum(numbers) / len(numbers) if numbers else -math.inf
        if not numbers:
            break
    strikes: set[Place] = set()
    for item, (_, _, pattern) in zip(rates.names, selection, strict=True):
        strikes |= {(item, variant) for variant in rates.struck(item, pattern)}
    return strikes


def _knapsack(options: Sequence[Sequence[tuple]], n_bad: int, level: float) -> list[tuple]:
    """Choose one option per item, their costs summing to n_bad, with the least sum of (value -
    level) over defined values."""
    best = np.full(n_bad + 1, math.inf)
    best[0] = 0.0
    picks = np.zeros((len(options), n_bad + 1), dtype=int)
    for i, row in enumerate(options):
        trials = np.full((len(row), n_bad + 1), math.inf)
        for k, (cost, value, _) in enumerate(row):
            if cost <= n_bad:
                # An item that is left undefined leaves the mean, so it adds nothing to the ratio's
                # parts.
                worth = 0.0 if math.isnan(value) else value - level
                trials[k, cost:] = best[: n_bad + 1 - cost] + worth
        picks[i] = trials.argmin(axis=0)
        best = trials.min(axis=0)
    selection, budget = [], n_bad
    for i in range(len(options) - 1, -1, -1):
        selection.append(options[i][picks[i, budget]])
        budget -= selection[-1][0]
    return selection[::-1]
