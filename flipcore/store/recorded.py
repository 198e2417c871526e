"""Queries that only imports ask: how far one came, what it stored, and bases repeated under
every axis."""

import json
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import Future
from functools import cache, cached_property
from pathlib import Path

import duckdb
import pyarrow.parquet
from duckdb import DuckDBPyConnection

from flipcore.access.acting import Permission
from flipcore.core.records import Completion, digest
from flipcore.core.wordings import PARAPHRASE
from flipcore.store import rows
from flipcore.store.connection import Store
from flipcore.store.schema import tables
from flipcore.store.writer import columns_as_arrow, write_columns

# Rows, and characters of prompts and texts, after which a batch is stored.
BATCH, BATCH_CHARS = 6_000, 20_000_000
_ORDER = "import order "
MEMORY_MB = 1_000  # of the database meanwhile, however large the file is


def import_mark(store: Store, study_id: str) -> int:
    """Return how many rows of an import are stored for certain; 0 for one that never began, or
    whose study was deleted since."""
    sql = (
        "SELECT value FROM store_info WHERE key = $key AND EXISTS (SELECT 1 FROM studies "
        "WHERE study_id = $study_id)"
    )
    answer_rows = store.rows(sql, key=f"import {study_id}", study_id=study_id)
    return int(answer_rows[0][0]) if answer_rows else 0


def is_in_file_order(store: Store, study_id: str) -> bool:
    """Tell whether rows of an import were stored in the order of its file, where records come in
    another one."""
    sql = "SELECT EXISTS (FROM store_info WHERE key = $key)"
    return bool(store.rows(sql, key=_ORDER + study_id)[0][0])


def store_columns(
    store: Store,
    study_id: str,
    columns: Mapping[str, pyarrow.Table],
    n_seen: int,
    *,
    has_own_order: bool,
) -> Future:
    """Hand a batch of an import to the writer as columns, by table, safe with its mark of `n_seen`
    rows or not at all. `has_own_order` tells that records would come in another order."""
    mark = {"key": [f"import {study_id}"], "value": [str(n_seen)]}
    if has_own_order:
        mark = {"key": [*mark["key"], _ORDER + study_id], "value": [*mark["value"], "file"]}
    marked = {**columns, "store_info": columns_as_arrow(tables()["store_info"], mark)}

    def write(connection: DuckDBPyConnection) -> None:
        write_columns(connection, marked)

    items = columns["items"]["item_id"].to_pylist() if "items" in columns else []
    return store.writer.transact(write, Permission.BRING, changes={study_id}, items=items)


_OF_OUTPUT = """sum(md5_number_lower(concat_ws(chr(31), call_id, status, text,
    coalesce(reasoning, ''), coalesce(CAST(tokens AS VARCHAR), ''))))"""
_OF_SOURCE = """sum(md5_number_lower(concat_ws(chr(31), model, item_id, axis, variant_id,
    CAST(sample AS VARCHAR), extractor, CAST(position AS VARCHAR), call_id)))"""
_SUMS = f"""
SELECT (SELECT count(*) FROM study_calls WHERE study_id = $study_id),
       (SELECT count(*) FROM readout_sources WHERE study_id = $study_id),
       (SELECT {_OF_OUTPUT}
        FROM study_calls s JOIN completions c USING (call_id) WHERE s.study_id = $study_id),
       (SELECT {_OF_SOURCE} FROM readout_sources WHERE study_id = $study_id)
"""


@cache
def _database_of_sums() -> DuckDBPyConnection:
    """Connect to a database in memory, one per process: opening one takes a tenth of the import of
    a small log. What a cursor registers no other cursor sees."""
    return duckdb.connect(":memory:", config={"threads": 1})


class Sums:
    """Sums over all that an import hands to the store, to be compared with what the store holds.

    A call that was written over, a text that came out otherwise and a readout that names another
    call change a sum. Comparing them takes no second reading of the files.
    """

    def __init__(self) -> None:
        self.n_calls = self.n_sources = self.of_outputs = self.of_sources = 0

    def add(self, columns: Mapping[str, pyarrow.Table], *, n_calls: int, n_sources: int) -> None:
        """Take in a batch by table; the counts are those before two rows of one key became one."""
        self.n_calls, self.n_sources = self.n_calls + n_calls, self.n_sources + n_sources
        if "completions" in columns:
            self.of_outputs += self._sum(_OF_OUTPUT, columns["completions"])
        if "readout_sources" in columns:
            self.of_sources += self._sum(_OF_SOURCE, columns["readout_sources"])

    def _sum(self, sum_of_rows: str, table: pyarrow.Table) -> int:
        self._connection.register("batch", table)
        ((total,),) = self._connection.execute(f"SELECT {sum_of_rows} FROM batch").fetchall()
        self._connection.unregister("batch")
        return int(total or 0)

    @cached_property
    def _connection(self) -> DuckDBPyConnection:
        return _database_of_sums().cursor()

    def agree(self, store: Store, study_id: str) -> bool:
        """Return whether the store holds what was handed to it. False asks for a second reading."""
        store.writer.flush()
        (totals,) = store.rows(_SUMS, study_id=study_id)
        return tuple(int(value or 0) for value in totals) == (
            self.n_calls,
            self.n_sources,
            self.of_outputs,
            self.of_sources,
        )


def import_state(store: Store, study_id: str) -> tuple[str, str]:
    """(state, message) of an import that was begun."""
    return store.rows(
        "SELECT state, message FROM studies WHERE study_id = $study_id", study_id=study_id
    )[0]


_ELSEWHERE = """
SELECT * EXCLUDE (created_at, request) FROM completions
    WHERE revision IN (SELECT unnest($revisions))
AND call_id IN (SELECT call_id FROM study_calls WHERE study_id <> $study_id)
"""


def stored_elsewhere(store: Store, study_id: str, revisions: list[str]) -> Iterator[Completion]:
    """Return the completions that other studies hold of the same files."""
    return map(rows.completion_of, store.stream(_ELSEWHERE, study_id=study_id, revisions=revisions))


def add_answers(store: Store, path: Path) -> None:
    """Store completions from a Parquet file with the columns of their table; a run finds them
    stored. One whose call is here stays."""
    answers = pyarrow.parquet.read_table(path)

    def add(connection: DuckDBPyConnection) -> None:
        connection.register("answers", answers)
        connection.execute("INSERT OR IGNORE INTO completions BY NAME SELECT * FROM answers")
        connection.unregister("answers")

    store.writer.transact(add, changes=()).result()


def completions_at(store: Store, call_ids: list[str]) -> dict[str, Completion]:
    """The stored completions of some calls."""
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
    """(model, item, axis, variant, sample, extractor) -> the calls that it was read from."""
    answer_rows = store.rows(_SOURCES, study_id=study_id, item_ids=item_ids)
    return {tuple(key): tuple(call_ids) for *key, call_ids in answer_rows}


_ASTRAY = """
DELETE FROM {table} t USING (
    SELECT model, item_id, variant_id, sample FROM readout_sources s WHERE study_id = $study_id
    AND (call_id NOT IN (SELECT call_id FROM completions) OR call_id IN (
        SELECT call_id FROM readout_sources WHERE study_id = $study_id
        GROUP BY call_id HAVING count(DISTINCT (model, item_id, variant_id, sample)) > 1))
) s
WHERE t.study_id = $study_id AND (t.model, t.item_id, t.variant_id, t.sample) = (s.model, s.item_id,
    s.variant_id, s.sample)
"""


def remove_astray(store: Store, study_id: str) -> None:
    """Remove the readouts of an import whose texts an earlier release lost, so that reading its
    files again leaves none behind."""
    # A look takes a tenth of the time of a transaction that finds nothing to remove.
    has_readouts = """SELECT EXISTS (FROM readouts WHERE study_id = $id)
        OR EXISTS (FROM readout_sources WHERE study_id = $id)"""
    if store.rows(has_readouts, id=study_id) == [(False,)]:
        return

    def remove(connection) -> None:
        for table in ("readouts", "readout_sources"):
            connection.execute(_ASTRAY.format(table=table), {"study_id": study_id})

    store.writer.transact(remove, Permission.BRING, changes={study_id}).result()


_OTHERS = """
SELECT DISTINCT c.model, s.item_id, c.revision FROM readout_sources s JOIN completions c
    USING (call_id)
WHERE s.study_id = $study_id AND c.model IN (SELECT unnest($models)) AND c.revision <> $revision
    ORDER BY ALL
"""


def other_revisions(
    store: Store, study_id: str, models: list[str], revision: str
) -> dict[tuple[str, str], str]:
    """(model, item) whose answers in this study came from elsewhere than from this revision -> from
    which."""
    rows = store.rows(_OTHERS, study_id=study_id, models=models, revision=revision)
    return {(model, item): other_revision for model, item, other_revision in rows}


def other_calls(
    store: Store, study_id: str, models: list[str], call_ids: Collection[str]
) -> tuple[int, int]:
    """(calls of these models in the study but these, how many of them failed)."""
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
_COPIES = ("study_variants", "readouts", "readout_sources")


def repeat_bases(store: Store, study_id: str, own_axis: str) -> None:
    """Make the log's own prompt the base, under every other axis, of the items changed there."""
    store.writer.flush()
    axes = [axis for (axis,) in store.rows(_AXES, study_id=study_id, own=own_axis)]
    if not axes:
        return

    def repeat(connection) -> None:
        for axis in axes:
            params = {"study_id": study_id, "axis": axis, "own": own_axis}
            for table in _COPIES:
                names = tables()[table].names
                values = ", ".join("$axis" if name == "axis" else f"t.{name}" for name in names)
                connection.execute(
                    f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM {table} t "
                    f"JOIN ({_BASES}) b USING (item_id, variant_id) WHERE t.study_id = $study_id "
                    "AND t.axis = $own ON CONFLICT DO NOTHING",
                    params,
                )

    store.writer.transact(repeat, Permission.BRING, changes={study_id}).result()
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
_OFFERED = """
UPDATE study_variants v SET material_id = o.pair_id
    FROM (SELECT unnest($variants) AS variant_id, unnest($pairs) AS pair_id) o
WHERE v.study_id = $study_id AND v.axis = $axis AND v.variant_id = o.variant_id
"""


def offer_paraphrases(store: Store, study_id: str, name: str) -> int:
    """Make what a recording calls paraphrases pairs of Review, each prompt beside the one that it
    is compared with, so that people judge them and the gate opens as it does for a study that asked
    them; how many are new. Their source is the recording's `name`.
    """
    store.writer.flush()
    pair_of: dict[str, str] = {}
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
        pair_of[row["variant_id"]] = pair_id

    def offer(connection: DuckDBPyConnection) -> None:
        params = {
            "study_id": study_id,
            "axis": PARAPHRASE,
            "variants": list(pair_of),
            "pairs": list(pair_of.values()),
        }
        connection.execute(_OFFERED, params)

    if pairs:
        store.writer.add("paraphrases", list(pairs.values()))
        store.writer.transact(offer, Permission.BRING, changes={study_id}).result()
        store.touch([study_id])
    return len(pairs)
