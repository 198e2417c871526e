"""Queries for imports: how far one came, what it stored, and its bases under every axis."""

import json
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import Future
from functools import cache, cached_property, partial
from pathlib import Path

import duckdb
import pyarrow.parquet
from duckdb import DuckDBPyConnection

from flipcore.access.acting import Permission
from flipcore.core.records import Completion, digest
from flipcore.core.wordings import PARAPHRASE
from flipcore.store import questions, rows
from flipcore.store.connection import Store
from flipcore.store.schema import tables
from flipcore.store.writer import columns_as_arrow, write_columns

# A batch is stored after so many rows, or characters of prompts and outputs.
BATCH, BATCH_CHARS = 6_000, 20_000_000
_ORDER_KEY = "import order "  # of store_info, before the study's id
LEAST_MB = 500  # limit of the database during a small import
_KEYS_PER_MB = 4_000


def memory_mb(n_rows: int, n_extractors: int) -> int:
    """Return the limit of the database's memory during an import. Keys of stored rows must stay in
    memory, so it grows with the calls and readouts; their texts go to the disk."""
    return max(LEAST_MB, n_rows * (1 + n_extractors) // _KEYS_PER_MB)


def import_mark(store: Store, study_id: str) -> int:
    """Return how many rows of an import are stored; 0 for an import that is new or was deleted."""
    sql = (
        "SELECT value FROM store_info WHERE key = $key AND EXISTS (SELECT 1 FROM studies "
        "WHERE study_id = $study_id)"
    )
    return int(store.value(sql, key=f"import {study_id}", study_id=study_id) or 0)


def is_in_file_order(store: Store, study_id: str) -> bool:
    """Return whether an import stored rows in the order of its file, not in that of records."""
    sql = "SELECT EXISTS (FROM store_info WHERE key = $key)"
    return bool(store.value(sql, key=_ORDER_KEY + study_id))


def store_columns(
    store: Store,
    study_id: str,
    columns: Mapping[str, pyarrow.Table],
    n_seen: int,
    *,
    has_own_order: bool,
) -> Future:
    """Store a batch of an import, columns by table, together with the mark of `n_seen` rows.
    `has_own_order`: the rows are in the order of the file, and records would have another order."""
    mark = {"key": [f"import {study_id}"], "value": [str(n_seen)]}
    if has_own_order:
        mark = {"key": [*mark["key"], _ORDER_KEY + study_id], "value": [*mark["value"], "file"]}
    marks = {"store_info": columns_as_arrow(tables()["store_info"], mark)}

    def write(connection: DuckDBPyConnection, *, are_new: bool) -> None:
        write_columns(connection, columns, are_new=are_new)
        write_columns(connection, marks)
        if "items" in columns:
            questions.add_keys_of_batch(connection, *(columns[name] for name in questions.TABLES))

    return store.writer.transact(
        partial(write, are_new=True),
        Permission.BRING,
        changes={study_id},
        items=(),
        if_keys_exist=partial(write, are_new=False),
    )


# The outer hash keeps the sum of two rows from staying the same when their cells are exchanged.
_OUTPUT_SUM = """sum(hash(hash(call_id, status, text, coalesce(reasoning, ''),
    coalesce(CAST(tokens AS VARCHAR), ''))))"""
_SOURCE_SUM = """sum(hash(hash(model, item_id, axis, variant_id, CAST(sample AS VARCHAR), extractor,
    CAST(position AS VARCHAR), call_id)))"""
_SUMS = f"""
SELECT (SELECT count(*) FROM study_calls WHERE study_id = $study_id),
       (SELECT count(*) FROM readout_sources WHERE study_id = $study_id),
       (SELECT {_OUTPUT_SUM}
        FROM study_calls s JOIN completions c USING (call_id) WHERE s.study_id = $study_id),
       (SELECT {_SOURCE_SUM} FROM readout_sources WHERE study_id = $study_id)
"""


@cache
def _database_of_sums() -> DuckDBPyConnection:
    """Open a database in memory, once per process, as this takes a tenth of a small import's time.
    Cursors do not see what other cursors register."""
    return duckdb.connect(":memory:", config={"threads": 1})


class Sums:
    """Checksums of all rows that an import hands to the store, to be compared with the stored rows.
    A sum differs if a call was overwritten, a text was stored wrongly, or a readout names another
    call. Comparing sums is faster than reading the files a second time."""

    def __init__(self) -> None:
        self.n_calls = self.n_sources = self.output_sum = self.source_sum = 0

    def add(self, columns: Mapping[str, pyarrow.Table], *, n_calls: int, n_sources: int) -> None:
        """Add a batch; the counts are those before rows with the same key were merged."""
        self.n_calls, self.n_sources = self.n_calls + n_calls, self.n_sources + n_sources
        if "completions" in columns:
            self.output_sum += self._sum(_OUTPUT_SUM, columns["completions"])
        if "readout_sources" in columns:
            self.source_sum += self._sum(_SOURCE_SUM, columns["readout_sources"])

    def _sum(self, sum_of_rows: str, table: pyarrow.Table) -> int:
        self._connection.register("batch", table)
        ((total,),) = self._connection.execute(f"SELECT {sum_of_rows} FROM batch").fetchall()
        self._connection.unregister("batch")
        return int(total or 0)

    @cached_property
    def _connection(self) -> DuckDBPyConnection:
        return _database_of_sums().cursor()

    def agree(self, store: Store, study_id: str) -> bool:
        """Return whether the stored rows have these sums. If not, compare them with the files."""
        store.writer.flush()
        (totals,) = store.rows(_SUMS, study_id=study_id)
        return tuple(int(value or 0) for value in totals) == (
            self.n_calls,
            self.n_sources,
            self.output_sum,
            self.source_sum,
        )


def import_state(store: Store, study_id: str) -> tuple[str, str]:
    """Return (state, message) of an import's study."""
    return store.rows(
        "SELECT state, message FROM studies WHERE study_id = $study_id", study_id=study_id
    )[0]


_STORED_ELSEWHERE = """
SELECT * EXCLUDE (created_at, request) FROM completions
    WHERE revision IN (SELECT unnest($revisions))
AND call_id IN (SELECT call_id FROM study_calls WHERE study_id <> $study_id)
"""


def stored_elsewhere(store: Store, study_id: str, revisions: list[str]) -> Iterator[Completion]:
    """Yield the completions that other studies hold of the same files (by `revisions`)."""
    return map(
        rows.completion_of, store.stream(_STORED_ELSEWHERE, study_id=study_id, revisions=revisions)
    )


def add_answers(store: Store, path: Path) -> None:
    """Store completions from a Parquet file, so that a run need not ask for them. Completions that
    are stored already stay."""
    answers = pyarrow.parquet.read_table(path)

    def add(connection: DuckDBPyConnection) -> None:
        connection.register("answers", answers)
        connection.execute("INSERT OR IGNORE INTO completions BY NAME SELECT * FROM answers")
        connection.unregister("answers")

    store.writer.transact(add, changes=()).result()


def completions_at(store: Store, call_ids: list[str]) -> dict[str, Completion]:
    """Return the stored completions of some calls, by call id."""
    answer_rows = store.stream(
        "SELECT * EXCLUDE (created_at, request) FROM completions "
        "WHERE call_id IN (SELECT unnest($call_ids))",
        call_ids=call_ids,
    )
    return {row["call_id"]: rows.completion_of(row) for row in answer_rows}


_SOURCES = """
SELECT model, item_id, axis, variant_id, sample, extractor, list(call_id ORDER BY position)
    FROM readout_sources
WHERE study_id = $study_id AND item_id IN (SELECT unnest($item_ids)) GROUP BY ALL
"""


def sources_of(store: Store, study_id: str, item_ids: list[str]) -> dict[tuple, tuple[str, ...]]:
    """Return key of a readout (model, …, extractor) -> ids of the calls that it was read from."""
    answer_rows = store.rows(_SOURCES, study_id=study_id, item_ids=item_ids)
    return {tuple(key): tuple(call_ids) for *key, call_ids in answer_rows}


_REMOVE_READOUTS = """
DELETE FROM {table} t USING (
    SELECT model, item_id, variant_id, sample FROM readout_sources s WHERE study_id = $study_id
    AND (call_id NOT IN (SELECT call_id FROM completions) OR call_id IN (
        SELECT call_id FROM readout_sources WHERE study_id = $study_id
        GROUP BY call_id HAVING count(DISTINCT (model, item_id, variant_id, sample)) > 1))
) s
WHERE t.study_id = $study_id AND (t.model, t.item_id, t.variant_id, t.sample) = (s.model, s.item_id,
    s.variant_id, s.sample)
"""


def remove_readouts_of_lost_outputs(store: Store, study_id: str) -> None:
    """Remove readouts of an import whose outputs an earlier release lost; it is imported again."""
    # This query takes a tenth of the time of a transaction that finds nothing to remove.
    has_readouts = """SELECT EXISTS (FROM readouts WHERE study_id = $id)
        OR EXISTS (FROM readout_sources WHERE study_id = $id)"""
    if not store.value(has_readouts, id=study_id):
        return

    def remove(connection) -> None:
        for table in ("readouts", "readout_sources"):
            connection.execute(_REMOVE_READOUTS.format(table=table), {"study_id": study_id})

    store.writer.transact(remove, Permission.BRING, changes={study_id}).result()


_OTHER_REVISIONS = """
SELECT DISTINCT c.model, s.item_id, c.revision FROM readout_sources s JOIN completions c
    USING (call_id)
WHERE s.study_id = $study_id AND c.model IN (SELECT unnest($models)) AND c.revision <> $revision
    ORDER BY ALL
"""


def other_revisions(
    store: Store, study_id: str, models: list[str], revision: str
) -> dict[tuple[str, str], str]:
    """Return (model, item) -> revision, for answers in this study with another revision."""
    rows = store.rows(_OTHER_REVISIONS, study_id=study_id, models=models, revision=revision)
    return {(model, item): other_revision for model, item, other_revision in rows}


def other_calls(
    store: Store, study_id: str, models: list[str], call_ids: Collection[str]
) -> tuple[int, int]:
    """Return (number of the models' calls in the study except `call_ids`, failed ones of these)."""
    sql = """SELECT call_id, status FROM study_calls JOIN completions USING (call_id)
             WHERE study_id = $study_id AND model IN (SELECT unnest($models))"""
    statuses = [
        status
        for call_id, status in store.rows(sql, study_id=study_id, models=models)
        if call_id not in call_ids
    ]
    return len(statuses), sum(status != "ok" for status in statuses)


_AXES = "SELECT DISTINCT axis FROM study_variants WHERE study_id = $study_id AND axis <> $own"
_BASES = """
SELECT DISTINCT b.item_id, b.variant_id FROM study_variants b
JOIN study_variants v ON v.study_id = b.study_id AND v.item_id = b.item_id AND v.axis = $axis
    AND v.key <> 'base'
WHERE b.study_id = $study_id AND b.axis = $own AND b.key = 'base'
"""
_TABLES_TO_COPY = ("study_variants", "readouts", "readout_sources")


def copy_bases(store: Store, study_id: str, own_axis: str) -> None:
    """Copy the log's own prompt to every other axis, as the base of the items that vary there."""
    store.writer.flush()
    axes = [axis for (axis,) in store.rows(_AXES, study_id=study_id, own=own_axis)]
    if not axes:
        return

    def copy(connection) -> None:
        for axis in axes:
            params = {"study_id": study_id, "axis": axis, "own": own_axis}
            for table in _TABLES_TO_COPY:
                names = tables()[table].names
                values = ", ".join("$axis" if name == "axis" else f"t.{name}" for name in names)
                connection.execute(
                    f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM {table} t "
                    f"JOIN ({_BASES}) b USING (item_id, variant_id) WHERE t.study_id = $study_id "
                    "AND t.axis = $own ON CONFLICT DO NOTHING",
                    params,
                )

    # The prompts have their keys from the log's own axis.
    store.writer.transact(copy, Permission.BRING, changes={study_id}, items=()).result()
    store.touch([study_id])


_UNOFFERED = """
SELECT v.variant_id, v.item_id, i.dataset, p.parts AS original, w.parts AS paraphrase
FROM study_variants v JOIN items i USING (item_id) JOIN variants w USING (variant_id)
JOIN study_variants b ON (b.study_id, b.item_id, b.axis, b.key) = (v.study_id, v.item_id, v.axis,
    v.compared_with)
JOIN variants p ON p.variant_id = b.variant_id
WHERE v.study_id = $study_id AND v.axis = $axis AND v.key <> 'base' AND v.material_id IS NULL
    ORDER BY v.item_id, v.position
"""
_SET_MATERIAL = """
UPDATE study_variants v SET material_id = o.pair_id
    FROM (SELECT unnest($variants) AS variant_id, unnest($pairs) AS pair_id) o
WHERE v.study_id = $study_id AND v.axis = $axis AND v.variant_id = o.variant_id
"""


def offer_paraphrases(store: Store, study_id: str, name: str) -> int:
    """Offer a recording's paraphrases for review, and return how many are new. Each prompt is
    paired with the one that it is compared with. Once people have judged the pairs, the gate opens
    as for a study that was asked here. The pairs' source is the recording's `name`."""
    store.writer.flush()
    pair_of_variant: dict[str, str] = {}
    pairs: dict[str, dict] = {}
    for row in store.rows_of(_UNOFFERED, study_id=study_id, axis=PARAPHRASE):
        original = "".join(text for _, text in json.loads(row["original"]))
        paraphrase = "".join(text for _, text in json.loads(row["paraphrase"]))
        pair_id = f"{row['dataset']}/{digest(row['dataset'], name, original, paraphrase)}"
        pairs[pair_id] = {
            "pair_id": pair_id,
            "dataset": row["dataset"],
            "item_id": row["item_id"],
            "original": original,
            "paraphrase": paraphrase,
            "generator": name,
            "change": PARAPHRASE,
            "created_at": rows.now(),
        }
        pair_of_variant[row["variant_id"]] = pair_id

    def offer(connection: DuckDBPyConnection) -> None:
        params = {
            "study_id": study_id,
            "axis": PARAPHRASE,
            "variants": list(pair_of_variant),
            "pairs": list(pair_of_variant.values()),
        }
        connection.execute(_SET_MATERIAL, params)

    if pairs:
        store.writer.add("paraphrases", list(pairs.values()))
        store.writer.transact(offer, Permission.BRING, changes={study_id}, items=()).result()
        store.touch([study_id])
    return len(pairs)
