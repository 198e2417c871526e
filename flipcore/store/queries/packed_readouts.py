"""Read a study's readouts from its packs: the same rows, in the same order, as from `readouts`."""

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pandas as pd
import pyarrow as pa

from flipcore.store import packing
from flipcore.store.clusters import JOIN_CLUSTERS
from flipcore.store.connection import Store
from flipcore.store.packing import Mark
from flipcore.store.queries.paraphrase_states import CountedPairs
from flipcore.store.queries.readout_rows import (
    COLUMNS,
    IS_CORRECT_VALUES,
    category,
    texts_at,
    texts_of,
)
from flipcore.store.visible import SIGHT, Sight

_ROWS = f"""
SELECT p.model, p.item_id, i.role, q.kind, family_of.family,
       {", ".join(f"p.{name}" for name in packing.COLUMNS[2:])}
FROM packed.rows p JOIN study_items i USING (study_id, item_id) JOIN items q USING (item_id)
{JOIN_CLUSTERS}
WHERE p.study_id = $study_id AND {SIGHT} AND (NOT $locked
    OR p.model IN (SELECT unnest($locked_models)))
ORDER BY p.model, i.position, p.item_id
"""
# Columns of lists with one value per readout.
_LISTS = ("states", "answers", "reasons", "numbers", "label_masses")


@dataclass(frozen=True)
class Layouts:
    """The entries of all layouts, one layout after the other. Layout l begins at `starts[l]`.
    `columns` are those of `packing.LAYOUT`."""

    starts: np.ndarray
    columns: dict[str, pa.Array]

    def elements(self, layout: np.ndarray) -> np.ndarray:
        """Return the indices of the entries of rows with these layouts, one row after another."""
        lengths = self.lengths(layout)
        place_in_row = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return np.repeat(self.starts[layout], lengths) + place_in_row

    def lengths(self, layout: np.ndarray) -> np.ndarray:
        """Return the number of readouts in a row of each of these layouts."""
        return self.starts[layout + 1] - self.starts[layout]


def layouts_of(texts: Sequence[str]) -> Layouts:
    """Return the layouts of a mark's texts."""
    parts = [json.loads(text) for text in texts]
    # The types are given, because without any layout they could not be inferred.
    kinds = [
        pa.int64() if name in packing.NUMBER_COLUMNS else pa.string() for name in packing.LAYOUT
    ]
    columns = {}
    for i, (name, kind) in enumerate(zip(packing.LAYOUT, kinds, strict=True)):
        values = list(chain.from_iterable(part[i] for part in parts))
        columns[name] = pa.array(values, kind)
    return Layouts(np.cumsum([0, *(len(part[0]) for part in parts)]), columns)


def readouts(store: Store, study_id: str, scope: Sight, paraphrases: str) -> pd.DataFrame | None:
    """Return `queries.studies.readouts` with its default columns; None without valid packs."""
    with closing(store.cursor()) as cursor:
        cursor.execute("BEGIN TRANSACTION READ ONLY")  # so that mark and rows belong together
        mark = packing.mark_in(cursor, study_id)
        if mark is None:
            return None
        rows = cursor.sql(
            _ROWS, params={"study_id": study_id, **scope.params_of_models}
        ).to_arrow_table()
        pairs = CountedPairs.read(cursor, scope, paraphrases)
    return _frame(rows.combine_chunks(), mark, pairs)


def _frame(rows: pa.Table, mark: Mark, pairs: CountedPairs) -> pd.DataFrame:
    layouts, layout = layouts_of(mark.layouts), rows["layout"].to_numpy()
    lengths, layout_place = layouts.lengths(layout), layouts.elements(layout)
    row_of_readout = np.repeat(np.arange(len(rows)), lengths)
    variants, materials = (rows[name].combine_chunks() for name in ("variants", "materials"))
    # A readout's variant: the first one of its row, plus the place within the row.
    n_variants = variants.value_lengths().to_numpy()
    first_variants = np.cumsum(n_variants) - n_variants
    variant_places = layouts.columns["place"].to_numpy()[layout_place]
    variant_of_readout = first_variants[row_of_readout] + variant_places
    values = {name: _flat_values(rows[name].combine_chunks(), lengths) for name in _LISTS}
    is_counted = pairs.are_counted(materials.flatten())[variant_of_readout]
    if not is_counted.all():
        row_of_readout, layout_place = row_of_readout[is_counted], layout_place[is_counted]
        variant_of_readout = variant_of_readout[is_counted]
        values = {name: column[is_counted] for name, column in values.items()}
    row_columns = {
        name: _at(rows[name].combine_chunks(), row_of_readout)
        for name in ("model", "item_id", "role", "kind", "family")
    }
    place_columns = {name: _at(layouts.columns[name], layout_place) for name in packing.LAYOUT[:-1]}
    answer_columns = {
        "variant_id": _at(variants.flatten(), variant_of_readout),
        "variant": place_columns["key"],
        "status": category(values["states"] % 4, pa.array(packing.STATUSES)),
        "answer": category(values["answers"], pa.array(mark.answers, pa.string())),
        "value": values["numbers"],
        "is_correct": IS_CORRECT_VALUES[values["states"] // 4],
        "label_mass": values["label_masses"],
        "reason": category(values["reasons"], pa.array(mark.reasons, pa.string())),
    }
    columns = row_columns | place_columns | answer_columns
    return pd.DataFrame({name: columns[name] for name in COLUMNS}, copy=False)


def _flat_values(lists: pa.ListArray, lengths: np.ndarray) -> np.ndarray:
    """Return the values of all lists, one after the other; NaN for each readout of a NULL list.
    `lengths` are the numbers of readouts per row."""
    if lists.null_count == 0 and not pa.types.is_floating(lists.type.value_type):
        return lists.flatten().to_numpy()
    values = np.full(lengths.sum(), np.nan)
    has_value = np.repeat(lists.is_valid().to_numpy(zero_copy_only=False), lengths)
    values[has_value] = lists.flatten().to_numpy(zero_copy_only=False)
    return values


def _at(values: pa.Array, places: np.ndarray) -> np.ndarray | pd.Categorical:
    """Return the values at these indices; texts as a Categorical."""
    if not pa.types.is_string(values.type):
        return values.to_numpy().astype(np.int32).take(places)
    return texts_at(texts_of(values.dictionary_encode()), places)
