"""A study's readouts as a frame whose texts are numbers: Categoricals, read without one text a row.

What a readout belongs to (item, axis, variant) is read once a variant, numbered in the study's order, and the readouts bring its
number alone. Texts of the readouts themselves are numbered batch by batch, so that a long study never stands in memory as text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

import numpy as np
import pandas as pd

from flipcore.store.connection import Store
from flipcore.store.harmless import COMPARABLE, IS_ANSWER, answer_params, comparable_params
from flipcore.store.queries.standing import Standing
from flipcore.store.visible import SIGHT, Sight

COLUMNS = (
    *("model", "item_id", "role", "kind", "axis", "variant_id", "variant", "position", "compared_with", "sample"),
    *("extractor", "status", "answer", "value", "is_correct", "label_mass", "reason", "family"),
)
TEXTS = (
    *("model", "item_id", "role", "kind", "axis", "variant_id", "variant", "compared_with"),
    *("extractor", "status", "answer", "reason", "family"),
)
_BATCH = 65_536  # readouts whose texts are held at once

_PLACES = f"""
SELECT i.item_id, i.role, q.kind, v.axis, v.variant_id, v.key AS variant, v.position, v.compared_with, v.material_id,
       coalesce(q.source_id, i.item_id) AS family
FROM study_items i JOIN study_variants v USING (study_id, item_id)
JOIN items q USING (item_id) JOIN variants w USING (variant_id)
WHERE i.study_id = $study_id AND {SIGHT} AND ($everything OR {COMPARABLE})
ORDER BY i.position, v.axis, v.position, i.item_id, v.variant_id
"""
_ANSWERS = f"""
SELECT p.place, r.model, r.sample, r.extractor, r.status, r.answer, r.value, r.is_correct, r.label_mass, r.reason
FROM readouts r JOIN places p USING (item_id, axis, variant_id)
WHERE r.study_id = $study_id AND (NOT $locked OR r.model IN (SELECT unnest($locked_models)))
  AND ($everything OR {IS_ANSWER})
"""


def readout_rows(store: Store, study_id: str, scope: Sight, paraphrases: str, everything: bool) -> pd.DataFrame:
    """The readouts that a reader in `scope` sees, in the order of model, item, axis, variant, sample and extractor: `COLUMNS`, those
    of `TEXTS` as Categoricals. `paraphrases` and `everything` are those of `queries.studies.readouts`."""
    import pyarrow as pa

    cursor = store.cursor()
    try:
        cursor.execute("BEGIN TRANSACTION READ ONLY")  # all questions see one state of the file
        of_study = {"study_id": study_id, "everything": everything}
        places = cursor.sql(_PLACES, params=of_study | scope.params | comparable_params()).to_arrow_table()
        standing = Standing.read(cursor, scope, paraphrases, any_change=everything)
        places = places.filter(pa.array(standing.of(places["material_id"].combine_chunks())))
        keys = places.select(["item_id", "axis", "variant_id"])
        cursor.register("places", keys.append_column("place", pa.array(np.arange(len(places), dtype=np.int32))))
        of_models = {name: scope.params_of_models[name] for name in ("locked", "locked_models")}
        answers = _numbered(cursor.sql(_ANSWERS, params=of_study | of_models | answer_params()).to_arrow_reader(_BATCH))
        return _joined(places, answers)
    finally:
        cursor.close()


def _numbered(reader: pa.RecordBatchReader) -> pa.Table:
    """The rows of a query with each text as a number, and one dictionary a column."""
    import pyarrow as pa

    batches = [_encoded(pa.Table.from_batches([batch])) for batch in reader]
    return pa.concat_tables(batches or [_encoded(reader.schema.empty_table())]).unify_dictionaries().combine_chunks()


def _encoded(table: pa.Table) -> pa.Table:
    for at, name in enumerate(table.column_names):
        if name in TEXTS:
            table = table.set_column(at, name, table[name].dictionary_encode())
    return table


def _joined(places: pa.Table, answers: pa.Table) -> pd.DataFrame:
    """One row a readout from what it belongs to and what it says."""
    of_place, of_answer = as_categories(_encoded(places).combine_chunks()), as_categories(answers)
    place = of_answer["place"].to_numpy()
    model, extractor = (of_answer[name] for name in ("model", "extractor"))
    rank = model.cat.codes.to_numpy(dtype=np.int64) * max(len(places), 1) + place
    rank = rank * (int(of_answer["sample"].max()) + 1 if len(place) else 1) + of_answer["sample"].to_numpy()
    order = np.argsort(rank * max(len(extractor.cat.categories), 1) + extractor.cat.codes.to_numpy(), kind="stable")
    place, columns = place[order], {}
    for name in COLUMNS:
        column = of_place[name].take(place) if name in of_place else of_answer[name].take(order)
        columns[name] = column.cat.remove_unused_categories() if name in of_place and name in TEXTS else column
    return pd.DataFrame({name: column.array for name, column in columns.items()}, copy=False)


def as_categories(table: pa.Table) -> pd.DataFrame:
    """A frame of a table whose texts are dictionaries: Categoricals whose categories stand as texts are sorted, so that sorting and
    grouping go by text. A missing text is missing; a missing right or wrong is None."""

    def column(name: str) -> Any:
        if name in TEXTS:
            return _category(table[name])
        return _rights(table[name]) if name == "is_correct" else table[name].to_pandas()

    return pd.DataFrame({name: column(name) for name in table.column_names}, copy=False)


def _category(column: pa.ChunkedArray) -> pd.Categorical:
    """The texts that occur, sorted, and each row's place among them: what nobody may see is no category either."""
    import pyarrow as pa
    import pyarrow.compute as pc

    chunk = column.chunk(0) if column.num_chunks else pa.array([], pa.string()).dictionary_encode()
    indices = chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    occurs = np.bincount(indices[indices >= 0], minlength=len(chunk.dictionary)) > 0
    by_text = pc.array_sort_indices(chunk.dictionary).to_numpy()
    by_text = by_text[occurs[by_text]]
    place = np.full(len(chunk.dictionary) + 1, -1, dtype=np.int32)
    place[by_text] = np.arange(len(by_text))
    categories = chunk.dictionary.take(pa.array(by_text)).to_pandas()
    return pd.Categorical.from_codes(place[indices], categories=pd.Index(categories, dtype="str"))


def _rights(column: pa.ChunkedArray) -> np.ndarray:
    """True, False and None of a column."""
    return np.array([False, True, None], dtype=object)[column.cast("int8").fill_null(2).to_numpy()]


def as_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """The same rows with texts again, for whoever writes into them, joins them or hands them out; a missing text is None."""
    texts: Mapping[str, Any] = {name: frame[name].astype("str") for name in TEXTS if name in frame and name != "answer"}
    answer = frame["answer"].astype(object)
    return frame.assign(**texts, answer=answer.where(answer.notna(), None))
