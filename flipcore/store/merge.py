"""Merging files that several machines wrote: ids are hashes of content, so it is a union."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from flipcore.core.errors import BadInput
from flipcore.store.connection import Store
from flipcore.store.migrations import SCHEMA_VERSION

_TABLES = (
    "items",
    "studies",
    "study_items",
    "variants",
    "study_variants",
    "study_calls",
    "readouts",
    "readout_sources",
    "paraphrases",
    "verdicts",
    "flip_verdicts",
    "locks",
    "decisions",
    "threshold_moves",
)
# A completion that arrived beats one that failed; otherwise what is here stays.
_COMPLETIONS = """
INSERT INTO main.completions SELECT * FROM other.completions o WHERE o.status = 'ok' OR NOT EXISTS (
    SELECT 1 FROM main.completions m WHERE m.call_id = o.call_id)
ON CONFLICT (call_id) DO UPDATE SET status = excluded.status, text = excluded.text, finish_reason = excluded.finish_reason,
    tokens = excluded.tokens, top_logprobs = excluded.top_logprobs, n_tokens_in = excluded.n_tokens_in,
    n_tokens_out = excluded.n_tokens_out, cost_usd = excluded.cost_usd, latency_s = excluded.latency_s,
    n_attempts = excluded.n_attempts, error = excluded.error, raw_reply = excluded.raw_reply,
    created_at = excluded.created_at
"""


def merge(paths: Iterable[str | Path], store: Store) -> dict[str, int]:
    """Adds what the files hold to `store`; new rows per table. BadInput names a file that is not a Flipscope database."""
    store.writer.flush()
    before = _sizes(store)
    for path in paths:
        _merge_one(Path(path), store)
    store.touch([""])
    return {table: n - before[table] for table, n in _sizes(store).items() if n > before[table]}


def _sizes(store: Store) -> dict[str, int]:
    return {table: store.rows(f"SELECT count(*) FROM {table}")[0][0] for table in ("completions", *_TABLES)}


def _merge_one(path: Path, store: Store) -> None:
    import duckdb

    if not path.is_file():
        raise BadInput(f"There is no file {path}. Give the path of a database that another machine wrote.")
    cursor = store.cursor()
    quoted = str(path).replace("'", "''")
    try:
        cursor.execute(f"ATTACH '{quoted}' AS other (READ_ONLY)")
    except duckdb.Error as error:
        cursor.close()
        raise BadInput(f"{path.name} is not a database that can be read ({str(error).splitlines()[0]}).") from error
    try:
        _copy(cursor, path)
    except duckdb.Error as error:
        cursor.execute("ROLLBACK")
        raise BadInput(
            f"{path.name} is not a Flipscope database ({str(error).splitlines()[0]}). Nothing of it was taken over."
        ) from error
    finally:
        cursor.execute("DETACH other")
        cursor.close()


def _copy(cursor, path: Path) -> None:
    cursor.execute("BEGIN")
    found = cursor.execute("SELECT value FROM other.store_info WHERE key = 'schema'").fetchone()
    if found != (str(SCHEMA_VERSION),):
        cursor.execute("ROLLBACK")
        raise BadInput(
            f"{path.name} has schema {found[0] if found else 'unknown'}; this version merges schema {SCHEMA_VERSION}."
        )
    for table in _TABLES:
        cursor.execute(f"INSERT INTO main.{table} SELECT * FROM other.{table} ON CONFLICT DO NOTHING")
    cursor.execute(_COMPLETIONS)
    cursor.execute("COMMIT")
