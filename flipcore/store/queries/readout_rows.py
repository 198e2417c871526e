"""Read a study's readouts as a frame whose texts are Categoricals.

Pairs of item and variant ("places") are read once and numbered in the study's order. Readouts are
joined to them by this number. Texts of readouts are converted to codes batch by batch, so that a
large study is never in memory as text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from flipcore.store.clusters import JOIN_CLUSTERS
from flipcore.store.connection import Store, text_list
from flipcore.store.harmless import COMPARABLE, IS_ANSWER, answer_params, comparable_params
from flipcore.store.queries.paraphrase_states import CountedPairs
from flipcore.store.visible import SIGHT, Sight

COLUMNS = tuple(
    "model item_id role kind axis variant_id variant position compared_with sample extractor "
    "status answer value is_correct label_mass reason family".split()
)
TEXTS = tuple(
    "model item_id role kind axis variant_id variant compared_with extractor status answer reason "
    "family".split()
)
# By code: 0 is wrong, 1 right, 2 unknown.
IS_CORRECT_VALUES = np.array([False, True, None], dtype=object)
_BATCH = 65_536  # readouts whose texts are in memory at once

_VARIANTS = f"""
SELECT i.item_id, i.role, q.kind, v.axis, v.variant_id, v.key AS variant, v.position,
    v.compared_with, v.material_id, family_of.family, {COMPARABLE} AS is_comparable
FROM study_items i JOIN study_variants v USING (study_id, item_id)
JOIN items q USING (item_id) JOIN variants w USING (variant_id)
{JOIN_CLUSTERS}
WHERE i.study_id = $study_id AND {SIGHT} AND ($everything OR {COMPARABLE})
ORDER BY i.position, v.axis, v.position, i.item_id, v.variant_id
"""
_ANSWERS = f"""
SELECT p.place, r.model, r.sample, r.extractor, r.status, r.answer, r.value, r.is_correct,
    r.label_mass, r.reason, {IS_ANSWER} AS is_answer
FROM readouts r JOIN places p USING (item_id, axis, variant_id)
WHERE r.study_id = $study_id AND (NOT $locked OR r.model IN (SELECT unnest($locked_models)))
  AND ($everything OR {IS_ANSWER} OR (r.value IS NOT NULL
      AND r.extractor IN (SELECT unnest($grades_of))))
"""


def readout_rows(
    store: Store,
    study_id: str,
    scope: Sight,
    paraphrases: str,
    *,
    everything: bool,
    grades_of: Sequence[str] = (),
) -> pd.DataFrame:
    """Return the readouts within `scope`, sorted by model, item, axis, variant, sample, extractor.

    The frame has `COLUMNS`; those in `TEXTS` are Categoricals. `paraphrases` is "accepted",
    "standing" or "all" (`CountedPairs`). `everything` includes readouts of which no flip is made.
    `grades_of` are graders whose readouts with only a value are included.
    """
    return _read_numbered(
        store, study_id, scope, paraphrases, everything=everything, grades_of=grades_of
    ).frame()


def all_and_comparable(
    store: Store, study_id: str, scope: Sight, paraphrases: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return (all readouts, those of which flips are made), from one query."""
    numbered = _read_numbered(store, study_id, scope, paraphrases, everything=True)
    return numbered.frame(), numbered.comparable()


@dataclass(frozen=True)
class _NumberedReadouts:
    """Readouts with the numbers of their places. `is_comparable`, of shape (n_places,), is whether
    flips may be made of a place's answers."""

    places: pa.Table
    answers: pa.Table
    is_comparable: np.ndarray

    def frame(self) -> pd.DataFrame:
        return _join(self.places, self.answers)

    def comparable(self) -> pd.DataFrame:
        is_counted = (
            self.is_comparable[self.answers["place"].to_numpy()]
            & self.answers["is_answer"].to_numpy()
        )
        return _join(self.places, self.answers.filter(pa.array(is_counted)))


def _read_numbered(
    store: Store,
    study_id: str,
    scope: Sight,
    paraphrases: str,
    *,
    everything: bool,
    grades_of: Sequence[str] = (),
) -> _NumberedReadouts:
    with store.cursor() as cursor:
        # One transaction, so that all queries see the same state of the file.
        cursor.execute("BEGIN TRANSACTION READ ONLY")
        study_params = {"study_id": study_id, "everything": everything}
        places = cursor.sql(
            _VARIANTS, params=study_params | scope.params | comparable_params()
        ).to_arrow_table()
        # For flips, wordings by other changes than paraphrasing count only if accepted, while
        # `everything` treats all changes alike.
        any_change, paraphrases_alone = CountedPairs.read_both(cursor, scope, paraphrases)
        pairs = any_change if everything else paraphrases_alone
        places = places.filter(pa.array(pairs.are_counted(places["material_id"].combine_chunks())))
        keys = places.select(["item_id", "axis", "variant_id"])
        cursor.register(
            "places", keys.append_column("place", pa.array(np.arange(len(places), dtype=np.int32)))
        )
        lock_params = {name: scope.params_of_models[name] for name in ("locked", "locked_models")}
        params = study_params | lock_params | answer_params() | {"grades_of": text_list(grades_of)}
        answers = _encode_batches(cursor.sql(_ANSWERS, params=params).to_arrow_reader(_BATCH))
        is_counted = paraphrases_alone.are_counted(places["material_id"].combine_chunks())
        return _NumberedReadouts(places, answers, is_counted & places["is_comparable"].to_numpy())


def _encode_batches(reader: pa.RecordBatchReader) -> pa.Table:
    """Return the rows of a query with texts as codes, and one dictionary per column."""
    batches = [_encode(pa.Table.from_batches([batch])) for batch in reader]
    return (
        pa.concat_tables(batches or [_encode(reader.schema.empty_table())])
        .unify_dictionaries()
        .combine_chunks()
    )


def _encode(table: pa.Table) -> pa.Table:
    for column_index, name in enumerate(table.column_names):
        if name in TEXTS:
            table = table.set_column(column_index, name, table[name].dictionary_encode())
    return table


def _join(places: pa.Table, answers: pa.Table) -> pd.DataFrame:
    """Return one row per readout: columns of its place and of its answer."""
    by_place, by_answer = as_categories(_encode(places).combine_chunks()), as_categories(answers)
    place = by_answer["place"].to_numpy()
    model, extractor = (by_answer[name].cat.codes.to_numpy() for name in ("model", "extractor"))
    # `lexsort` sorts by the last key first.
    order = np.lexsort((extractor, by_answer["sample"].to_numpy(), place, model))
    place, columns = place[order], {}
    for name in COLUMNS:
        if name in by_place and name in TEXTS:
            columns[name] = texts_at(by_place[name].array, place)
        else:
            columns[name] = (
                by_place[name].take(place).array
                if name in by_place
                else by_answer[name].take(order).array
            )
    return pd.DataFrame(columns, copy=False)


def as_categories(table: pa.Table) -> pd.DataFrame:
    """Return the frame of a table whose texts are dictionaries, as Categoricals. Categories are
    sorted, so that sorting and grouping follow the text. A missing text is NaN, a missing
    `is_correct` None."""

    def column(name: str) -> Any:
        if name in TEXTS:
            return texts_of(
                table[name].combine_chunks()
                if len(table)
                else pa.array([], pa.string()).dictionary_encode()
            )
        if name == "is_correct":  # True, False and None
            return IS_CORRECT_VALUES[table[name].cast("int8").fill_null(2).to_numpy()]
        return table[name].to_pandas()

    return pd.DataFrame({name: column(name) for name in table.column_names}, copy=False)


def texts_of(column: pa.DictionaryArray) -> pd.Categorical:
    """Return a column of texts as a Categorical; see `category`."""
    codes = column.indices.fill_null(-1) if column.indices.null_count else column.indices
    return category(codes.to_numpy(), column.dictionary)


def category(codes: np.ndarray, texts: pa.Array) -> pd.Categorical:
    """Return a Categorical with sorted categories, from codes and distinct texts. `codes`, of shape
    (n_rows,), are indices into `texts`, or -1 for a missing text. Categories that do not occur are
    dropped, so that texts which may not be seen do not leak."""
    sorted_codes = pc.array_sort_indices(texts).to_numpy()
    used = sorted_codes[_occurs(codes, len(texts))[sorted_codes]]
    if not np.array_equal(used, np.arange(len(texts))):
        # The extra element at the end maps -1 to -1.
        new_code = np.full(len(texts) + 1, -1, dtype=_smallest_int(len(used)))
        new_code[used] = np.arange(len(used))
        codes, texts = new_code[codes], texts.take(pa.array(used))
    codes = codes.astype(_smallest_int(len(texts)), copy=False)
    return pd.Categorical.from_codes(
        codes, categories=pd.Index(texts.to_pandas(), dtype="str"), validate=False
    )


def texts_at(column: pd.Categorical, rows: np.ndarray) -> pd.Categorical:
    """Return the texts at these row indices."""
    codes, categories = column.codes.take(rows), column.categories
    if _occurs(codes, len(categories)).all():
        return pd.Categorical.from_codes(codes, dtype=column.dtype, validate=False)
    return category(codes, pa.array(categories, pa.string()))


def _occurs(codes: np.ndarray, n: int) -> np.ndarray:
    """Return whether each of the codes 0 to n - 1 occurs, as an array of shape (n,)."""
    occurs = np.zeros(n + 1, dtype=bool)
    occurs[codes] = True  # the code -1 sets the extra element at the end
    return occurs[:n]


def _smallest_int(n: int) -> type[np.signedinteger]:
    """Return the integer type that pandas uses for the codes of `n` categories."""
    return next(kind for kind in (np.int8, np.int16, np.int32, np.int64) if n <= np.iinfo(kind).max)


def as_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with plain texts, for code that changes, joins or exports it. A missing text
    is None."""
    # Answers are often missing, and a missing one must be None, not the text type's NaN.
    texts: Mapping[str, Any] = {
        name: _texts(frame[name]) for name in TEXTS if name in frame and name != "answer"
    }
    answer = frame["answer"].astype(object)
    return frame.assign(**texts, answer=answer.where(answer.notna(), None))


def _texts(column: pd.Series) -> pd.Series:
    """Return a column of categories as texts, made once per category and not once per row."""
    texts = column.cat.categories.astype("str").array
    return pd.Series(texts.take(column.cat.codes.to_numpy(), allow_fill=True), index=column.index)
