"""The readouts of a study from its packs: the same rows as from the readouts themselves, in the
same order."""

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
# Lists with a value a readout.
_VALUES = ("states", "answers", "reasons", "numbers", "label_masses")


@dataclass(frozen=True)
class Layouts:
    """The places of all layouts, one behind the other: `starts[l]` is where layout l begins.
    `columns` are those of `packs.LAYOUT`."""

    starts: np.ndarray
    columns: dict[str, pa.Array]

    def elements(self, layout: np.ndarray) -> np.ndarray:
        """The places of rows of these layouts, one row behind the other."""
        lengths = self.lengths(layout)
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return np.repeat(self.starts[layout], lengths) + within

    def lengths(self, layout: np.ndarray) -> np.ndarray:
        """Return the number of readouts in a row of each of these layouts."""
        return self.starts[layout + 1] - self.starts[layout]


def layouts_of(texts: Sequence[str]) -> Layouts:
    """The layouts of a mark."""
    parts = [json.loads(text) for text in texts]
    # a study may have no layout at all
    kinds = [pa.int64() if name in packing.NUMBERS else pa.string() for name in packing.LAYOUT]
    columns = {}
    for i, (name, kind) in enumerate(zip(packing.LAYOUT, kinds, strict=True)):
        values = list(chain.from_iterable(part[i] for part in parts))
        columns[name] = pa.array(values, kind)
    return Layouts(np.cumsum([0, *(len(part[0]) for part in parts)]), columns)


def readouts(store: Store, study_id: str, scope: Sight, paraphrases: str) -> pd.DataFrame | None:
    """Return `queries.studies.readouts` of answers to harmless variants; None where no packs
    hold."""
    with closing(store.cursor()) as cursor:
        cursor.execute("BEGIN TRANSACTION READ ONLY")  # so that the mark is that of the rows
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
    lengths, element = layouts.lengths(layout), layouts.elements(layout)
    row = np.repeat(np.arange(len(rows)), lengths)
    variants, materials = (rows[name].combine_chunks() for name in ("variants", "materials"))
    n_variants = variants.value_lengths().to_numpy()
    variant = (np.cumsum(n_variants) - n_variants)[row] + layouts.columns["place"].to_numpy()[
        element
    ]
    values = {name: _values(rows[name].combine_chunks(), lengths) for name in _VALUES}
    is_counted = pairs.are_counted(materials.flatten())[variant]
    if not is_counted.all():
        row, element, variant = row[is_counted], element[is_counted], variant[is_counted]
        values = {name: column[is_counted] for name, column in values.items()}
    of_row = {
        name: _at(rows[name].combine_chunks(), row)
        for name in ("model", "item_id", "role", "kind", "family")
    }
    of_place = {name: _at(layouts.columns[name], element) for name in packing.LAYOUT[:-1]}
    columns = (
        of_row
        | of_place
        | {
            "variant_id": _at(variants.flatten(), variant),
            "variant": of_place["key"],
            "status": category(values["states"] % 4, pa.array(packing.STATUSES)),
            "answer": category(values["answers"], pa.array(mark.answers, pa.string())),
            "value": values["numbers"],
            "is_correct": IS_CORRECT_VALUES[values["states"] // 4],
            "label_mass": values["label_masses"],
            "reason": category(values["reasons"], pa.array(mark.reasons, pa.string())),
        }
    )
    return pd.DataFrame({name: columns[name] for name in COLUMNS}, copy=False)


def _values(lists: pa.ListArray, lengths: np.ndarray) -> np.ndarray:
    """The lists one behind the other; NaN for the places of a row that has none."""
    if lists.null_count == 0 and not pa.types.is_floating(lists.type.value_type):
        return lists.flatten().to_numpy()
    values = np.full(lengths.sum(), np.nan)
    has_value = np.repeat(lists.is_valid().to_numpy(zero_copy_only=False), lengths)
    values[has_value] = lists.flatten().to_numpy(zero_copy_only=False)
    return values


def _at(values: pa.Array, places: np.ndarray) -> np.ndarray | pd.Categorical:
    """The numbers or texts at these places; texts as a Categorical."""
    if not pa.types.is_string(values.type):
        return values.to_numpy().astype(np.int32).take(places)
    return texts_at(texts_of(values.dictionary_encode()), places)
