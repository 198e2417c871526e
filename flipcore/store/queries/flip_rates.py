"""Means of T, G and A of a study of any size: its packed readouts pass by some thousand items at a time, and no readout is kept.

The counting is that of the pages (`flipcore.stats.flips.disagreement`), on arrays of (items, variants, samples) of equal layout.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa

from flipcore.core.records import IDENTITY
from flipcore.stats.base.intervals import SIGNED, UNIT
from flipcore.stats.base.joint_means import JointMeans
from flipcore.stats.flips.disagreement import ABSENT, NULL, between, common
from flipcore.store import packing
from flipcore.store.connection import Store
from flipcore.store.packing import Packer
from flipcore.store.queries.locks import sight
from flipcore.store.queries.paraphrase_states import CountedPairs
from flipcore.store.visible import SIGHT, Sight

MEGABYTES = 4_000  # that DuckDB may hold at once meanwhile
ROWS = 20_000  # packed rows that are counted at once
_ITEMS = f"""
SELECT i.item_id, coalesce(q.source_id, i.item_id) AS family FROM study_items i JOIN items q USING (item_id)
WHERE i.study_id = $study_id AND {SIGHT} ORDER BY i.position, i.item_id
"""
_PACKS = "SELECT model, item_id, layout, materials, states, answers FROM packed.rows WHERE study_id = $study_id"
Cell = tuple[str, str, str]  # model, axis, extractor


@dataclass
class _Layout:
    """Which place of a row's lists is which: of each axis and extractor a grid (variants, samples) of places, -1 for none. On the
    noise floor every sample is a variant."""

    grids: dict[tuple[str, str], np.ndarray]
    variants: np.ndarray  # (readouts,) the place of each readout's variant in the row's materials

    @classmethod
    def of(cls, text: str) -> _Layout:
        axis, _, _, _, sample, extractor, place = (np.array(column) for column in json.loads(text))
        grids = {}
        for name in np.unique(axis):
            rows = np.flatnonzero(axis == name)
            units = place[rows] * (sample.max() + 1) + sample[rows] if name == IDENTITY else place[rows]
            variant, n_variants = np.unique(units, return_inverse=True)[1], np.unique(units).size
            layer = np.zeros(rows.size, dtype=int) if name == IDENTITY else sample[rows]
            for one in np.unique(extractor):
                own = extractor[rows] == one
                grid = np.full((n_variants, layer.max() + 1), -1)
                grid[variant[own], layer[own]] = rows[own]
                grids[str(name), str(one)] = grid
        return cls(grids, place)


@dataclass
class _Rates:
    """T and G of items of one cell as they come, with each item's number."""

    items: list[np.ndarray] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)


def mean_flip_rates(
    store: Store, study_id: str, reference: str, *, lock: str | None = None, paraphrases: str = "standing"
) -> pd.DataFrame:
    """One row a model, axis and extractor: the means of T, G and A beside the `reference` extractor with their 95 % intervals over
    items, or over families where items share one (`T_low`, `T_high`, …); `n` units and `n_items` items. What was set aside comes
    under a `lock` alone. `paraphrases` is accepted, standing or all."""
    scope = sight(store, study_id, lock)
    items = store.frame(_ITEMS, study_id=study_id, **scope.params)
    with store.memory_bound(MEGABYTES):
        cells = _cells(store, study_id, reference, scope, items["item_id"], paraphrases)
    family = pd.factorize(items["family"])[0]
    families = family if np.unique(family).size < len(family) else None
    rows = [_row(cell, one, len(items), families) for cell, one in sorted(cells.items())]
    return pd.DataFrame([row for row in rows if row["n_items"]])


def _row(cell: Cell, rates: _Rates, n_items: int, families: np.ndarray | None) -> dict:
    """The means of one cell."""
    t, g = np.full((2, n_items), np.nan)
    at, values = np.concatenate(rates.items), np.concatenate(rates.values, axis=1)
    t[at], g[at] = np.where(np.isnan(values.sum(axis=0)), np.nan, values)
    row: dict = dict(zip(("model", "axis", "extractor"), cell, strict=True)) | {"n_items": int((~np.isnan(t)).sum())}
    for name, one, bounds in (("T", t, UNIT), ("G", g, UNIT), ("A", t - g, SIGNED)):
        estimate = JointMeans(one[:, None], families=families).estimates("default", [0.95], [bounds])[0][0]
        row |= {"n": estimate.n, name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
    return row


def _cells(store: Store, study_id: str, reference: str, scope: Sight, items: pd.Series, paraphrases: str) -> dict[Cell, _Rates]:
    with closing(store.cursor()) as cursor:
        pairs = CountedPairs.read(cursor, scope, paraphrases)
    index, cells = pd.Index(items), dict[Cell, _Rates]()
    layouts: dict[int, _Layout] = {}
    for texts, table in _tables(store, study_id):
        number = index.get_indexer(table["item_id"].to_pandas())
        model = table["model"].combine_chunks().dictionary_encode()
        names, layout = model.dictionary.to_pylist(), table["layout"].to_numpy()
        in_sight = number >= 0
        if scope.locked:
            in_sight &= np.isin(np.array(names)[model.indices.to_numpy()], scope.models)
        for which, kind in np.unique(np.stack([model.indices.to_numpy(), layout])[:, in_sight], axis=1).T:
            rows = np.flatnonzero(in_sight & (model.indices.to_numpy() == which) & (layout == kind))
            if kind not in layouts:
                layouts[kind] = _Layout.of(texts[kind])
            codes = _codes(table.take(rows), layouts[kind], pairs)
            _add(cells, names[which], reference, layouts[kind], number[rows], codes)
    return cells


def _tables(store: Store, study_id: str) -> Iterator[tuple[list[str], pa.Table]]:
    """The study's packs, some thousand rows at a time, with the texts of their layouts; packed now where none are stored."""
    with closing(store.cursor()) as cursor:
        cursor.execute("BEGIN")  # so that the mark is that of the rows, and no readout changes on the way
        mark = packing.mark_in(cursor, study_id)
        if mark is None:
            packer = Packer()
            for table in packing.chunks(cursor, study_id, packer):
                yield packer.layouts.texts, table
            return
        for batch in cursor.sql(_PACKS, params={"study_id": study_id}).to_arrow_reader(ROWS):
            yield mark.layouts, pa.Table.from_batches([batch])


def _codes(table: pa.Table, layout: _Layout, pairs: CountedPairs) -> np.ndarray:
    """(rows, readouts + 1) codes of rows of one layout; the last column is a readout that is not there."""
    n = len(table)
    lists = {name: table[name].combine_chunks().flatten().to_numpy().reshape(n, -1) for name in ("states", "answers")}
    status = lists["states"] % 4
    codes = np.where(status == 0, lists["answers"], np.where(status == 1, NULL, ABSENT))
    materials = table["materials"].combine_chunks().flatten()
    if materials.null_count < len(materials):
        codes = np.where(pairs.of(materials).reshape(n, -1)[:, layout.variants], codes, ABSENT)
    return np.column_stack([codes, np.full(n, ABSENT, dtype=codes.dtype)])


def _add(cells: dict[Cell, _Rates], model: str, reference: str, layout: _Layout, items: np.ndarray, codes: np.ndarray) -> None:
    """T and G of these items in every cell."""
    for (axis, extractor), grid in layout.grids.items():
        other = layout.grids.get((axis, reference))
        if axis == IDENTITY or other is None:
            continue
        own, ref = common(codes[:, grid], codes[:, other])
        of_cell = cells.setdefault((model, axis, extractor), _Rates())
        of_cell.items.append(items)
        of_cell.values.append(np.stack([between(own).rate, between(ref).rate]))
