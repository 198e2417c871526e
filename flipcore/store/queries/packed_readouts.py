"""The readouts of a study from its packs: the same rows as from the readouts themselves, in the same order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from flipcore.store import packs
from flipcore.store.connection import Store
from flipcore.store.packs import COLUMNS, Mark
from flipcore.store.queries.readout_rows import as_categories
from flipcore.store.queries.standing import Standing
from flipcore.store.visible import SIGHT, Sight

_ROWS = f"""
SELECT p.model, p.item_id, i.role, q.kind, coalesce(q.source_id, p.item_id) AS family, {", ".join(f"p.{one}" for one in COLUMNS[2:])}
FROM packed.rows p JOIN study_items i USING (study_id, item_id) JOIN items q USING (item_id)
WHERE p.study_id = $study_id AND {SIGHT} AND (NOT $locked OR p.model IN (SELECT unnest($locked_models)))
ORDER BY p.model, i.position, p.item_id
"""


@dataclass(frozen=True)
class Layouts:
    """The places of all layouts, one behind the other: `starts[l]` is where layout l begins. `columns` are those of `packs.LAYOUT`."""

    starts: np.ndarray
    columns: dict[str, pa.Array]

    def elements(self, layout: np.ndarray) -> np.ndarray:
        """The places of rows of these layouts, one row behind the other."""
        lengths = self.lengths(layout)
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return np.repeat(self.starts[layout], lengths) + within

    def lengths(self, layout: np.ndarray) -> np.ndarray:
        """How many readouts a row of each of these layouts has."""
        return self.starts[layout + 1] - self.starts[layout]


def layouts_of(texts: Sequence[str]) -> Layouts:
    """The layouts of a mark."""
    parts = [json.loads(text) for text in texts]
    kinds = [pa.int64() if name in packs.NUMBERS else pa.string() for name in packs.LAYOUT]  # a study may have no layout at all
    columns = {
        name: pa.array([one for part in parts for one in part[i]], kind)
        for i, (name, kind) in enumerate(zip(packs.LAYOUT, kinds, strict=True))
    }
    return Layouts(np.cumsum([0, *(len(part[0]) for part in parts)]), columns)


def readouts(store: Store, study_id: str, scope: Sight, paraphrases: str) -> pd.DataFrame | None:
    """What `queries.studies.readouts` returns of answers to harmless variants; None where no packs hold."""
    with closing(store.cursor()) as cursor:
        cursor.execute("BEGIN TRANSACTION READ ONLY")  # so that the mark is that of the rows
        mark = packs.mark_in(cursor, study_id)
        if mark is None:
            return None
        rows = cursor.sql(_ROWS, params={"study_id": study_id, **scope.params_of_models}).to_arrow_table()
        standing = Standing.read(cursor, scope, paraphrases)
    return as_categories(_frame(rows.combine_chunks(), mark, standing))


def _frame(rows: pa.Table, mark: Mark, standing: Standing) -> pa.Table:
    layouts, layout = layouts_of(mark.layouts), rows["layout"].to_numpy()
    lengths, at = layouts.lengths(layout), layouts.elements(layout)
    row = np.repeat(np.arange(len(rows)), lengths)
    variants, materials = (rows[name].combine_chunks() for name in ("variants", "materials"))
    n_variants = variants.value_lengths().to_numpy()
    variant = (np.cumsum(n_variants) - n_variants)[row] + layouts.columns["place"].to_numpy()[at]
    there = standing.of(materials.flatten())[variant]
    if not there.all():
        row, at, variant = row[there], at[there], variant[there]
    names = ("states", "answers", "reasons", "numbers", "label_masses")
    states, answers, reasons, numbers, masses = (_values(rows[name].combine_chunks(), lengths)[there] for name in names)
    of_row = {name: _take(rows[name].combine_chunks(), row) for name in ("model", "item_id", "role", "kind", "family")}
    of_place = {name: _take(layouts.columns[name], at) for name in packs.LAYOUT[:-1]}
    return pa.table(
        {
            **{name: of_row[name] for name in ("model", "item_id", "role", "kind")},
            "axis": of_place["axis"],
            "variant_id": _take(variants.flatten(), variant),
            "variant": of_place["key"],
            "position": of_place["position"].cast(pa.int32()),
            "compared_with": of_place["compared_with"],
            "sample": of_place["sample"].cast(pa.int32()),
            "extractor": of_place["extractor"],
            "status": _coded(packs.STATUSES, states % 4),
            "answer": _coded(mark.answers, answers),
            "value": pa.array(numbers),
            "is_correct": pa.array(states // 4 == 1, mask=states // 4 == 2),
            "label_mass": pa.array(masses),
            "reason": _coded(mark.reasons, reasons),
            "family": of_row["family"],
        }
    )


def _values(lists: pa.ListArray, lengths: np.ndarray) -> np.ndarray:
    """The lists one behind the other; NaN for the places of a row that has none."""
    if lists.null_count == 0 and not pa.types.is_floating(lists.type.value_type):
        return lists.flatten().to_numpy()
    values = np.full(lengths.sum(), np.nan)
    there = np.repeat(lists.is_valid().to_numpy(zero_copy_only=False), lengths)
    values[there] = lists.flatten().to_numpy(zero_copy_only=False)
    return values


def _take(values: pa.Array, at: np.ndarray) -> pa.Array:
    """The values at these places; texts as places in a dictionary."""
    if not pa.types.is_string(values.type):
        return values.take(pa.array(at))
    coded = values.dictionary_encode()
    return pa.DictionaryArray.from_arrays(coded.indices.take(pa.array(at)), coded.dictionary)


def _coded(texts: Sequence[str], codes: np.ndarray) -> pa.Array:
    """Places in a list of texts, -1 for none."""
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32), mask=codes < 0), pa.array(texts, pa.string()))
