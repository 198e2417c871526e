"""The questions of a study answered side by side for several models: flips, memory and
inflation."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from flipcore.claims.claim import Claim
from flipcore.extractors import title_of
from flipcore.reports.flips import surface_claim
from flipcore.reports.memory import MemoryTest
from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.decomposition import Decomposition, decompositions
from flipcore.stats.flips.pooled import across_axes
from flipcore.stats.flips.surface import surface

MOST_ROWS = 60  # a panel has no more: several items share one, which is their mean


@dataclass(frozen=True, eq=False)
class FlipPanels:
    """`rates[model]` (rows, axes) of one extractor on the same rows, those that flip most over all
    models first; NaN where nothing is to be compared. `items_a_row` items share a row."""

    columns: tuple[str, ...]
    rates: Mapping[str, np.ndarray]
    n_items: int
    items_a_row: int

    @property
    def is_measured(self) -> bool:
        """Tell whether any flip rate is defined: none is where each question was asked once."""
        return any(not np.isnan(rates).all() for rates in self.rates.values())


def flip_panels(frame: pd.DataFrame, extractor: str) -> FlipPanels:
    """Small multiples of the flip surface: one panel per model that was read by `extractor`."""
    items = list(frame["item_id"].unique())
    models = list(dict.fromkeys(frame.loc[frame["extractor"] == extractor, "model"]))
    cells = {model: surface(frame[frame["model"] == model], extractor) for model in models}
    all_columns = chain.from_iterable(part.columns for part in cells.values())
    columns = list(dict.fromkeys(all_columns))
    all_rates = np.full((len(models), len(items), len(columns)), np.nan)
    for m, surface_cells in enumerate(cells.values()):
        rows = [items.index(item) for item in surface_cells.items]
        places = [columns.index(name) for name in surface_cells.columns]
        all_rates[m][np.ix_(rows, places)] = surface_cells.rate
    means = _mean(_mean(all_rates, 2), 0)
    # Rows in which nothing is compared stand last.
    all_rates = all_rates[:, np.argsort(-np.nan_to_num(means, nan=-1.0), kind="stable")]
    step = max(1, math.ceil(len(items) / MOST_ROWS))
    binned = [_mean(all_rates[:, start : start + step], 1) for start in range(0, len(items), step)]
    rates = np.stack(binned, axis=1) if binned else all_rates
    return FlipPanels(tuple(columns), dict(zip(models, rates, strict=True)), len(items), step)


def _mean(values: np.ndarray, axis: int) -> np.ndarray:
    """The mean of what is defined; NaN where nothing is."""
    # numpy's nanmean warns of rows without a value.
    n = (~np.isnan(values)).sum(axis=axis)
    return np.divide(np.nansum(values, axis=axis), n, out=np.full(n.shape, np.nan), where=n > 0)


@dataclass(frozen=True, eq=False)
class ModelFlips:
    """One model's flips over all axes under one extractor, and what may be said of them."""

    model: str
    cell: Decomposition
    claim: Claim

    @property
    def is_measured(self) -> bool:
        """Tell whether its flip rate is defined."""
        return not math.isnan(self.cell.T.value)


def flips_by_model(
    frame: pd.DataFrame,
    reference: str,
    closed_gates: Mapping[str, str] | None = None,
    temperatures: Mapping[str, float] | None = None,
) -> list[ModelFlips]:
    """One row per model and extractor, over all axes whose gate is open; a model that lacks the
    reference extractor has none."""
    rows = []
    for model in frame["model"].unique():
        part = frame[frame["model"] == model]
        answers = coded_answers(part)
        # Nothing stands in for a reference that a model lacks.
        if reference not in answers.extractors:
            continue
        all_cells = decompositions(answers, reference, tests=False)
        cells = [cell for cell in all_cells if cell.axis not in (closed_gates or {})]
        heat = (temperatures or {}).get(model)
        for cell in across_axes(cells):
            claim = surface_claim(
                part, cell.extractor, reference, closed_gates=closed_gates, temperature=heat
            )
            # The place of a row is its model here, not its axis.
            rows.append(ModelFlips(model, replace(cell, axis=model), claim))
    return rows


def flip_rows(flips: Sequence[ModelFlips]) -> list[dict[str, Any]]:
    """The rows of a page's table."""
    rows = []
    for model_flips in flips:
        cell, compared, reference = model_flips.cell, "reference", "reference"
        if not cell.is_reference:
            compared, reference = cell.A_plus.text_percent(), cell.A_minus.text_percent()
        row = {
            "model": model_flips.model,
            "extractor": title_of(cell.extractor),
            "items": cell.n_items,
            "T": cell.T.text_percent(),
            "compared alone": compared,
            "both": cell.both.text_percent(),
            "reference alone": reference,
            "noise floor": cell.W.text_percent(),
            "verdict": model_flips.claim.word,
        }
        rows.append(row)
    return rows


def memory_rows(memory: Mapping[str, Sequence[MemoryTest]]) -> list[dict[str, Any]]:
    """One row per model and detector with its verdict, for every model that has any."""
    rows = []
    for model, tests in memory.items():
        for test in tests:
            row = {"model": model, "items": test.items, "detector": test.detector}
            rows.append(row | {"verdict": test.claim.word, "in words": test.claim.text})
    return rows
