"""Group commit: one thread writes what has arrived about every 100 ms and tells each sender when its rows are safe."""

from __future__ import annotations

import json
import queue
import threading
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

INTERVAL_S = 0.1
MOST_ROWS = 5_000

# table -> columns that are rewritten when the key is there already; other tables keep the first row (append-only)
REWRITTEN = {
    "store_info": ("value",),
    "studies": ("state", "message", "n_calls", "started_at", "ended_at"),
    "completions": (
        "status",
        "text",
        "finish_reason",
        "tokens",
        "top_logprobs",
        "n_tokens_in",
        "n_tokens_out",
        "cost_usd",
        "latency_s",
        "n_attempts",
        "error",
        "raw_reply",
        "reasoning",
        "created_at",
    ),
    "readouts": ("status", "answer", "value", "is_correct", "span_start", "span_end", "reason", "probabilities", "label_mass"),
    "readout_sources": ("call_id",),
}
KEYS = {
    "store_info": ("key",),
    "studies": ("study_id",),
    "completions": ("call_id",),
    "readouts": ("study_id", "model", "item_id", "axis", "variant_id", "sample", "extractor"),
    "readout_sources": ("study_id", "model", "item_id", "axis", "variant_id", "sample", "extractor", "position"),
}
_TOUCHES_ALL = {"verdicts", "paraphrases"}


@dataclass
class _Batch:
    table: str
    rows: list[dict]
    done: Future


class Writer:
    """Owned by a Store. `add` returns a future that is done when its rows are on disk, or carries the error."""

    def __init__(self, store):
        self._store = store
        self._queue: queue.Queue[_Batch | None] = queue.Queue()
        self._thread = threading.Thread(target=self._loop, name="flipscope-writer", daemon=True)
        self._thread.start()

    def add(self, table: str, rows: list[dict]) -> Future:
        """Queue rows for a table. A row with a known key is kept once, or rewritten as REWRITTEN says."""
        done: Future = Future()
        if rows:
            self._queue.put(_Batch(table, rows, done))
        else:
            done.set_result(None)
        return done

    def flush(self, timeout: float | None = 60) -> None:
        """Returns when everything that was queued before is safe."""
        done: Future = Future()
        self._queue.put(_Batch("", [], done))
        done.result(timeout)

    def stop(self) -> None:
        self._queue.put(None)
        self._thread.join(60)

    def _loop(self) -> None:
        connection = self._store.cursor()
        stopping = False
        while not stopping:
            batches, stopping = self._gathered()
            if batches:
                self._commit(connection, batches)
        connection.close()

    def _gathered(self) -> tuple[list[_Batch], bool]:
        """What has arrived, waiting a moment for more once something is there."""
        first = self._queue.get()
        if first is None:
            return [], True
        batches, n_rows = [first], len(first.rows)
        waited = threading.Event()
        waited.wait(INTERVAL_S if first.table and n_rows < MOST_ROWS else 0)
        while n_rows < MOST_ROWS:
            try:
                batch = self._queue.get_nowait()
            except queue.Empty:
                break
            if batch is None:
                return batches, True
            batches.append(batch)
            n_rows += len(batch.rows)
        return batches, False

    def _commit(self, connection, batches: list[_Batch]) -> None:
        """All batches in one transaction; if that fails each on its own, so that a bad one harms no other."""
        try:
            self._write(connection, batches)
        except Exception as error:
            if len(batches) == 1:
                batches[0].done.set_exception(error)
                return
            for batch in batches:
                self._commit(connection, [batch])
            return
        self._store.touch(
            {
                "" if b.table in _TOUCHES_ALL else row.get("study_id")
                for b in batches
                for row in b.rows
                if b.table in _TOUCHES_ALL or row.get("study_id")
            }
        )
        for batch in batches:
            batch.done.set_result(None)

    def _write(self, connection, batches: list[_Batch]) -> None:
        by_table: dict[str, list[dict]] = {}
        for batch in batches:
            if batch.table:
                by_table.setdefault(batch.table, []).extend(batch.rows)
        connection.execute("BEGIN")
        try:
            for table, rows in by_table.items():
                _upsert(connection, table, rows)
            connection.execute("COMMIT")
        except Exception:
            connection.execute("ROLLBACK")
            raise


def _upsert(connection, table: str, rows: list[dict]) -> None:
    """One INSERT … SELECT from Arrow per table; within a batch the last row of a key wins."""
    keys = KEYS.get(table)
    if keys:
        rows = list({tuple(row[key] for key in keys): row for row in rows}.values())
    columns = list(rows[0])
    types = {
        name: kind
        for name, kind in connection.execute(
            "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = $table", {"table": table}
        ).fetchall()
    }
    arrays = {column: pa.array([_plain(row.get(column)) for row in rows], type=_ARROW.get(types[column])) for column in columns}
    connection.register("incoming", pa.table(arrays))
    rewritten = [column for column in REWRITTEN.get(table, ()) if column in columns]
    # what a study's row does not say again (when it was started) stays
    value = "coalesce(excluded.{0}, {1}.{0})" if table == "studies" else "excluded.{0}"
    updates = ", ".join(f"{column} = {value.format(column, table)}" for column in rewritten)
    action = f"DO UPDATE SET {updates}" if rewritten else "DO NOTHING"
    target = f"({', '.join(keys)})" if keys else ""
    connection.execute(
        f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(columns)} FROM incoming ON CONFLICT {target} {action}"
    )
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


def _plain(value: Any) -> Any:
    """JSON for mappings; lone surrogates, which DuckDB refuses, become the replacement character."""
    if isinstance(value, dict):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    return value
