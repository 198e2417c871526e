"""Effect on T, G and A of excluding reviewed variants (paraphrases, typos, translations): of each
one alone, and of the few whose exclusion changes the mean most.

Excluding a variant changes the rates of its item. If only the base prompt remains, the item has no
rates and is left out of the mean.
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
MAX_PER_ITEM = 5
# Above any T, G or A, so the first step keeps as many items defined as possible.
START_MEAN = 2.0
ItemVariant = tuple[str, str]  # (item id, variant)
Pattern = tuple[int, ...]  # ranks, within an item, of the variants that are excluded
Option = tuple[int, float, Pattern]  # (number of excluded variants, value, pattern) of an item


def moved_by_all(
    readouts: pd.DataFrame, pair_ids: Mapping[str, Mapping[ItemVariant, str]]
) -> dict[str, float]:
    """Return `moved_by_each` for all axes. `pair_ids` is axis -> (item, variant) -> pair id; a
    pair belongs to one axis."""
    moved: dict[str, float] = {}
    for axis, axis_pair_ids in pair_ids.items():
        moved |= moved_by_each(readouts, axis_pair_ids, axis)
    return moved


def moved_by_each(
    readouts: pd.DataFrame, pair_ids: Mapping[ItemVariant, str], axis: str = PARAPHRASE
) -> dict[str, float]:
    """Return pair id -> how far the mean flip rate T of the axis moves without this pair, as the
    largest |change| over models and extractors.

    `readouts` are those of `store.queries.readouts`, `pair_ids` is (item, variant) -> pair id.
    """
    moved = dict.fromkeys(pair_ids.values(), 0.0)
    frame = readouts[readouts["axis"] == axis]
    for (_, extractor), rows in frame.groupby(["model", "extractor"], sort=False):
        rates = _rates_by_pattern(rows, list(pair_ids), str(extractor), str(extractor), axis)
        all_rates = rates.values[()][:, 0]
        for pattern, values in rates.values.items():
            for row, item in enumerate(rates.items):
                for variant in rates.excluded(item, pattern):
                    pair = pair_ids[item, variant]
                    moved[pair] = max(moved[pair], _change(all_rates, row, values[row, 0]))
    return moved


def _change(rates: np.ndarray, row: int, value: float) -> float:
    """Return how far the mean of the defined rates moves if rates[row] becomes `value`; 0 if there
    is no mean before or after."""
    n, total = int((~np.isnan(rates)).sum()), float(np.nansum(rates))
    n_changed, total_changed = n, total
    if not math.isnan(rates[row]):
        n_changed, total_changed = n_changed - 1, total_changed - rates[row]
    if not math.isnan(value):
        n_changed, total_changed = n_changed + 1, total_changed + value
    return abs(total_changed / n_changed - total / n) if n and n_changed else 0.0


@dataclass(frozen=True)
class _Rates:
    """Rates of `items` under all patterns. `variants` is item -> its variants in order of rank;
    `values[pattern]` is (items, 3) T, G and A without the variants of these ranks."""

    items: list[str]
    variants: Mapping[str, list[str]]
    values: dict[Pattern, np.ndarray]

    def excluded(self, item: str, pattern: Pattern) -> list[str]:
        """Return the variants of an item that a pattern excludes; empty if the item has too few
        variants for the pattern."""
        names = self.variants.get(item, [])
        if any(rank >= len(names) for rank in pattern):
            return []
        return [names[rank] for rank in pattern]


def _rates_by_pattern(
    rows: pd.DataFrame,
    candidates: Sequence[ItemVariant],
    extractor: str,
    reference: str,
    axis: str,
    max_excluded: int = 1,
) -> _Rates:
    """Compute the rates under all patterns that exclude at most `max_excluded` of an item's
    variants in `candidates`."""
    present = set(zip(rows["item_id"], rows["variant"], strict=True))
    variants: dict[str, list[str]] = {}
    for item, variant in candidates:
        if (item, variant) in present:
            variants.setdefault(item, []).append(variant)
    n_ranks = max(map(len, variants.values()), default=0)
    if n_ranks > MAX_PER_ITEM and max_excluded > 1:
        raise BadInput(
            f"An item has {n_ranks} {NOUNS[axis][1]} without a verdict; bounds are computed for "
            f"at most {MAX_PER_ITEM}. Review some of them first."
        )
    rates = _Rates(list(dict.fromkeys(rows["item_id"])), variants, {})
    for size in range(min(max_excluded, n_ranks) + 1):
        for pattern in combinations(range(n_ranks), size):
            # One call per pattern serves all items, because the rates of an item depend on its own
            # variants only.
            excluded = set()
            for item, names in variants.items():
                excluded |= {(item, names[rank]) for rank in pattern if rank < len(names)}
            rates.values[pattern] = _rates_without(
                rows, excluded, extractor, reference, axis, rates.items
            )
    return rates


def _rates_without(
    rows: pd.DataFrame,
    excluded: Collection[ItemVariant],
    extractor: str,
    reference: str,
    axis: str,
    items: Sequence[str],
) -> np.ndarray:
    """Return (items, 3) T, G and A without the `excluded` variants; NaN where undefined."""
    keys = zip(rows["item_id"], rows["variant"], strict=True)
    # Families matter for intervals only, and here only rates per item are needed.
    coded = replace(coded_answers(rows[[key not in excluded for key in keys]]), families=None)
    row_of = {item: row for row, item in enumerate(coded.items)}
    values = quantities(item_rates(coded, axis, extractor, reference).values, *QUANTITIES)
    undefined = [math.nan] * len(QUANTITIES)
    return np.array([values[row_of[item]] if item in row_of else undefined for item in items])


def extreme_exclusions(
    readouts: pd.DataFrame,
    unreviewed: Sequence[ItemVariant],
    n_bad: int,
    extractor: str,
    reference: str,
    axis: str = PARAPHRASE,
) -> dict[str, tuple[set[ItemVariant], set[ItemVariant]]]:
    """Return for T, G and A which `n_bad` of the `unreviewed` variants make the mean smallest and
    largest if they are excluded.

    `readouts` are those of one model. The result is exact. The mean over the items that stay
    defined is a ratio, which Dinkelbach's iteration minimizes; each step is a knapsack problem with
    n_bad exclusions. Raises BadInput if there are fewer than `n_bad` variants, or too many of one
    item.
    """
    rows = readouts[readouts["axis"] == axis]
    rates = _rates_by_pattern(rows, unreviewed, extractor, reference, axis, MAX_PER_ITEM)
    n = sum(map(len, rates.variants.values()))
    if not 0 <= n_bad <= n:
        raise BadInput(f"{n_bad} {NOUNS[axis][1]} cannot be struck out of {n}.")
    return {
        name: (_extreme(rates, column, n_bad, 1), _extreme(rates, column, n_bad, -1))
        for column, name in enumerate(QUANTITIES)
    }


def _extreme(rates: _Rates, column: int, n_bad: int, sign: int) -> set[ItemVariant]:
    """Return the n_bad exclusions that minimize sign * mean over the items that stay defined."""
    options: list[list[Option]] = []
    for row, item in enumerate(rates.items):
        item_options = []
        for pattern, values in rates.values.items():
            if not pattern or rates.excluded(item, pattern):
                item_options.append((len(pattern), sign * values[row, column], pattern))
        options.append(item_options)
    mean = START_MEAN
    selection: list[Option] = []
    # Each step reaches a smaller mean than the last, and there are finitely many means.
    while True:
        candidates = _knapsack(options, n_bad, mean)
        defined = [value for _, value, _ in candidates if not math.isnan(value)]
        if selection and (not defined or sum(defined) / len(defined) >= mean - SLACK):
            break
        selection, mean = candidates, sum(defined) / len(defined) if defined else -math.inf
        if not defined:
            break
    excluded: set[ItemVariant] = set()
    for item, (_, _, pattern) in zip(rates.items, selection, strict=True):
        excluded |= {(item, variant) for variant in rates.excluded(item, pattern)}
    return excluded


def _knapsack(options: Sequence[Sequence[Option]], n_bad: int, mean: float) -> list[Option]:
    """Choose one option per item such that n_bad variants are excluded in sum. Minimize the sum of
    (value - mean) over defined values."""
    # best[k]: least sum over the items so far, with k exclusions.
    best = np.full(n_bad + 1, math.inf)
    best[0] = 0.0
    picks = np.zeros((len(options), n_bad + 1), dtype=int)
    for i, item_options in enumerate(options):
        sums = np.full((len(item_options), n_bad + 1), math.inf)
        for j, (n_excluded, value, _) in enumerate(item_options):
            if n_excluded <= n_bad:
                # An item that becomes undefined is left out of the mean, so it adds nothing.
                term = 0.0 if math.isnan(value) else value - mean
                sums[j, n_excluded:] = best[: n_bad + 1 - n_excluded] + term
        picks[i] = sums.argmin(axis=0)
        best = sums.min(axis=0)
    selection, budget = [], n_bad
    # Back from the last item, to find the options that led to best[n_bad].
    for i in range(len(options) - 1, -1, -1):
        option = options[i][picks[i, budget]]
        selection.append(option)
        n_excluded, _, _ = option
        budget -= n_excluded
    return selection[::-1]
