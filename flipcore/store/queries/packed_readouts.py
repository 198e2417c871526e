"""Read a study's readouts from its packs: the same rows, in the same order, as from `readouts`.

A packed row holds all readouts of one model and item. Its layout says which axis, variant, sample
and extractor each of them belongs to. Layouts are stored once, in the study's mark, and rows refer
to them by number (`flipcore.store.packing`).
"""

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

_PACKED = [name for name in packing.COLUMNS if name not in ("model", "item_id")]
_ROWS = f"""
SELECT p.model, p.item_id, i.role, q.kind, family_of.family,
       {", ".join(f"p.{name}" for name in _PACKED)}
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
    """The entries of all layouts, one layout after the other. An entry describes one readout.

    Layout l begins at `starts[l]`. `columns` are those of `packing.LAYOUT`.
    """

    starts: np.ndarray
    columns: dict[str, pa.Array]

    def entries(self, layout_of_row: np.ndarray) -> np.ndarray:
        """Return the index of the entry of each readout of these rows, one row after another."""
        n = self.n_readouts(layout_of_row)
        position_in_row = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
        return np.repeat(self.starts[layout_of_row], n) + position_in_row

    def n_readouts(self, layout_of_row: np.ndarray) -> np.ndarray:
        """Return the number of readouts of each row."""
        return self.starts[layout_of_row + 1] - self.starts[layout_of_row]


def layouts_of(texts: Sequence[str]) -> Layouts:
    """Return layouts from their JSON texts (`packing.Mark`): one list per column of LAYOUT."""
    parts = [json.loads(text) for text in texts]
    # The types are given, because they cannot be inferred where there is no layout.
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
    layouts, layout_of_row = layouts_of(mark.layouts), rows["layout"].to_numpy()
    n_readouts, entry_of_readout = layouts.n_readouts(layout_of_row), layouts.entries(layout_of_row)
    row_of_readout = np.repeat(np.arange(len(rows)), n_readouts)
    variants, materials = (rows[name].combine_chunks() for name in ("variants", "materials"))
    # A readout's variant: the first one of its row, plus the place within the row.
    n_variants = variants.value_lengths().to_numpy()
    first_variants = np.cumsum(n_variants) - n_variants
    variant_places = layouts.columns["place"].to_numpy()[entry_of_readout]
    variant_of_readout = first_variants[row_of_readout] + variant_places
    values = {name: _flat_values(rows[name].combine_chunks(), n_readouts) for name in _LISTS}
    is_counted = pairs.are_counted(materials.flatten())[variant_of_readout]
    if not is_counted.all():
        row_of_readout, entry_of_readout = row_of_readout[is_counted], entry_of_readout[is_counted]
        variant_of_readout = variant_of_readout[is_counted]
        values = {name: column[is_counted] for name, column in values.items()}
    row_columns = {
        name: _at(rows[name].combine_chunks(), row_of_readout)
        for name in ("model", "item_id", "role", "kind", "family")
    }
    layout_columns = {
        name: _at(layouts.columns[name], entry_of_readout) for name in packing.READOUT_COLUMNS
    }
    status_codes = values["states"] % packing.N_STATUSES
    correctness_codes = values["states"] // packing.N_STATUSES
    answer_columns = {
        "variant_id": _at(variants.flatten(), variant_of_readout),
        "variant": layout_columns["key"],
        "status": category(status_codes, pa.array(packing.STATUSES)),
        "answer": category(values["answers"], pa.array(mark.answers, pa.string())),
        "value": values["numbers"],
        "is_correct": IS_CORRECT_VALUES[correctness_codes],
        "label_mass": values["label_masses"],
        "reason": category(values["reasons"], pa.array(mark.reasons, pa.string())),
    }
    columns = row_columns | layout_columns | answer_columns
    return pd.DataFrame({name: columns[name] for name in COLUMNS}, copy=False)


def _flat_values(lists: pa.ListArray, n_readouts: np.ndarray) -> np.ndarray:
    """Return the values of all lists, one after the other; NaN for each readout of a NULL list.
    `n_readouts` has one number per row."""
    if lists.null_count == 0 and not pa.types.is_floating(lists.type.value_type):
        return lists.flatten().to_numpy()
    values = np.full(n_readouts.sum(), np.nan)
    has_value = np.repeat(lists.is_valid().to_numpy(zero_copy_only=False), n_readouts)
    values[has_value] = lists.flatten().to_numpy(zero_copy_only=False)
    return values


def _at(values: pa.Array, indices: np.ndarray) -> np.ndarray | pd.Categorical:
    """Return the values at these indices; texts as a Categorical."""
    if not pa.types.is_string(values.type):
        return values.to_numpy().astype(np.int32).take(indices)
    return texts_at(texts_of(values.dictionary_encode()), indices)
