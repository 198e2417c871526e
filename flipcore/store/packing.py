"""Packed readouts: what pages read of a large study, a row a model and item instead of one a
readout.

A row's lists hold, for every readout that flips may be made of, its status, the number of its
answer, and the little else that `queries.studies.readouts` returns; `layout` says which axis,
variant, sample and extractor each place of the lists is. Texts stand once, in the mark of the
study. Which paraphrases stand and which items may be seen is decided when they are read, not here.

A study's packs hold while its mark is there. The writer takes it away in the transaction that
changes readouts or variants (`flipcore.store.pack_tables`), and the readouts themselves are read
then. Packs are made in the background once a study has ended.
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

LARGE = 50_000  # readouts; what is smaller is read in no time as it is
CHUNK = 1_500_000  # readouts that are packed at once
STATUSES = ("ok", "unreadable", "cut", "absent")
LAYOUT = ("axis", "key", "position", "compared_with", "sample", "extractor", "place")
NUMBERS = ("position", "sample", "place")  # the others are texts
COLUMNS = (
    "model",
    "item_id",
    "layout",
    "variants",
    "materials",
    "states",
    "answers",
    "reasons",
    "numbers",
    "label_masses",
)
# readouts that flips may be made of, whatever stands of their paraphrases and whoever may see their
# items
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
    """Return what decides, besides their own rows, which readouts may be compared."""
    return comparable_params() | answer_params()


def rule() -> str:
    """Return the hash of `rule_params`: packs of another rule, as of a release or with plug-ins
    that are not here, do not hold."""
    return digest(json.dumps(rule_params(), sort_keys=True), *COLUMNS, *LAYOUT)


@dataclass
class Texts:
    """Distinct texts in the order in which they came, and the place of each."""

    places: dict[Any, int] = field(default_factory=dict)

    def codes(self, column: pa.ChunkedArray) -> np.ndarray:
        """The place of each value; -1 for none."""
        coded = column.combine_chunks().dictionary_encode()
        places = []
        for text in coded.dictionary.to_pylist():
            places.append(self.places.setdefault(text, len(self.places)))
        # A missing text has the index -1, which finds the last place.
        return np.array([*places, -1], np.int32)[coded.indices.fill_null(-1).to_numpy()]

    @property
    def texts(self) -> list[Any]:
        return list(self.places)


@dataclass
class Packer:
    """Packs the readouts of one study, a chunk of items after the other; `layouts`, `answers` and
    `reasons` grow meanwhile."""

    layouts: Texts = field(default_factory=Texts)
    answers: Texts = field(default_factory=Texts)
    reasons: Texts = field(default_factory=Texts)

    def pack(self, table: pa.Table) -> pa.Table:
        """The rows of a chunk, in its order: a row a model and item. Raises ValueError for a status
        that is not known."""
        rows = [table[name].combine_chunks().dictionary_encode() for name in ("model", "item_id")]
        starts = _starts(*(column.indices.to_numpy() for column in rows))
        variants = table["variant_id"].combine_chunks().dictionary_encode().indices.to_numpy()
        axes = table["axis"].combine_chunks().dictionary_encode().indices.to_numpy()
        row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        firsts = _starts(row, axes, variants)[:-1]  # the first readout of each variant
        place = (
            np.repeat(np.arange(len(firsts)), np.diff(np.append(firsts, len(row))))
            - np.searchsorted(firsts, starts[:-1])[row]
        )
        status = pc.index_in(table["status"], pa.array(STATUSES)).combine_chunks()
        if status.null_count:
            raise ValueError("a readout has a status that is not known")
        right = pc.fill_null(table["is_correct"].cast(pa.int8()), 2).combine_chunks().to_numpy()
        states = (status.to_numpy() + 4 * right).astype(np.uint8)
        of_variants = np.append(np.searchsorted(firsts, starts[:-1]), len(firsts))
        ids, materials = (
            table[name].combine_chunks().take(pa.array(firsts))
            for name in ("variant_id", "material_id")
        )
        of_rows = pa.array(starts[:-1])
        arrays: dict[str, Any] = {}
        for name, column in zip(("model", "item_id"), rows, strict=True):
            arrays[name] = column.dictionary.take(column.indices.take(of_rows))
        arrays["layout"] = self._layouts(table, place, starts)
        arrays |= {
            "variants": _lists(of_variants, ids),
            "materials": _lists(of_variants, materials),
        }
        arrays["states"] = _lists(starts, states)
        arrays["answers"] = _lists(starts, self.answers.codes(table["answer"]))
        arrays["reasons"] = _lists(starts, self.reasons.codes(table["reason"]))
        arrays["numbers"] = _sparse(starts, table["value"].combine_chunks())
        arrays["label_masses"] = _sparse(starts, table["label_mass"].combine_chunks())
        return pa.table(arrays)

    def _layouts(self, table: pa.Table, place: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """The number of each row's layout: rows whose places are the same have the same."""
        parts = [table[name].combine_chunks().dictionary_encode() for name in LAYOUT[:-1]]
        codes = np.stack([*(part.indices.to_numpy() for part in parts), place]).astype(np.int64)
        lengths = np.diff(starts)
        within = np.arange(len(place)) - np.repeat(starts[:-1], lengths)
        # A row's layout is known by a random sum over its codes, so that rows are compared by two
        # numbers; that no two layouts share one is looked at below.
        noise = np.random.Generator(np.random.PCG64(0)).integers(1, 2**62, size=(len(codes), 2)) | 1
        mixed = sum(
            (code + 1) * odd[0] + (code * within) * odd[1]
            for code, odd in zip(codes, noise, strict=True)
        )
        keys = np.stack([np.add.reduceat(mixed, starts[:-1]), lengths])
        _, first, of_row = np.unique(keys, axis=1, return_index=True, return_inverse=True)
        same = codes[:, np.repeat(starts[first][of_row], lengths) + within]
        if (same != codes).any():
            raise ValueError("two layouts have one hash")
        numbers = []
        for row in first:
            start, end = starts[row], starts[row + 1]
            lists = [part.dictionary.take(part.indices[start:end]).to_pylist() for part in parts]
            text = json.dumps([*lists, place[start:end].tolist()], ensure_ascii=False)
            numbers.append(self.layouts.places.setdefault(text, len(self.layouts.places)))
        return np.asarray(numbers, dtype=np.int32)[of_row]


def _starts(*codes: np.ndarray) -> np.ndarray:
    """Return the places where a new run begins in any of these, and the end."""
    n = len(codes[0])
    is_new = np.zeros(n, dtype=bool)
    is_new[:1] = True
    for column in codes:
        is_new[1:] |= column[1:] != column[:-1]
    return np.append(np.flatnonzero(is_new), n)


def _lists(starts: np.ndarray, values: Any) -> pa.ListArray:
    return pa.ListArray.from_arrays(
        pa.array(starts, pa.int32()), pa.array(values) if isinstance(values, np.ndarray) else values
    )


def _sparse(starts: np.ndarray, values: pa.Array) -> pa.Array:
    """The lists of each row, NULL where a row has no value at all."""
    n = np.add.reduceat(
        values.is_valid().to_numpy(zero_copy_only=False).astype(np.int64), starts[:-1]
    )
    if not n.any():
        return pa.nulls(len(n), pa.list_(pa.float64()))
    return pc.if_else(
        pa.array(n > 0), _lists(starts, values), pa.scalar(None, pa.list_(pa.float64()))
    )


def chunks(cursor: DuckDBPyConnection, study_id: str, packer: Packer) -> Iterator[pa.Table]:
    """The packs of a study, some thousand items after the other; they are not stored by this."""
    study_params = {"id": study_id}
    rows = cursor.execute(
        "SELECT item_id FROM study_items WHERE study_id = $id ORDER BY item_id", study_params
    ).fetchall()
    items = [item for (item,) in rows]
    n = cursor.execute(
        "SELECT count(*) FROM readouts WHERE study_id = $id", study_params
    ).fetchall()[0][0]
    step = max(1, int(CHUNK * len(items) / max(n, 1)))
    for start in range(0, len(items), step):
        part = items[start : start + step]
        params = {"study_id": study_id, "low": part[0], "high": part[-1], **rule_params()}
        table = cursor.sql(_READOUTS, params=params).to_arrow_table()
        if len(table):
            yield packer.pack(table)


def pack(store: Store, study_id: str, stop: threading.Event | None = None) -> bool:
    """Pack a study; whether its packs hold now. They do not where its readouts changed meanwhile,
    or where it was stopped."""
    packer, before, n = Packer(), store.writer.n_changes(study_id), 0
    writer = store.writer

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

    def close(connection: DuckDBPyConnection) -> bool:
        if writer.n_changes(study_id) != before:
            return False
        lists = [packer.layouts.texts, packer.answers.texts, packer.reasons.texts]
        connection.execute(
            "INSERT INTO packed.marks VALUES (?, ?, ?, ?, ?, ?, ?)",
            [study_id, rule(), token_hex(8), n, *lists],
        )
        return True

    writer.transact(clear, Permission.READ, changes=()).result()
    with closing(store.cursor()) as cursor:
        for rows in chunks(cursor, study_id, packer):
            if stop is not None and stop.is_set():
                return False
            n += pc.sum(pc.list_value_length(rows["states"])).as_py() or 0
            writer.transact(partial(add, rows=rows), Permission.READ, changes=()).result()
    return writer.transact(close, Permission.READ, changes=()).result()


@dataclass(frozen=True)
class Mark:
    """The texts that a study's packs refer to: `layouts` as JSON of the columns of LAYOUT, and the
    texts of answers and reasons."""

    token: str
    layouts: list[str]
    answers: list[str]
    reasons: list[str]


def mark(store: Store, study_id: str) -> Mark | None:
    """The study's mark; None where its packs do not hold, or are of another rule."""
    with closing(store.cursor()) as cursor:
        return mark_in(cursor, study_id)


def mark_in(cursor: DuckDBPyConnection, study_id: str) -> Mark | None:
    """Return the study's mark as a cursor sees it, for whoever reads packs in its transaction."""
    sql = (
        "SELECT token, layouts, answers, reasons FROM packed.marks WHERE study_id = $id "
        "AND rule = $rule"
    )
    rows = cursor.execute(sql, {"id": study_id, "rule": rule()}).fetchall()
    return Mark(*rows[0]) if rows else None


def holds(store: Store, study_id: str) -> bool:
    """Return whether the study's packs are those of its readouts as they are."""
    return mark(store, study_id) is not None


class _Thread:
    """Packs large studies that have ended, one after the other, until the store is closed."""

    def __init__(self, store: Store) -> None:
        self._store, self._queue = store, queue.SimpleQueue[str]()
        self._waiting: set[str] = set()
        self._vain: dict[str, int] = {}  # study -> the changes it had seen when packing it failed
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="flipscope-packs", daemon=True)
        self._thread.start()
        store.before_closing.append(self.stop)

    def want(self, study_id: str) -> None:
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
                    if self._vain.get(study_id) != n_changes and _is_due(self._store, study_id):
                        pack(self._store, study_id, self._stop)
            except Exception as error:  # its readouts are read as they are until they change
                self._vain[study_id] = n_changes
                logging.getLogger(__name__).error("A study could not be packed", exc_info=error)
            with _LOCK:
                self._waiting.discard(study_id)


_LOCK = threading.Lock()
_THREADS: WeakKeyDictionary[Store, _Thread] = WeakKeyDictionary()


def want(store: Store, study_id: str) -> None:
    """Have a study packed in the background if it is large, has ended and its packs are old."""
    with _LOCK:
        thread = _THREADS.get(store)
    if thread is None and _is_due(store, study_id):
        with _LOCK:
            thread = _THREADS.get(store) or _Thread(store)
            _THREADS[store] = thread
    if thread is not None:
        thread.want(study_id)


def _is_due(store: Store, study_id: str) -> bool:
    sql = """SELECT (SELECT count(*) FROM readouts WHERE study_id = $id) >= $large
             FROM studies WHERE study_id = $id AND state NOT IN ('planned', 'running')"""
    return store.rows(sql, id=study_id, large=LARGE) == [(True,)] and not holds(store, study_id)
