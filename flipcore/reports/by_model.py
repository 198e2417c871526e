"""Flips and memory of several models side by side."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from flipcore.claims.claim import Claim
from flipcore.extractors import title_of
from flipcore.reports.flips import map_claim
from flipcore.reports.memory import MemoryTest
from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.decomposition import Decomposition, decompositions
from flipcore.stats.flips.pooled import across_axes
from flipcore.stats.flips.surface import surface

MAX_ROWS = 60  # most rows of a panel; beyond it a row is the mean of several items


@dataclass(frozen=True, eq=False)
class FlipPanels:
    """Flip rates of several models under one extractor.

    `rates` is model -> (rows, columns), NaN where nothing is compared. All models have the same
    rows, those that flip most over all models first. A row is the mean of `items_a_row` items.
    `means` is model -> (columns,), the mean over all items.
    """

    columns: tuple[str, ...]
    rates: Mapping[str, np.ndarray]
    means: Mapping[str, np.ndarray]
    n_items: int
    items_a_row: int

    @property
    def is_measured(self) -> bool:
        """False if no flip rate is defined, because each question was asked once."""
        return any(not np.isnan(rates).all() for rates in self.rates.values())


def flip_panels(frame: pd.DataFrame, extractor: str) -> FlipPanels:
    """Return the flip rates of each model that `extractor` read, over all items and columns."""
    items = list(frame["item_id"].unique())
    models = list(dict.fromkeys(frame.loc[frame["extractor"] == extractor, "model"]))
    cells = {model: surface(frame[frame["model"] == model], extractor) for model in models}
    all_columns = chain.from_iterable(part.columns for part in cells.values())
    columns = list(dict.fromkeys(all_columns))
    all_rates = np.full((len(models), len(items), len(columns)), np.nan)
    for m, surface_cells in enumerate(cells.values()):
        rows = [items.index(item) for item in surface_cells.items]
        column_indices = [columns.index(name) for name in surface_cells.columns]
        all_rates[m][np.ix_(rows, column_indices)] = surface_cells.rate
    item_means = _mean(_mean(all_rates, 2), 0)
    # Rows in which nothing is compared come last.
    all_rates = all_rates[:, np.argsort(-np.nan_to_num(item_means, nan=-1.0), kind="stable")]
    step = max(1, math.ceil(len(items) / MAX_ROWS))
    binned = [_mean(all_rates[:, start : start + step], 1) for start in range(0, len(items), step)]
    rates = np.stack(binned, axis=1) if binned else all_rates
    return FlipPanels(
        columns=tuple(columns),
        rates=dict(zip(models, rates, strict=True)),
        means=dict(zip(models, _mean(all_rates, 1), strict=True)),
        n_items=len(items),
        items_a_row=step,
    )


def _mean(values: np.ndarray, axis: int) -> np.ndarray:
    """Return the mean over an axis without NaN; NaN where all values are."""
    # Unlike numpy's nanmean, this does not warn of rows without a value.
    n = (~np.isnan(values)).sum(axis=axis)
    return np.divide(np.nansum(values, axis=axis), n, out=np.full(n.shape, np.nan), where=n > 0)


@dataclass(frozen=True, eq=False)
class ModelFlips:
    """One model's flips over all axes under one extractor, with the claim on them."""

    model: str
    cell: Decomposition
    claim: Claim

    @property
    def is_measured(self) -> bool:
        """True if the flip rate is defined."""
        return not math.isnan(self.cell.T.value)


def flips_by_model(
    frame: pd.DataFrame,
    reference: str,
    closed_gates: Mapping[str, str] | None = None,
    temperatures: Mapping[str, float] | None = None,
) -> list[ModelFlips]:
    """Return the flips of each model and extractor over all axes whose gate is open. A model that
    lacks the reference extractor is left out."""
    rows = []
    for model in frame["model"].unique():
        part = frame[frame["model"] == model]
        answers = coded_answers(part)
        # No other extractor may replace a reference that a model lacks.
        if reference not in answers.extractors:
            continue
        all_cells = decompositions(answers, reference, tests=False)
        cells = [cell for cell in all_cells if cell.axis not in (closed_gates or {})]
        temperature = (temperatures or {}).get(model)
        for cell in across_axes(cells):
            claim = map_claim(
                part, cell.extractor, reference, closed_gates=closed_gates, temperature=temperature
            )
            # The figure labels each row by its axis, which is the model here.
            rows.append(ModelFlips(model, replace(cell, axis=model), claim))
    return rows


def flip_rows(flips: Sequence[ModelFlips]) -> list[dict[str, Any]]:
    """Return one table row per model and extractor."""
    rows = []
    for model_flips in flips:
        cell, compared_alone, reference_alone = model_flips.cell, "reference", "reference"
        if not cell.is_reference:
            compared_alone = cell.A_plus.text_percent()
            reference_alone = cell.A_minus.text_percent()
        row = {
            "model": model_flips.model,
            "extractor": title_of(cell.extractor),
            "items": cell.n_items,
            "pairs that flip": cell.T.text_percent(),
            "compared alone": compared_alone,
            "both": cell.both.text_percent(),
            "reference alone": reference_alone,
            "noise floor": cell.W.text_percent(),
            "verdict": model_flips.claim.word,
        }
        rows.append(row)
    return rows


def memory_rows(memory: Mapping[str, Sequence[MemoryTest]]) -> list[dict[str, Any]]:
    """Return one table row per model and detector."""
    rows = []
    for model, tests in memory.items():
        for test in tests:
            row = {"model": model, "items": test.items, "detector": test.detector}
            rows.append(row | {"verdict": test.claim.word, "in words": test.claim.text})
    return rows
