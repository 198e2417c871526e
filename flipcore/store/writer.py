"""Group commit: one thread writes what has arrived about every 100 ms, or as soon as a sender
waits for it, and tells each sender when its rows are safe."""

import errno
import json
import queue
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from flipcore.access.acting import Permission, require
from flipcore.access.tables import check_write
from flipcore.core.errors import NotStored
from flipcore.store import commits, late_readouts, questions
from flipcore.store.archives import check_hot
from flipcore.store.audit_log import act_row, acts_of, chained, keep_outside
from flipcore.store.pack_tables import SOURCES, drop_marks
from flipcore.store.schema import LAST_VALUE, NO_NUMBER, SHOWN_BY_ALL, Table, tables

INTERVAL_S = 0.1
MOST_ROWS = 5_000
COLLISIONS = 5  # attempts at a transaction that meets another one
# Free beside the log of what was committed: DuckDB works that log into the file, and shuts the file
# where it cannot.
ROOM_BYTES = 16_000_000
_DISK = (
    "could not write",
    "could not truncate",
    "fsync",
    "no space left",
    "file too large",
    "disk quota",
    "i/o error",
)

Part = tuple[str, list[dict]]  # a table and rows for it


@dataclass
class _Batch:
    """Rows that are written together or not at all, or an `action` on the connection that is a
    transaction of its own."""

    parts: list[Part]
    future: Future
    action: Callable[[Any], Any] | None = None
    is_told: bool = False  # to the log of acts, by the action
    is_counted: bool = True  # among the commits of this file

    @property
    def n_rows(self) -> int:
        return sum(len(rows) for _, rows in self.parts)


class Receipt(Future):
    """A future that a sender gets for its rows: done once they are on disk.

    Waiting for it asks for them to be written at once. A sender that waits sends nothing more
    meanwhile, so to wait with it for more rows would only hold it up.
    """

    def __init__(self, wanted: threading.Event) -> None:
        super().__init__()
        self._wanted = wanted

    def result(self, timeout: float | None = None) -> Any:
        """Return or raise what became of the rows, after at most `timeout` seconds."""
        if not self.done():
            self._wanted.set()
        return super().result(timeout)


class Writer:
    """Owned by a Store. `add` returns a future that is done when its rows are on disk, or carries
    the error: NotStored with a sentence where the disk or a value is at fault."""

    def __init__(self, store) -> None:
        self._store = store
        self._queue: queue.Queue[_Batch | None] = queue.Queue()
        self._n_changes: Counter[str | None] = Counter()
        self._wanted = threading.Event()  # somebody waits for what is queued
        self._thread = threading.Thread(target=self._loop, name="flipscope-writer", daemon=True)
        self._thread.start()

    def add(self, table: str, rows: list[dict]) -> Future:
        """Queue rows for a table. A row with a known key is kept once, or changes what schema.sql
        says of its table."""
        return self.add_together([(table, rows)])

    def add_together(self, parts: Iterable[Part]) -> Future:
        """Queue rows of several tables that are safe together or not at all, and what the log of
        acts says of them. Raises AccessDenied, and queues nothing, where the person who acts may
        not write them, BadInput for a study that is archived.
        """
        future: Future = Receipt(self._wanted)
        filled = [(table, rows) for table, rows in parts if rows]
        check_hot(self._store.archives, filled)
        filled += acts_of(check_write(filled), filled)
        if filled:
            self._queue.put(_Batch(filled, future))
        else:
            future.set_result(None)
        return future

    def transact(
        self,
        action: Callable[[Any], Any],
        needs: Permission = Permission.FILES,
        act: str = "",
        on: str = "",
        changes: Collection[str] | None = None,
        *,
        items: Collection[str] | None = None,
        writes_here: bool = True,
    ) -> Future:
        """Queue a function of the connection as one transaction, after all that was queued before;
        the future holds what it returns. Whatever changes the file goes through here or `add`, so
        that nothing collides. `act` and what it was done `on` go to the log of acts with it.
        `changes` names the studies whose readouts or variants it changes, and is to be left out
        where that is not known; `items` are those that it writes, as far as they are known, so that
        others need not be looked at; `writes_here` is False where the action writes to an attached
        database, which no transaction can do together with this one. Raises AccessDenied where the
        person who acts lacks what it `needs`.
        """
        rows = act_row(require(needs), act, on)

        def whole(connection: Any) -> Any:
            outcome = action(connection)
            self._change(connection, changes)
            if changes is None or changes:
                questions.fill(connection, items)
            for table, row in rows:
                _upsert(connection, tables()[table], row)
            return outcome

        future: Future = Receipt(self._wanted)
        batch = _Batch([], future, action=whole, is_told=bool(rows), is_counted=writes_here)
        self._queue.put(batch)
        return future

    def n_changes(self, study_id: str) -> int:
        """Grows with every transaction that may have changed readouts or variants of the study."""
        return self._n_changes[study_id] + self._n_changes[None]

    def _change(self, connection: Any, study_ids: Collection[str] | None) -> None:
        """Within a transaction: packed readouts of these studies (None: of any) hold no longer."""
        drop_marks(connection, study_ids)
        self._n_changes.update([None] if study_ids is None else study_ids)

    def flush(self, timeout: float | None = 60) -> None:
        """Return when all that was queued is safe; raises NotStored if the disk is too slow."""
        future: Future = Receipt(self._wanted)
        self._queue.put(_Batch([], future))
        try:
            future.result(timeout)
        except TimeoutError as error:
            raise NotStored(
                f"{self._store.path} took longer than {timeout:g} s to write. Check the disk and"
                " resume."
            ) from error

    def checkpoint(self) -> None:
        """Let the file give back what was deleted; where somebody reads just now, later."""
        with suppress(duckdb.Error):
            self._store.own_cursor().execute("CHECKPOINT")

    def stop(self) -> None:
        self._queue.put(None)
        self._thread.join(60)

    def _loop(self) -> None:
        connection = self._store.own_cursor()
        stopping = False
        while not stopping:
            batches, stopping = self._gathered()
            try:
                self._turn(connection, batches)
            except BaseException as error:
                # This thread must outlive every fault, or its senders would wait for ever.
                for batch in batches:
                    if not batch.future.done():
                        batch.future.set_exception(error)
        connection.close()

    def _turn(self, connection, batches: list[_Batch]) -> None:
        """Write batches in order: runs of rows in one transaction each, actions in their own."""
        run: list[_Batch] = []
        for batch in batches:
            if batch.action is None:
                run.append(batch)
                continue
            if run:
                self._commit(connection, run)
                run = []
            self._act(connection, batch)
        if run:
            self._commit(connection, run)

    def _gathered(self) -> tuple[list[_Batch], bool]:
        """Return what has arrived, waiting a moment for more once something is there, until
        somebody waits for it."""
        first = self._queue.get()
        if first is None:
            return [], True
        batches, n_rows = [first], first.n_rows
        if first.parts and n_rows < MOST_ROWS:
            self._wanted.wait(INTERVAL_S)
        # Before the queue is emptied: whoever waits for what comes later sets it again.
        self._wanted.clear()
        while n_rows < MOST_ROWS:
            try:
                batch = self._queue.get_nowait()
            except queue.Empty:
                break
            if batch is None:
                return batches, True
            batches.append(batch)
            n_rows += batch.n_rows
        return batches, False

    def _commit(self, connection, batches: list[_Batch]) -> None:
        """Write all batches in one transaction; if that fails each on its own, so that a bad one
        harms no other. A full disk fails all of them at once, so that nobody waits for it."""
        if not any(batch.parts for batch in batches):  # somebody waited for what was before
            for batch in batches:
                batch.future.set_result(None)
            return
        try:
            check_room(self._store.path)
            self._transaction(connection, lambda transaction: self._write(transaction, batches))
        except Exception as error:
            if len(batches) == 1 or is_of_disk(error):
                explanation = _explained(error, self._store.path)
                for batch in batches:
                    batch.future.set_exception(explanation)
                return
            for batch in batches:
                self._commit(connection, [batch])
            return
        written, touched = set(), set()
        for batch in batches:
            for table, rows in batch.parts:
                written.add(table)
                touched |= _touched(table, rows)
        if "acts" in written:
            keep_outside(connection, self._store.path)
        self._store.touch(touched)
        for batch in batches:
            batch.future.set_result(None)

    def _act(self, connection, batch: _Batch) -> None:
        try:
            outcome = None
            if batch.action:
                outcome = self._transaction(connection, batch.action, is_counted=batch.is_counted)
            if batch.is_told:
                keep_outside(connection, self._store.path)
        except Exception as error:
            batch.future.set_exception(_explained(error, self._store.path))
        else:
            batch.future.set_result(outcome)

    def _write(self, connection, batches: list[_Batch]) -> None:
        by_table: dict[str, list[dict]] = {}
        for batch in batches:
            for table, rows in batch.parts:
                by_table.setdefault(table, []).extend(rows)
        by_table = late_readouts.separate_late(connection, by_table)
        for table, rows in by_table.items():
            _upsert(connection, tables()[table], rows)
        if any(table in by_table for table in questions.SOURCES):
            rows_of_items = chain.from_iterable(by_table.get(name, ()) for name in questions.TABLES)
            questions.fill(connection, {row["item_id"] for row in rows_of_items})
        changed: set[str] = set()
        for table in SOURCES:
            changed.update(row["study_id"] for row in by_table.get(table, ()))
        self._change(connection, changed)

    def _transaction(
        self, connection, action: Callable[[Any], Any], *, is_counted: bool = True
    ) -> Any:
        """Return what the action returns, committed and counted; a collision with another writer of
        this process is tried again."""
        for attempt in range(COLLISIONS):
            connection.execute("BEGIN")
            try:
                outcome = action(connection)
                number = commits.count(connection) if is_counted else None
                connection.execute("COMMIT")
            except Exception as error:
                with suppress(duckdb.Error):  # after a fatal fault nothing is left to roll back
                    connection.execute("ROLLBACK")
                if (
                    attempt + 1 == COLLISIONS
                    or not isinstance(error, duckdb.TransactionException)
                    or is_of_disk(error)
                ):
                    raise
                time.sleep(INTERVAL_S * (attempt + 1))
            else:
                if number is not None:
                    commits.keep_beside(self._store.path, number)
                return outcome
        raise AssertionError("unreachable: the last attempt returns or raises")


def check_room(path: Path) -> None:
    """Raise OSError where the disk of a database could no longer take the log of its last commits
    into the file."""
    log = path.with_name(f"{path.name}.wal")
    needed = ROOM_BYTES + (log.stat().st_size if log.exists() else 0)
    free = shutil.disk_usage(path.parent).free
    if free < needed:
        raise OSError(
            errno.ENOSPC,
            f"No space left: {free / 1e6:,.0f} MB are free and {needed / 1e6:,.0f} MB are needed",
        )


def is_of_disk(error: BaseException) -> bool:
    """Return whether a fault is the disk's: it is full, over a quota, or broken. DuckDB says that
    of a commit in the error of a collision, and of a checkpoint in one after which the file has to
    be opened again."""
    if isinstance(error, NotStored) and error.__cause__:
        return is_of_disk(error.__cause__)
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
    text = str(error).lower()
    return isinstance(error, (duckdb.Error, pa.ArrowException)) and any(
        words in text for words in _DISK
    )


def _explained(error: Exception, path: Any) -> Exception:
    """Return a sentence where the disk or a value is at fault; a fault of ours stays what it is."""
    if isinstance(error, duckdb.FatalException):
        explanation = NotStored(
            f"The disk of {path} is full or failing, and DuckDB has shut the file"
            f" ({_brief(error)}). Everything that was counted as done is stored. Make room, open"
            " Flipscope again, then resume."
        )
        explanation.__cause__ = error
        return explanation
    if not isinstance(
        error, (duckdb.Error, pa.ArrowException, OSError, OverflowError, MemoryError)
    ):
        return error
    explanation = NotStored(
        f"The results could not be written to {path}: {_brief(error)}. Everything that was counted"
        " as done is stored. Check the disk space and that value, then resume."
    )
    explanation.__cause__ = error
    return explanation


def _brief(error: Exception) -> str:
    """Return what a fault says, on one line. A long path stands in its middle, and the reason
    behind that, or on its second line."""
    text = (
        " ".join(" ".join(str(error).strip().splitlines()[:2]).split()).rstrip(". ")
        or type(error).__name__
    )
    return text if len(text) <= 300 else f"{text[:120]} … {text[-170:]}"


def _touched(table: str, rows: list[dict]) -> set[str]:
    """The studies that show something else now; "" stands for all."""
    if SHOWN_BY_ALL in tables()[table].rules:
        return {""}
    # Else a released drag would have every page compute its board again.
    if NO_NUMBER in tables()[table].rules:
        return set()
    return {row["study_id"] for row in rows if row.get("study_id")}


def _upsert(connection, table: Table, rows: list[dict]) -> None:
    """INSERT … SELECT from Arrow; within a batch the row wins that would win in the file."""
    if table.name == "acts":
        rows = chained(connection, rows)
    if table.key:
        ordered = rows if table.changing else rows[::-1]
        rows = list(dict(zip(map(itemgetter(*table.key), ordered), ordered, strict=True)).values())
    alike: dict[tuple[str, ...], list[dict]] = {}
    for row in rows:
        alike.setdefault(tuple(row), []).append(row)
    for columns, rows_alike in alike.items():  # a column that a row does not name gets its default
        _insert(connection, table, columns, rows_alike)


def _insert(connection, table: Table, columns: tuple[str, ...], rows: list[dict]) -> None:
    values = {column: [row[column] for row in rows] for column in columns}
    insert_columns(connection, table, columns_as_arrow(table, values))


def columns_as_arrow(table: Table, values: Mapping[str, list]) -> pa.Table:
    """Columns of a table as Arrow holds them. A text that DuckDB would refuse is mended."""
    kinds = table.kinds
    arrays = {}
    for column, cells in values.items():
        arrays[column] = _array(cells, _ARROW.get(kinds[column]))
    return pa.table(arrays)


def write_columns(connection, columns: Mapping[str, pa.Table]) -> None:
    """Write rows of several tables, by table, each key once, in the transaction of the caller.

    Readouts of what a lock has fixed are kept apart, as `add_together` does it.
    """
    studies = columns["readouts"]["study_id"].unique().to_pylist() if "readouts" in columns else []
    if studies and late_readouts.fixed(connection, studies):
        rows = {name: table.to_pylist() for name, table in columns.items()}
        for name, rows_of_table in late_readouts.separate_late(connection, rows).items():
            _upsert(connection, tables()[name], rows_of_table)
        return
    for name, table in columns.items():
        insert_columns(connection, tables()[name], table)


def insert_columns(connection, table: Table, rows: pa.Table) -> None:
    """Insert rows, of which no two have one key."""
    columns = rows.column_names
    connection.register("incoming", rows)
    new = "coalesce(excluded.{0}, {1}.{0})" if LAST_VALUE in table.rules else "excluded.{0}"
    changes = ", ".join(
        f"{column} = {new.format(column, table.name)}"
        for column in table.changing
        if column in columns
    )
    action = f"DO UPDATE SET {changes}" if changes else "DO NOTHING"
    target = f"({', '.join(table.key)})" if table.key else ""
    names = ", ".join(columns)
    try:
        connection.execute(
            f"INSERT INTO {table.name} ({names}) SELECT {names} FROM incoming "
            f"ON CONFLICT {target} {action}"
        )
    finally:
        connection.unregister("incoming")


_ARROW = {
    "BOOLEAN": pa.bool_(),
    "BIGINT": pa.int64(),
    "INTEGER": pa.int32(),
    "DOUBLE": pa.float64(),
    "VARCHAR": pa.string(),
    "JSON": pa.string(),
    "TIMESTAMP WITH TIME ZONE": pa.timestamp("us", "UTC"),
    "DATE": pa.date32(),
    "INTEGER[]": pa.list_(pa.int32()),
    "VARCHAR[]": pa.list_(pa.string()),
}


def _array(values: list, kind: pa.DataType | None) -> pa.Array:
    """Values as they are; looked at one by one only where some cannot be stored so."""
    try:
        if kind is not None:
            return pa.array(values, type=kind)
    except (pa.ArrowException, UnicodeError, TypeError, ValueError):
        pass
    return pa.array([_plain(value) for value in values], type=kind)


def _plain(value: Any) -> Any:
    """JSON for mappings; lone surrogates, which DuckDB refuses, are replaced."""
    if isinstance(value, dict):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    return value
