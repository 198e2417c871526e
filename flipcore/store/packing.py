"""Packed readouts: pages read a large study as one row per model and item, not per readout.

Each row has lists with one entry per readout that flips may be made of: its status, the code of its
answer, and the few other values that `queries.studies.readouts` returns. The row's `layout` says
which axis, variant, sample and extractor each entry belongs to. Layouts and texts are stored once,
in the study's mark. Reviews of paraphrases and access to items are checked on reading, not here.

The packs of a study are valid while its mark exists. A transaction that changes readouts or
variants deletes the mark (`flipcore.store.pack_tables`). Then pages read the readouts themselves.
Packs are made in the background once a study has ended.
"""

import json
import logging
import queue
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from secrets import token_hex
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from duckdb import DuckDBPyConnection

from flipcore.access.acting import OWNER, Permission, acting_as
from flipcore.core.records import digest
from flipcore.store.connection import Store
from flipcore.store.harmless import COMPARABLE, IS_ANSWER, answer_params, comparable_params
from flipcore.store.pack_tables import forget

LARGE = 50_000  # readouts; smaller studies are read fast enough without packs
CHUNK = 1_500_000  # readouts that are packed together
STATUSES = ("ok", "unreadable", "cut", "absent")
N_STATUSES = len(STATUSES)
READOUT_COLUMNS = ("axis", "key", "position", "compared_with", "sample", "extractor")
LAYOUT = (*READOUT_COLUMNS, "place")  # place: the number of the readout's variant within its row
NUMBER_COLUMNS = ("position", "sample", "place")  # of LAYOUT; the others are text
COLUMNS = tuple(
    "model item_id layout variants materials states answers reasons numbers label_masses".split()
)
# Readouts that flips may be made of, whatever their paraphrase's state or the access to their item.
_READOUTS = f"""
SELECT r.model, r.item_id, r.axis, v.key, v.position, v.compared_with, v.material_id, r.variant_id,
    r.sample, r.extractor, r.status,
       r.answer, r.value, r.is_correct, r.label_mass, r.reason
FROM readouts r JOIN study_variants v USING (study_id, item_id, axis, variant_id)
JOIN items q USING (item_id) JOIN variants w USING (variant_id)
WHERE r.study_id = $study_id AND r.item_id BETWEEN $low AND $high AND v.item_id BETWEEN $low
    AND $high
  AND {COMPARABLE} AND {IS_ANSWER}
ORDER BY r.model, r.item_id, r.axis, v.position, r.variant_id, r.sample, r.extractor
"""


def rule_params() -> dict[str, Any]:
    """Return the parameters of the rule for which readouts may be compared."""
    return comparable_params() | answer_params()


def rule_hash() -> str:
    """Return a hash of `rule_params` and the columns. Packs with another hash are invalid, such as
    those of another release or with other plug-ins."""
    return digest(json.dumps(rule_params(), sort_keys=True), *COLUMNS, *LAYOUT)


@dataclass
class Texts:
    """Distinct texts, coded by the order of their first appearance."""

    code_of_text: dict[Any, int] = field(default_factory=dict)

    def encode(self, column: pa.ChunkedArray) -> np.ndarray:
        """Return the code of each value, -1 for a missing one. New texts get new codes."""
        coded = column.combine_chunks().dictionary_encode()
        codes = []
        for text in coded.dictionary.to_pylist():
            codes.append(self.code_of_text.setdefault(text, len(self.code_of_text)))
        # A missing text has the index -1, which picks the last element.
        return np.array([*codes, -1], np.int32)[coded.indices.fill_null(-1).to_numpy()]

    @property
    def texts(self) -> list[Any]:
        return list(self.code_of_text)


@dataclass
class Packer:
    """State of packing the readouts of one study, chunk by chunk. `layouts`, `answers` and
    `reasons` collect the texts of all chunks."""

    layouts: Texts = field(default_factory=Texts)
    answers: Texts = field(default_factory=Texts)
    reasons: Texts = field(default_factory=Texts)

    def pack(self, table: pa.Table) -> pa.Table:
        """Return the packed rows of a chunk, one per model and item, in the chunk's order. `table`
        has the columns and the order of `_READOUTS`. Raises ValueError for an unknown status."""
        model, item, axis, variant = (
            table[name].combine_chunks().dictionary_encode()
            for name in ("model", "item_id", "axis", "variant_id")
        )
        starts = _starts(model.indices.to_numpy(), item.indices.to_numpy())
        row_of_readout = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        # The first readout of each variant; variants are numbered over all rows, and then by row.
        variant_firsts = _starts(
            row_of_readout, axis.indices.to_numpy(), variant.indices.to_numpy()
        )
        n_variants = len(variant_firsts) - 1
        variant_of_readout = np.repeat(np.arange(n_variants), np.diff(variant_firsts))
        variant_firsts = variant_firsts[:-1]
        first_variants = np.searchsorted(variant_firsts, starts[:-1])  # of each row
        variant_places = variant_of_readout - first_variants[row_of_readout]
        status = pc.index_in(table["status"], pa.array(STATUSES)).combine_chunks()
        if status.null_count:
            raise ValueError("a readout has a status that is not known")
        # One byte: the status, plus N_STATUSES × (0 wrong, 1 right, 2 unknown).
        is_correct = table["is_correct"].cast(pa.int8()).combine_chunks()
        correctness_codes = pc.fill_null(is_correct, 2).to_numpy()
        states = (status.to_numpy() + N_STATUSES * correctness_codes).astype(np.uint8)
        variant_starts = np.append(first_variants, n_variants)
        row_starts = pa.array(starts[:-1])
        arrays: dict[str, Any] = {}
        for name, column in (("model", model), ("item_id", item)):
            arrays[name] = column.dictionary.take(column.indices.take(row_starts))
        arrays["layout"] = self._layouts(table, variant_places, starts)
        for name, column in (("variants", "variant_id"), ("materials", "material_id")):
            values = table[column].combine_chunks().take(pa.array(variant_firsts))
            arrays[name] = _lists(variant_starts, values)
        arrays["states"] = _lists(starts, states)
        arrays["answers"] = _lists(starts, self.answers.encode(table["answer"]))
        arrays["reasons"] = _lists(starts, self.reasons.encode(table["reason"]))
        arrays["numbers"] = _sparse(starts, table["value"].combine_chunks())
        arrays["label_masses"] = _sparse(starts, table["label_mass"].combine_chunks())
        return pa.table(arrays)

    def _layouts(
        self, table: pa.Table, variant_places: np.ndarray, starts: np.ndarray
    ) -> np.ndarray:
        """Return the code of each row's layout. `starts` are the first readouts of the rows, and
        `variant_places` the number of each readout's variant within its row."""
        parts = [table[name].combine_chunks().dictionary_encode() for name in READOUT_COLUMNS]
        codes = np.stack([*(part.indices.to_numpy() for part in parts), variant_places])
        codes = codes.astype(np.int64)  # (columns of LAYOUT, readouts)
        lengths = np.diff(starts)
        position_in_row = np.arange(len(variant_places)) - np.repeat(starts[:-1], lengths)
        # Hash each layout to a sum over its codes with random odd factors, so that two
        # numbers per row are compared. A check below makes sure that no two layouts share a hash.
        generator = np.random.Generator(np.random.PCG64(0))
        odd_factors = generator.integers(1, 2**62, size=(len(codes), 2)) | 1
        readout_hashes = sum(
            (code + 1) * factor + (code * position_in_row) * position_factor
            for code, (factor, position_factor) in zip(codes, odd_factors, strict=True)
        )
        keys = np.stack([np.add.reduceat(readout_hashes, starts[:-1]), lengths])
        _, first_rows, layout_of_row = np.unique(
            keys, axis=1, return_index=True, return_inverse=True
        )
        # Compare each row with the first row that has its hash, readout by readout.
        starts_of_first = np.repeat(starts[first_rows][layout_of_row], lengths)
        if (codes[:, starts_of_first + position_in_row] != codes).any():
            raise ValueError("two layouts have one hash")
        layout_codes, code_of_layout = [], self.layouts.code_of_text
        for row in first_rows:
            start, end = starts[row], starts[row + 1]
            lists = [part.dictionary.take(part.indices[start:end]).to_pylist() for part in parts]
            text = json.dumps([*lists, variant_places[start:end].tolist()], ensure_ascii=False)
            layout_codes.append(code_of_layout.setdefault(text, len(code_of_layout)))
        return np.asarray(layout_codes, dtype=np.int32)[layout_of_row]


def _starts(*codes: np.ndarray) -> np.ndarray:
    """Return the indices at which any of the codes changes. The first is 0, the last the length."""
    n = len(codes[0])
    is_new = np.zeros(n, dtype=bool)
    is_new[:1] = True
    for column in codes:
        is_new[1:] |= column[1:] != column[:-1]
    return np.append(np.flatnonzero(is_new), n)


def _lists(starts: np.ndarray, values: Any) -> pa.ListArray:
    """Return lists of `values` that begin at `starts[:-1]`; `starts[-1]` is the end."""
    return pa.ListArray.from_arrays(
        pa.array(starts, pa.int32()), pa.array(values) if isinstance(values, np.ndarray) else values
    )


def _sparse(starts: np.ndarray, values: pa.Array) -> pa.Array:
    """Return lists as `_lists` does, but NULL for rows that have no value."""
    n_values = np.add.reduceat(
        values.is_valid().to_numpy(zero_copy_only=False).astype(np.int64), starts[:-1]
    )
    if not n_values.any():
        return pa.nulls(len(n_values), pa.list_(pa.float64()))
    return pc.if_else(
        pa.array(n_values > 0), _lists(starts, values), pa.scalar(None, pa.list_(pa.float64()))
    )


def chunks(cursor: DuckDBPyConnection, study_id: str, packer: Packer) -> Iterator[pa.Table]:
    """Yield the packed rows of a study without storing them, about `CHUNK` readouts at a time."""
    study_params = {"id": study_id}
    rows = cursor.execute(
        "SELECT item_id FROM study_items WHERE study_id = $id ORDER BY item_id", study_params
    ).fetchall()
    items = [item for (item,) in rows]
    n_readouts = cursor.execute(
        "SELECT count(*) FROM readouts WHERE study_id = $id", study_params
    ).fetchall()[0][0]
    step = max(1, int(CHUNK * len(items) / max(n_readouts, 1)))
    for start in range(0, len(items), step):
        chunk = items[start : start + step]
        params = {"study_id": study_id, "low": chunk[0], "high": chunk[-1], **rule_params()}
        table = cursor.sql(_READOUTS, params=params).to_arrow_table()
        if len(table):
            yield packer.pack(table)


def pack(store: Store, study_id: str, stop: threading.Event | None = None) -> bool:
    """Pack a study, and return whether its packs are valid. They are not if its readouts changed
    while they were packed, or if `stop` was set."""
    writer, packer, n_readouts = store.writer, Packer(), 0
    n_changes = writer.n_changes(study_id)

    def clear(connection: DuckDBPyConnection) -> None:
        forget(connection, study_id)

    def add(connection: DuckDBPyConnection, rows: pa.Table) -> None:
        connection.register("incoming", rows)
        try:
            connection.execute(
                f"INSERT INTO packed.rows SELECT $id, {', '.join(COLUMNS)} FROM incoming",
                {"id": study_id},
            )
        finally:
            connection.unregister("incoming")

    def add_mark(connection: DuckDBPyConnection) -> bool:
        if writer.n_changes(study_id) != n_changes:
            return False
        lists = [packer.layouts.texts, packer.answers.texts, packer.reasons.texts]
        connection.execute(
            "INSERT INTO packed.marks VALUES (?, ?, ?, ?, ?, ?, ?)",
            [study_id, rule_hash(), token_hex(8), n_readouts, *lists],
        )
        return True

    writer.transact(clear, Permission.READ, changes=()).result()
    with closing(store.cursor()) as cursor:
        for rows in chunks(cursor, study_id, packer):
            if stop is not None and stop.is_set():
                return False
            n_readouts += pc.sum(pc.list_value_length(rows["states"])).as_py() or 0
            writer.transact(partial(add, rows=rows), Permission.READ, changes=()).result()
    return writer.transact(add_mark, Permission.READ, changes=()).result()


@dataclass(frozen=True)
class Mark:
    """The texts that a study's packs refer to by code. Each layout is a JSON text with a list per
    column of LAYOUT."""

    token: str  # random, another one after each packing
    layouts: list[str]
    answers: list[str]
    reasons: list[str]


def mark(store: Store, study_id: str) -> Mark | None:
    """Return the study's mark; None if its packs are not valid or follow another rule."""
    with closing(store.cursor()) as cursor:
        return mark_in(cursor, study_id)


def mark_in(cursor: DuckDBPyConnection, study_id: str) -> Mark | None:
    """Return the study's mark, as `mark` does, within the transaction of a cursor."""
    sql = (
        "SELECT token, layouts, answers, reasons FROM packed.marks WHERE study_id = $id "
        "AND rule = $rule"
    )
    rows = cursor.execute(sql, {"id": study_id, "rule": rule_hash()}).fetchall()
    return Mark(*rows[0]) if rows else None


def is_packed(store: Store, study_id: str) -> bool:
    """Return whether the study's packs are valid."""
    return mark(store, study_id) is not None


class _Thread:
    """A thread that packs large studies which have ended, one by one, until the store is closed."""

    def __init__(self, store: Store) -> None:
        self._store, self._queue = store, queue.SimpleQueue[str]()
        self._waiting: set[str] = set()
        # study -> its number of changes when packing failed; it is tried again after a change
        self._failed_at: dict[str, int] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="flipscope-packs", daemon=True)
        self._thread.start()
        store.before_closing.append(self.stop)

    def add(self, study_id: str) -> None:
        with _LOCK:
            if study_id in self._waiting:
                return
            self._waiting.add(study_id)
        self._queue.put(study_id)

    def stop(self) -> None:
        self._stop.set()
        self._queue.put("")
        self._thread.join(60)
        _THREADS.pop(self._store, None)

    def _loop(self) -> None:
        while (study_id := self._queue.get()) and not self._stop.is_set():
            n_changes = self._store.writer.n_changes(study_id)
            try:
                with acting_as(OWNER):
                    if self._failed_at.get(study_id) != n_changes and _is_due(
                        self._store, study_id
                    ):
                        pack(self._store, study_id, self._stop)
            except Exception as error:  # pages can still read the readouts themselves
                self._failed_at[study_id] = n_changes
                logging.getLogger(__name__).error("A study could not be packed", exc_info=error)
            with _LOCK:
                self._waiting.discard(study_id)


_LOCK = threading.Lock()
_THREADS: WeakKeyDictionary[Store, _Thread] = WeakKeyDictionary()


def pack_later(store: Store, study_id: str) -> None:
    """Have a study packed in the background if it is large, has ended, and has no valid packs."""
    with _LOCK:
        thread = _THREADS.get(store)
    if thread is None and _is_due(store, study_id):
        with _LOCK:
            thread = _THREADS.get(store) or _Thread(store)
            _THREADS[store] = thread
    if thread is not None:
        thread.add(study_id)


def _is_due(store: Store, study_id: str) -> bool:
    sql = """SELECT (SELECT count(*) FROM readouts WHERE study_id = $id) >= $large
             FROM studies WHERE study_id = $id AND state NOT IN ('planned', 'running')"""
    return store.rows(sql, id=study_id, large=LARGE) == [(True,)] and not is_packed(store, study_id)
