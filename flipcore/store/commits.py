"""The number of the last commit, in the file and beside it, so that lost commits show.

DuckDB opens a file whose log of last commits has a damaged head, or is cut in half, without a word:
what the log held is then missing. Every transaction therefore counts itself in the file, and its
number also stands in a small file beside it. A database that holds a smaller number lost commits.
"""

import datetime as dt
import json
import os
from contextlib import suppress
from pathlib import Path

from duckdb import DuckDBPyConnection

from flipcore.core.command_line import command
from flipcore.core.whole_files import DRAFT
from flipcore.text.counts import count_of

_KEY = "commits"  # of store_info
MEMORY = ":memory:"  # the path of a database without a file


def number(connection: DuckDBPyConnection) -> int:
    """Return the number of the last commit that the file holds; 0 before the first."""
    rows = connection.execute(
        "SELECT value FROM store_info WHERE key = $key", {"key": _KEY}
    ).fetchall()
    return int(rows[0][0]) if rows else 0


def count(connection: DuckDBPyConnection) -> int:
    """Count this transaction, within it; its number."""
    # An update is planned in half the time of a look and an upsert, and every commit waits for it.
    rows = connection.execute(
        "UPDATE store_info SET value = (value::BIGINT + 1)::VARCHAR WHERE key = $key"
        " RETURNING value",
        {"key": _KEY},
    ).fetchall()
    if rows:
        return int(rows[0][0])
    connection.execute("INSERT INTO store_info VALUES ($key, '1')", {"key": _KEY})
    return 1


def keep_beside(path: Path, value: int) -> None:
    """Keep the number of a commit that is on disk. Not flushed: a number that a power cut loses is
    smaller, and accuses nobody."""
    if str(path) == MEMORY:
        return
    target = _beside(path)
    draft = target.with_name(f".{target.name}.{os.getpid()}{DRAFT}")
    with suppress(OSError):  # a full disk, say: the next commit keeps its own
        draft.write_text(json.dumps([value, dt.datetime.now(dt.UTC).isoformat("T", "minutes")]))
        os.replace(draft, target)


def shortfall(connection: DuckDBPyConnection, path: Path) -> str:
    """Return a sentence on the commits that the file held and holds no more; "" for none."""
    try:
        expected, written_at = json.loads(_beside(path).read_bytes())
        n_missing = int(expected) - number(connection)
    except (OSError, ValueError, TypeError):
        return ""
    if n_missing <= 0:
        return ""
    return (
        f"{path} misses the last {count_of(n_missing, 'commit')} of {expected:,}, written until"
        f" {written_at}: its log {path.name}.wal was damaged or removed, or an older copy took its"
        f" place. Put back a copy of both files (`{command('backup')}` makes one), or go on"
        " without them."
    )


def forget(path: Path) -> None:
    """Forget the number of a database that was deleted, before a new one takes its place."""
    with suppress(OSError):
        _beside(path).unlink(missing_ok=True)


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.commits")
