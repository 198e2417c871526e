"""Group commit: one thread writes the rows of all senders, many in one transaction.

It writes about every 100 ms, or as soon as a sender waits, and tells each sender when its rows are
on disk.
"""

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
from functools import partial
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from flipcore.access.acting import Permission, require
from flipcore.access.tables import check_write
from flipcore.core.errors import NotStored
from flipcore.store import commits, late_readouts, pack_tables, questions
from flipcore.store.archives import check_not_archived
from flipcore.store.audit_log import act_parts, acts_of, keep_head_outside, link_acts
from flipcore.store.schema import LAST_VALUE, NO_NUMBER, SHOWN_BY_ALL, Table, tables

INTERVAL_S = 0.1
MAX_ROWS = 5_000  # a transaction with so many rows takes no further batch
MAX_ATTEMPTS = 5  # at a transaction that collides with another one
# Disk space that must stay free beyond the size of the write-ahead log (.wal). DuckDB merges that
# log into the file (a checkpoint), and closes the file if that fails.
SPARE_BYTES = 16_000_000
_DISK_ERRORS = (
    "could not write",
    "could not truncate",
    "fsync",
    "no space left",
    "file too large",
    "disk quota",
    "i/o error",
)

Part = tuple[str, list[dict]]  # (table, rows)


@dataclass
class _Batch:
    """Rows that are written together, or an `action` that is a transaction of its own. The rows of
    several batches may share a transaction."""

    parts: list[Part]
    future: Future
    action: Callable[[Any], Any] | None = None
    if_keys_exist: Callable[[Any], Any] | None = None  # the action in place of one that met a key
    is_act: bool = False  # the action adds to the log of acts, which says who did what
    is_counted: bool = True  # counts as a commit of this file

    @property
    def n_rows(self) -> int:
        return sum(len(rows) for _, rows in self.parts)


class Receipt(Future):
    """A sender's future, done once its rows are on disk. Waiting for it makes the writer write
    now: a sender that waits sends no more rows, so collecting more would only delay it."""

    def __init__(self, wanted: threading.Event) -> None:
        super().__init__()
        self._wanted = wanted

    def result(self, timeout: float | None = None) -> Any:
        """Return the result of the rows or action, or raise the error, within `timeout` seconds."""
        if not self.done():
            self._wanted.set()
        return super().result(timeout)


class Writer:
    """The only writer of a store. `add` returns a future, which is done once the rows are on disk.
    Its result raises NotStored, with a sentence, where the disk or a value is at fault."""

    def __init__(self, store) -> None:
        self._store = store
        self._queue: queue.Queue[_Batch | None] = queue.Queue()
        self._n_changes: Counter[str | None] = Counter()
        self._wanted = threading.Event()  # a sender waits for its rows
        self._thread = threading.Thread(target=self._loop, name="flipscope-writer", daemon=True)
        self._thread.start()

    def add(self, table: str, rows: list[dict]) -> Future:
        """Queue rows for a table. Where a row's key is already stored, only those columns are
        updated that schema.sql marks as changing; if it marks none, the stored row stays."""
        return self.add_together([(table, rows)])

    def add_together(self, parts: Iterable[Part]) -> Future:
        """Queue rows of several tables, and the acts for them, for one transaction. Raises
        AccessDenied if the acting person may not write them, and BadInput for an archived study.
        Then nothing is queued."""
        future: Future = Receipt(self._wanted)
        nonempty = [(table, rows) for table, rows in parts if rows]
        check_not_archived(self._store.archives, nonempty)
        person = check_write(nonempty)
        nonempty += acts_of(person, nonempty)
        if nonempty:
            self._queue.put(_Batch(nonempty, future))
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
        if_keys_exist: Callable[[Any], Any] | None = None,
    ) -> Future:
        """Queue a function of the connection as one transaction, after everything queued before.

        All changes of the file go through here or `add`, so that nothing collides.

        - `action` is called with the connection; the future holds its result.
        - `needs` is the permission of the acting person; without it AccessDenied is raised.
        - `act` and its target `on` are added to the log of acts, unless `act` is "".
        - `changes` are ids of studies whose readouts or variants change; None if unknown.
        - `items` are ids of items that the action writes; None stands for all items. The keys by
          which equal questions are found are added for these items only.
        - `if_keys_exist` is run in place of an action that inserts a key a second time.
        - `writes_here` is False if the action writes to an attached database, because DuckDB
          can write to only one database per transaction.
        """
        acts = act_parts(require(needs), act, on)

        def transaction_body(connection: Any, action: Callable[[Any], Any] = action) -> Any:
            outcome = action(connection)
            self._mark_changed(connection, changes)
            if changes is None or changes:
                questions.add_missing_keys(connection, items)
            for table, rows in acts:
                _upsert(connection, tables()[table], rows)
            return outcome

        future: Future = Receipt(self._wanted)
        batch = _Batch(
            [], future, action=transaction_body, is_act=bool(acts), is_counted=writes_here
        )
        if if_keys_exist:
            batch.if_keys_exist = partial(transaction_body, action=if_keys_exist)
        self._queue.put(batch)
        return future

    def n_changes(self, study_id: str) -> int:
        """Return a number that grows when readouts or variants of the study may have changed."""
        return self._n_changes[study_id] + self._n_changes[None]

    def _mark_changed(self, connection: Any, study_ids: Collection[str] | None) -> None:
        """Invalidate packed readouts of these studies (None: of all), within a transaction."""
        pack_tables.drop_marks(connection, study_ids)
        self._n_changes.update([None] if study_ids is None else study_ids)

    def flush(self, timeout: float | None = 60) -> None:
        """Wait until everything queued is on disk. Raises NotStored after `timeout` seconds."""
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
        """Free the space of deleted rows, unless somebody reads just now."""
        with suppress(duckdb.Error):
            self._store.own_cursor().execute("CHECKPOINT")

    def stop(self) -> None:
        self._queue.put(None)
        self._thread.join(60)

    def _loop(self) -> None:
        connection = self._store.own_cursor()
        stopping = False
        while not stopping:
            batches, stopping = self._take_batches()
            try:
                self._write_batches(connection, batches)
            except BaseException as error:
                # This thread must survive every error, or its senders would wait forever.
                for batch in batches:
                    if not batch.future.done():
                        batch.future.set_exception(error)
        connection.close()

    def _write_batches(self, connection, batches: list[_Batch]) -> None:
        """Write batches in order: consecutive row batches together, each action by itself."""
        row_batches: list[_Batch] = []
        for batch in batches:
            if batch.action is None:
                row_batches.append(batch)
                continue
            if row_batches:
                self._commit(connection, row_batches)
                row_batches = []
            self._run_action(connection, batch)
        if row_batches:
            self._commit(connection, row_batches)

    def _take_batches(self) -> tuple[list[_Batch], bool]:
        """Wait for a batch, and return (queued batches, whether to stop). After the first rows,
        wait INTERVAL_S for more, unless a sender waits for its rows."""
        first = self._queue.get()
        if first is None:
            return [], True
        batches, n_rows = [first], first.n_rows
        if first.parts and n_rows < MAX_ROWS:
            self._wanted.wait(INTERVAL_S)
        # Clear this before emptying the queue: a sender that waits for later rows sets it again.
        self._wanted.clear()
        while n_rows < MAX_ROWS:
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
        """Write all batches in one transaction. If that fails, each is written by itself, so that a
        bad one harms no other. With a full disk all of them fail, because trying each would only
        take time."""
        # Batches without rows come from `flush`; all rows before them are written already.
        if not any(batch.parts for batch in batches):
            for batch in batches:
                batch.future.set_result(None)
            return
        try:
            check_room(self._store.path)
            self._transaction(
                connection, lambda transaction: self._write_rows(transaction, batches)
            )
        except Exception as error:
            if len(batches) == 1 or is_disk_error(error):
                explanation = _explain(error, self._store.path)
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
                touched |= _touched_studies(table, rows)
        # The head of the chain of acts is kept outside the database too, so that a lost act shows.
        if "acts" in written:
            keep_head_outside(connection, self._store.path)
        self._store.touch(touched)
        for batch in batches:
            batch.future.set_result(None)

    def _run_action(self, connection, batch: _Batch) -> None:
        """Run a batch's action as one transaction, and set its future."""
        try:
            outcome = None
            if batch.action:
                outcome = self._run_transaction(connection, batch.action, batch)
            if batch.is_act:
                keep_head_outside(connection, self._store.path)
        except Exception as error:
            batch.future.set_exception(_explain(error, self._store.path))
        else:
            batch.future.set_result(outcome)

    def _run_transaction(self, connection, action: Callable[[Any], Any], batch: _Batch) -> Any:
        try:
            return self._transaction(connection, action, is_counted=batch.is_counted)
        except duckdb.ConstraintException:
            if batch.if_keys_exist is None:
                raise
        return self._transaction(connection, batch.if_keys_exist, is_counted=batch.is_counted)

    def _write_rows(self, connection, batches: list[_Batch]) -> None:
        """Write the rows of all batches, with the keys of new questions, within a transaction."""
        by_table: dict[str, list[dict]] = {}
        for batch in batches:
            for table, rows in batch.parts:
                by_table.setdefault(table, []).extend(rows)
        # Readouts of items that a lock has fixed are stored apart, so that they change no result.
        by_table = late_readouts.separate_late(connection, by_table)
        for table, rows in by_table.items():
            _upsert(connection, tables()[table], rows)
        if any(table in by_table for table in questions.SOURCES):
            rows_of_items = chain.from_iterable(by_table.get(name, ()) for name in questions.TABLES)
            questions.add_missing_keys(connection, {row["item_id"] for row in rows_of_items})
        changed: set[str] = set()
        for table in pack_tables.SOURCES:
            changed.update(row["study_id"] for row in by_table.get(table, ()))
        self._mark_changed(connection, changed)

    def _transaction(
        self, connection, action: Callable[[Any], Any], *, is_counted: bool = True
    ) -> Any:
        """Run the action, count and commit it, and return its result. After a collision with
        another transaction of this process, it is tried again."""
        for attempt in range(MAX_ATTEMPTS):
            connection.execute("BEGIN")
            try:
                outcome = action(connection)
                number = commits.count(connection) if is_counted else None
                connection.execute("COMMIT")
            except Exception as error:
                with suppress(duckdb.Error):  # after a fatal error there is nothing to roll back
                    connection.execute("ROLLBACK")
                if (
                    attempt + 1 == MAX_ATTEMPTS
                    or not isinstance(error, duckdb.TransactionException)
                    or is_disk_error(error)
                ):
                    raise
                time.sleep(INTERVAL_S * (attempt + 1))
            else:
                if number is not None:
                    commits.write_beside(self._store.path, number)
                return outcome
        raise AssertionError("unreachable: the last attempt returns or raises")


def check_room(path: Path) -> None:
    """Raise OSError if the disk has too little space to merge the write-ahead log into the
    database."""
    log = path.with_name(f"{path.name}.wal")
    needed = SPARE_BYTES + (log.stat().st_size if log.exists() else 0)
    free = shutil.disk_usage(path.parent).free
    if free < needed:
        raise OSError(
            errno.ENOSPC,
            f"No space left: {free / 1e6:,.0f} MB are free and {needed / 1e6:,.0f} MB are needed",
        )


def is_disk_error(error: BaseException) -> bool:
    """Return whether the disk caused an error: it is full, over a quota, or broken.

    DuckDB has no error type for that. A commit that failed by the disk has the type of a collision,
    and such a checkpoint that of a fatal error. So the message decides.
    """
    if isinstance(error, NotStored) and error.__cause__:
        return is_disk_error(error.__cause__)
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
    text = str(error).lower()
    return isinstance(error, (duckdb.Error, pa.ArrowException)) and any(
        words in text for words in _DISK_ERRORS
    )


def _explain(error: Exception, path: Any) -> Exception:
    """Return NotStored with a sentence if the disk or a value caused the error, else the error."""
    if isinstance(error, duckdb.FatalException):
        explanation = NotStored(
            f"The disk of {path} is full or failing, and DuckDB has shut the file"
            f" ({_one_line(error)}). Everything that was counted as done is stored. Make room, open"
            " Flipscope again, then resume."
        )
        explanation.__cause__ = error
        return explanation
    if not isinstance(
        error, (duckdb.Error, pa.ArrowException, OSError, OverflowError, MemoryError)
    ):
        return error
    explanation = NotStored(
        f"The results could not be written to {path}: {_one_line(error)}. Everything that was"
        " counted as done is stored. Check the disk space and that value, then resume."
    )
    explanation.__cause__ = error
    return explanation


def _one_line(error: Exception) -> str:
    """Return an error's message on one line. Of a long one the middle is cut, because the reason
    may stand at its end, after a long path or on the second line."""
    first_lines = " ".join(str(error).strip().splitlines()[:2])
    text = " ".join(first_lines.split()).rstrip(". ") or type(error).__name__
    return text if len(text) <= 300 else f"{text[:120]} … {text[-170:]}"


def _touched_studies(table: str, rows: list[dict]) -> set[str]:
    """Return ids of studies whose pages change with these rows; "" stands for all studies."""
    if SHOWN_BY_ALL in tables()[table].rules:
        return {""}
    # Rows such as decisions or moved thresholds change no result, so pages need not compute again.
    if NO_NUMBER in tables()[table].rules:
        return set()
    return {row["study_id"] for row in rows if row.get("study_id")}


def _upsert(connection, table: Table, rows: list[dict]) -> None:
    """Insert or update rows. Of rows with the same key, only the one is sent that the database
    would keep if they came one by one."""
    if table.name == "acts":
        rows = link_acts(connection, rows)
    if table.key:
        # The last row of a key overwrites the others in a dict. In the database that is so only for
        # tables with changing columns. In others the first row stays, so reverse the order.
        ordered_rows = rows if table.changing_columns else rows[::-1]
        key_of = itemgetter(*table.key)
        rows = list({key_of(row): row for row in ordered_rows}.values())
    # Rows with the same columns are inserted together; columns that are left out get defaults.
    rows_by_columns: dict[tuple[str, ...], list[dict]] = {}
    for row in rows:
        rows_by_columns.setdefault(tuple(row), []).append(row)
    for columns, similar_rows in rows_by_columns.items():
        values = {column: [row[column] for row in similar_rows] for column in columns}
        upsert_arrow(connection, table, columns_as_arrow(table, values))


def columns_as_arrow(table: Table, values: Mapping[str, list]) -> pa.Table:
    """Return columns as an Arrow table; text that DuckDB would refuse is repaired."""
    kinds = table.kinds
    arrays = {}
    for column, cells in values.items():
        arrays[column] = _array(cells, _ARROW_TYPES.get(kinds[column]))
    return pa.table(arrays)


def write_columns(
    connection, arrow_tables: Mapping[str, pa.Table], *, are_new: bool = False
) -> None:
    """Write rows of several tables in the caller's transaction; no two may have the same key.
    Readouts of items that a lock has fixed go to `late_readouts`, as with `add_together`.
    `are_new`: no row is stored already, or ConstraintException is raised. That halves the time."""
    studies = []
    if "readouts" in arrow_tables:
        studies = arrow_tables["readouts"]["study_id"].unique().to_pylist()
    if studies and late_readouts.fixed_items(connection, studies):
        rows = {name: table.to_pylist() for name, table in arrow_tables.items()}
        for name, rows_of_table in late_readouts.separate_late(connection, rows).items():
            _upsert(connection, tables()[name], rows_of_table)
        return
    for name, arrow_rows in arrow_tables.items():
        if are_new:
            names = ", ".join(arrow_rows.column_names)
            connection.execute(f"INSERT INTO {name} ({names}) SELECT {names} FROM arrow_rows")
        else:
            upsert_arrow(connection, tables()[name], arrow_rows)


def upsert_arrow(connection, table: Table, arrow_rows: pa.Table) -> None:
    """Insert rows, or update the stored rows that have their keys. No two of the rows may have the
    same key."""
    columns = arrow_rows.column_names
    assignments = []
    for column in table.changing_columns:
        if column not in columns:
            continue
        new_value = f"excluded.{column}"
        # By the rule LAST_VALUE a missing value does not replace a stored one.
        if LAST_VALUE in table.rules:
            new_value = f"coalesce(excluded.{column}, {table.name}.{column})"
        assignments.append(f"{column} = {new_value}")
    action = f"DO UPDATE SET {', '.join(assignments)}" if assignments else "DO NOTHING"
    target = f"({', '.join(table.key)})" if table.key else ""
    names = ", ".join(columns)
    # DuckDB finds the variable by its name. To register it would take a fifth longer.
    connection.execute(
        f"INSERT INTO {table.name} ({names}) SELECT {names} FROM arrow_rows "
        f"ON CONFLICT {target} {action}"
    )


_ARROW_TYPES = {
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
    """Return values as an Arrow array of a type, or of the type that fits where it is None. Values
    are repaired one by one only if Arrow refuses them as they are."""
    try:
        if kind is not None:
            # Most columns of an import hold one value. But 0.0 and -0.0 are equal, and differ.
            if values[:1] == values[-1:] and (values[:1] == [None] or kind != pa.float64()):
                if values and values.count(values[0]) == len(values):
                    return pa.repeat(pa.scalar(values[0], type=kind), len(values))
            return pa.array(values, type=kind)
    except (pa.ArrowException, UnicodeError, TypeError, ValueError):
        pass
    return pa.array([_storable(value) for value in values], type=kind)


def _storable(value: Any) -> Any:
    """Return a mapping as JSON, and text without lone surrogates, which DuckDB refuses."""
    if isinstance(value, dict):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    return value
