"""A study's readouts as a frame whose texts are Categoricals.

Items and variants are read once and numbered in the study's order; a readout is joined to them by
that number. Texts of the readouts become numbers batch by batch, so that a long study never stands
in memory as text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from flipcore.store.clusters import JOIN_CLUSTERS
from flipcore.store.connection import Store
from flipcore.store.harmless import COMPARABLE, IS_ANSWER, answer_params, comparable_params
from flipcore.store.queries.paraphrase_states import CountedPairs
from flipcore.store.visible import SIGHT, Sight

COLUMNS = (
    *(
        "model",
        "item_id",
        "role",
        "kind",
        "axis",
        "variant_id",
        "variant",
        "position",
        "compared_with",
        "sample",
    ),
    *("extractor", "status", "answer", "value", "is_correct", "label_mass", "reason", "family"),
)
TEXTS = (
    *("model", "item_id", "role", "kind", "axis", "variant_id", "variant", "compared_with"),
    *("extractor", "status", "answer", "reason", "family"),
)
# by number: 0 is wrong, 1 right, 2 unknown
IS_CORRECT_VALUES = np.array([False, True, None], dtype=object)
_BATCH = 65_536  # readouts whose texts are held at once

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
    """Return the readouts that a reader in `scope` sees, by model, item, axis, variant,
    sample and extractor: `COLUMNS`, those of `TEXTS` as Categoricals.

    `paraphrases` says which of them count ("approved", "all", …: `CountedPairs`), `everything`
    brings readouts of which no flip is made too, `grades_of` those of graders with a value alone.
    """
    return _read(
        store, study_id, scope, paraphrases, everything=everything, grades_of=grades_of
    ).frame()


def all_and_comparable(
    store: Store, study_id: str, scope: Sight, paraphrases: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return every readout, and those of which flips are made, from one look at the file."""
    read = _read(store, study_id, scope, paraphrases, everything=True)
    return read.frame(), read.comparable()


@dataclass(frozen=True)
class _Read:
    """Readouts as they were read, numbered, with the `places` that they belong to.

    `is_comparable` (places,) is whether flips may be made of the answers of a place.
    """

    places: pa.Table
    answers: pa.Table
    is_comparable: np.ndarray

    def frame(self) -> pd.DataFrame:
        return _joined(self.places, self.answers)

    def comparable(self) -> pd.DataFrame:
        counts = (
            self.is_comparable[self.answers["place"].to_numpy()]
            & self.answers["is_answer"].to_numpy()
        )
        return _joined(self.places, self.answers.filter(pa.array(counts)))


def _read(
    store: Store,
    study_id: str,
    scope: Sight,
    paraphrases: str,
    *,
    everything: bool,
    grades_of: Sequence[str] = (),
) -> _Read:
    with store.cursor() as cursor:
        cursor.execute("BEGIN TRANSACTION READ ONLY")  # all questions see one state of the file
        of_study = {"study_id": study_id, "everything": everything}
        places = cursor.sql(
            _VARIANTS, params=of_study | scope.params | comparable_params()
        ).to_arrow_table()
        # Everything may show a pair that some other change made; flips need paraphrases that count.
        any_change, paraphrases_alone = CountedPairs.read_both(cursor, scope, paraphrases)
        pairs = any_change if everything else paraphrases_alone
        places = places.filter(pa.array(pairs.are_counted(places["material_id"].combine_chunks())))
        keys = places.select(["item_id", "axis", "variant_id"])
        cursor.register(
            "places", keys.append_column("place", pa.array(np.arange(len(places), dtype=np.int32)))
        )
        of_models = {name: scope.params_of_models[name] for name in ("locked", "locked_models")}
        # DuckDB gives an empty list no type.
        params = of_study | of_models | answer_params() | {"grades_of": list(grades_of) or [""]}
        answers = _numbered(cursor.sql(_ANSWERS, params=params).to_arrow_reader(_BATCH))
        counts = paraphrases_alone.are_counted(places["material_id"].combine_chunks())
        return _Read(places, answers, counts & places["is_comparable"].to_numpy())


def _numbered(reader: pa.RecordBatchReader) -> pa.Table:
    """The rows of a query with each text as a number, and one dictionary a column."""
    batches = [_encoded(pa.Table.from_batches([batch])) for batch in reader]
    return (
        pa.concat_tables(batches or [_encoded(reader.schema.empty_table())])
        .unify_dictionaries()
        .combine_chunks()
    )


def _encoded(table: pa.Table) -> pa.Table:
    for column_index, name in enumerate(table.column_names):
        if name in TEXTS:
            table = table.set_column(column_index, name, table[name].dictionary_encode())
    return table


def _joined(places: pa.Table, answers: pa.Table) -> pd.DataFrame:
    """One row a readout from what it belongs to and what it says."""
    of_place, of_answer = as_categories(_encoded(places).combine_chunks()), as_categories(answers)
    place = of_answer["place"].to_numpy()
    model, extractor = (of_answer[name].cat.codes.to_numpy() for name in ("model", "extractor"))
    # The last key sorts first.
    order = np.lexsort((extractor, of_answer["sample"].to_numpy(), place, model))
    place, columns = place[order], {}
    for name in COLUMNS:
        if name in of_place and name in TEXTS:
            columns[name] = texts_at(of_place[name].array, place)
        else:
            columns[name] = (
                of_place[name].take(place).array
                if name in of_place
                else of_answer[name].take(order).array
            )
    return pd.DataFrame(columns, copy=False)


def as_categories(table: pa.Table) -> pd.DataFrame:
    """A frame of a table whose texts are dictionaries. Categories are sorted, so that sorting and
    grouping go by text. A missing text is missing; a missing right or wrong is None."""

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
    """A column of texts as a Categorical: see `category`."""
    codes = column.indices.fill_null(-1) if column.indices.null_count else column.indices
    return category(codes.to_numpy(), column.dictionary)


def category(codes: np.ndarray, texts: pa.Array) -> pd.Categorical:
    """The texts that occur, sorted, and each row's index among them. Categories that do not occur
    go, so that texts which nobody may see do not leak. `codes` (rows,) are indices in `texts`,
    which differ from each other; -1 for none."""
    used = pc.array_sort_indices(texts).to_numpy()
    used = used[_occurring(codes, len(texts))[used]]
    if not np.array_equal(used, np.arange(len(texts))):
        # One more at the end, where -1 finds itself again.
        new_code = np.full(len(texts) + 1, -1, dtype=_narrow(len(used)))
        new_code[used] = np.arange(len(used))
        codes, texts = new_code[codes], texts.take(pa.array(used))
    codes = codes.astype(_narrow(len(texts)), copy=False)
    return pd.Categorical.from_codes(
        codes, categories=pd.Index(texts.to_pandas(), dtype="str"), validate=False
    )


def texts_at(column: pd.Categorical, rows: np.ndarray) -> pd.Categorical:
    """The texts at these rows."""
    codes, names = column.codes.take(rows), column.categories
    if _occurring(codes, len(names)).all():
        return pd.Categorical.from_codes(codes, dtype=column.dtype, validate=False)
    return category(codes, pa.array(names, pa.string()))


def _occurring(codes: np.ndarray, n: int) -> np.ndarray:
    """(n,) which of so many codes occur; -1 is none of them."""
    occurs = np.zeros(n + 1, dtype=bool)
    occurs[codes] = True  # none is at the end
    return occurs[:n]


def _narrow(n: int) -> type[np.signedinteger]:
    """The integers in which pandas keeps the codes of so many categories."""
    return next(kind for kind in (np.int8, np.int16, np.int32, np.int64) if n <= np.iinfo(kind).max)


def as_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """The same rows with texts again, for whoever writes into them, joins them or hands them out; a
    missing text is None."""
    # Most answers are missing somewhere, and a missing one must be None: not the text type's NaN.
    texts: Mapping[str, Any] = {
        name: _texts(frame[name]) for name in TEXTS if name in frame and name != "answer"
    }
    answer = frame["answer"].astype(object)
    return frame.assign(**texts, answer=answer.where(answer.notna(), None))


def _texts(column: pd.Series) -> pd.Series:
    """A column of categories as texts, each made once and not once a row."""
    names = column.cat.categories.astype("str").array
    return pd.Series(names.take(column.cat.codes.to_numpy(), allow_fill=True), index=column.index)
