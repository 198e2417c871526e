"""The log of acts: who did what, when, on what. Its rows are written with what they tell of, in one
transaction, and only added.

Each row holds a hash of itself and of the one before, so that whoever changes or removes one by
hand leaves a trace (`problem`). Count and head of the chain also stand outside the file, in the
user's own folder, so that a tail that was cut off shows. It is no signature: who can write both and
knows this module can write another whole chain.

There is none where access is off, nor of what the owner's own threads store: runs that were
started, readouts, the demo. What the owner does by hand (delete, merge) is told of under no
name."""

import datetime as dt
import hashlib
import json
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from duckdb import DuckDBPyConnection

from flipcore.access.acting import OWNER, Person, is_access_on
from flipcore.access.tables import rule_of
from flipcore.core.errors import FlipscopeError
from flipcore.core.paths import home
from flipcore.core.records import digest
from flipcore.core.whole_files import write
from flipcore.store.rows import now

_HEAD = "acts"  # of store_info: number and link of the last row
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_COLUMNS = ("act_id", "who", "level", "act", "target", "n_rows", "created_at")
_ROWS = (
    "SELECT act_id, who, level, act, target, n_rows, epoch_us(created_at), number, link FROM acts "
    "WHERE origin = ''"
)
Part = tuple[str, list[dict]]
MOST_TARGET_CHARS = 200


def acts_of(person: Person, parts: list[Part]) -> list[Part]:
    """The rows of `acts` that belong to rows of other tables: one a table and target."""
    if person == OWNER:
        return []
    counts: dict[tuple[str, str], int] = {}
    for table, rows in parts:
        rule = rule_of(table)
        for row in rows if rule.act else ():
            place = rule.act, str(row.get(rule.target_column) or "")
            counts[place] = counts.get(place, 0) + 1
    rows = [_row(person, act, target, n) for (act, target), n in counts.items()]
    return [("acts", rows)] if rows else []


def act_row(person: Person, act: str, target: str) -> list[Part]:
    """The row of one act that is no row of another table; none where access is off."""
    return [("acts", [_row(person, act, target, 1)])] if act and is_access_on() else []


def _row(person: Person, act: str, target: str, n_rows: int) -> dict[str, Any]:
    row = {
        "who": person.name,
        "level": str(person.level),
        "act": act,
        "target": target[:MOST_TARGET_CHARS],
        "n_rows": n_rows,
        "created_at": now(),
    }
    return {"act_id": digest(*map(str, row.values()), secrets.token_hex(8)), **row}


def chained(connection: DuckDBPyConnection, rows: Iterable[dict]) -> list[dict]:
    """Rows as they are to be written, each with its place and its link; called by the writer, in
    their transaction."""
    number, link = _head(connection) or (0, _of_earlier(connection))
    linked = []
    for row in rows:
        # Times are chained as microseconds, which is how the file gives them back.
        microseconds = (row["created_at"] - _EPOCH) // dt.timedelta(microseconds=1)
        chained_row = row | {"created_at": microseconds}
        values = [chained_row[name] for name in _COLUMNS]
        number, link = number + 1, _link(link, number + 1, values)
        linked.append(row | {"number": number, "link": link, "origin": ""})
    _keep_head(connection, number, link)
    return linked


def keep_outside(connection: DuckDBPyConnection, path: Path) -> None:
    """Keep count and head of the chain outside the file at `path`; ends that the chain does not
    hold any more stay there beside it. Where nothing can be kept, the next act keeps its own."""
    if head := _head(connection):
        with suppress(FlipscopeError):
            write(_outside(path), json.dumps([*_cut_off(connection, path), head]))


def forget_outside(path: Path) -> None:
    """Forget the ends kept outside, before the links of a chain that holds are made again."""
    _outside(path).unlink(missing_ok=True)


def _outside(path: Path) -> Path:
    """The file of the user's own folder that stands for this database, where it lies now."""
    return home() / f"acts-{digest(str(path.resolve()))}.json"


def _cut_off(connection: DuckDBPyConnection, path: Path) -> list[tuple[int, str]]:
    """The ends of the chain, (count, link), that were kept outside and that it does not hold."""
    try:
        heads = [
            (int(number), str(link)) for number, link in json.loads(_outside(path).read_bytes())
        ]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError):
        return [(0, "")]  # it was changed by hand
    sql = "SELECT 1 FROM acts WHERE (number, link) = ($number, $link) AND origin = ''"
    return [
        head
        for head in heads
        if not connection.execute(sql, {"number": head[0], "link": head[1]}).fetchall()
    ]


def problem(connection: DuckDBPyConnection, path: Path) -> str:
    """Return a sentence on what is wrong with the log of acts; "" where every row is as it was
    written."""
    head, link, place = _head(connection), _of_earlier(connection), 0
    for *values, number, stored_link in connection.execute(
        f"{_ROWS} AND number IS NOT NULL ORDER BY number"
    ).fetchall():
        place += 1
        link = _link(link, place, values)
        if number != place:
            return f"Row {place:,} of the log of acts was removed."
        if stored_link != link:
            before = "it, or the rows of an earlier release before it," if place == 1 else "it"
            return (
                f"Row {place:,} of the log of acts does not fit the one before: {before} was"
                " changed or put in."
            )
    if head != ((place, link) if place else None):
        return (
            f"The log of acts ends at row {place:,}, and row {head[0] if head else 0:,} was the"
            " last that was written."
        )
    for number, _ in _cut_off(connection, path):
        return (
            f"The log of acts held {number:,} rows when {_outside(path)} was written, which this"
            " file does not hold any more: it was replaced by an older one, or its last rows were"
            " removed."
        )
    return ""


def chain_again(connection: DuckDBPyConnection) -> None:
    """Make the links again of rows whose chain held before a name in them was replaced."""
    link, links, number = _of_earlier(connection), [], 0
    for *values, number, _ in connection.execute(
        f"{_ROWS} AND number IS NOT NULL ORDER BY number"
    ).fetchall():
        link = _link(link, number, values)
        links.append((link, number))
    for link_and_number in links:
        connection.execute(
            "UPDATE acts SET link = ? WHERE number = ? AND origin = ''", link_and_number
        )
    if links:
        _keep_head(connection, number, link)


def _head(connection: DuckDBPyConnection) -> tuple[int, str] | None:
    rows = connection.execute(
        "SELECT value FROM store_info WHERE key = $key", {"key": _HEAD}
    ).fetchall()
    return tuple(json.loads(rows[0][0])) if rows else None


def _keep_head(connection: DuckDBPyConnection, number: int, link: str) -> None:
    value = json.dumps([number, link])
    connection.execute(
        "INSERT OR REPLACE INTO store_info VALUES ($key, $value)", {"key": _HEAD, "value": value}
    )


def _of_earlier(connection: DuckDBPyConnection) -> str:
    """Return the link that the chain begins with, over the rows of a release that had no chain."""
    link = ""
    for *values, _, _ in connection.execute(
        f"{_ROWS} AND number IS NULL ORDER BY act_id"
    ).fetchall():
        link = _link(link, 0, values)
    return link


def _link(before: str, number: int, values: list[Any]) -> str:
    return hashlib.sha256(
        json.dumps([before, number, *values], ensure_ascii=True).encode("ascii")
    ).hexdigest()
