"""Count commits in the database and in a small file beside it, to notice lost commits.

DuckDB says nothing when it opens a file whose log has a damaged head or is cut off; the commits in
the log are then missing. So every transaction increases a number in the database, which is also
written to the file beside it. If the database has the smaller number, it lost commits.
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
    """Return the number of the last commit in the database; 0 before the first."""
    rows = connection.execute(
        "SELECT value FROM store_info WHERE key = $key", {"key": _KEY}
    ).fetchall()
    return int(rows[0][0]) if rows else 0


def count(connection: DuckDBPyConnection) -> int:
    """Count the running transaction, and return its number."""
    # One UPDATE takes half the time of a query and an upsert, and every commit waits for it.
    rows = connection.execute(
        "UPDATE store_info SET value = (value::BIGINT + 1)::VARCHAR WHERE key = $key"
        " RETURNING value",
        {"key": _KEY},
    ).fetchall()
    if rows:
        return int(rows[0][0])
    connection.execute("INSERT INTO store_info VALUES ($key, '1')", {"key": _KEY})
    return 1


def write_beside(path: Path, value: int) -> None:
    """Write the number of a commit that is on disk to the file beside the database. It is not
    flushed: after a power cut the number may be too small, which raises no false alarm."""
    if str(path) == MEMORY:
        return
    target = _number_file(path)
    draft = target.with_name(f".{target.name}.{os.getpid()}{DRAFT}")
    with suppress(OSError):  # a full disk, for example; the next commit writes its number
        draft.write_text(json.dumps([value, dt.datetime.now(dt.UTC).isoformat("T", "minutes")]))
        os.replace(draft, target)


def shortfall(connection: DuckDBPyConnection, path: Path) -> str:
    """Return a sentence on commits that the database has lost; "" for none."""
    try:
        expected, written_at = json.loads(_number_file(path).read_bytes())
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
    """Delete the number of a deleted database, before a new one is created at its path."""
    with suppress(OSError):
        _number_file(path).unlink(missing_ok=True)


def _number_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.commits")
