"""The log of acts: who did what, when, and to what.

An act is added in the same transaction as the rows that it is about, and never changed. Each act
holds a hash of itself and the act before, so `problem` finds acts that were changed or removed by
hand. The number of acts and the last hash are also kept outside the database, in the user's folder,
so that missing last acts are found too. This is no signature: somebody who can write both, and
knows this module, can write a new chain.

Without access control there are no acts. Nor are there acts for what the owner's own threads store:
runs that were started, readouts, the demo. Acts of the owner (delete, merge) have no name.
"""

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

_HEAD_KEY = "acts"  # of store_info; its value is [number, link] of the last act
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_COLUMNS = ("act_id", "who", "level", "act", "target", "n_rows", "created_at")
_ROWS = (
    "SELECT act_id, who, level, act, target, n_rows, epoch_us(created_at), number, link FROM acts "
    "WHERE origin = ''"
)
Part = tuple[str, list[dict]]
MAX_TARGET_CHARS = 200


def acts_of(person: Person, parts: list[Part]) -> list[Part]:
    """Return the acts for rows of other tables: one per act and target, with the number of rows."""
    if person == OWNER:
        return []
    counts: dict[tuple[str, str], int] = {}
    for table, rows in parts:
        rule = rule_of(table)
        for row in rows if rule.act else ():
            act_and_target = rule.act, str(row.get(rule.target_column) or "")
            counts[act_and_target] = counts.get(act_and_target, 0) + 1
    rows = [_row(person, act, target, n) for (act, target), n in counts.items()]
    return [("acts", rows)] if rows else []


def act_parts(person: Person, act: str, target: str) -> list[Part]:
    """Return the part with one act that is about no row; [] without an act, or with access off."""
    return [("acts", [_row(person, act, target, 1)])] if act and is_access_on() else []


def _row(person: Person, act: str, target: str, n_rows: int) -> dict[str, Any]:
    row = {
        "who": person.name,
        "level": str(person.level),
        "act": act,
        "target": target[:MAX_TARGET_CHARS],
        "n_rows": n_rows,
        "created_at": now(),
    }
    return {"act_id": digest(*map(str, row.values()), secrets.token_hex(8)), **row}


def link_acts(connection: DuckDBPyConnection, rows: Iterable[dict]) -> list[dict]:
    """Return acts with their numbers and links; called by the writer, in their transaction."""
    number, link = _head(connection) or (0, _link_of_unchained(connection))
    linked_rows = []
    for row in rows:
        # Hash times as microseconds, the precision with which the database returns them.
        microseconds = (row["created_at"] - _EPOCH) // dt.timedelta(microseconds=1)
        hashed_row = row | {"created_at": microseconds}
        values = [hashed_row[name] for name in _COLUMNS]
        number, link = number + 1, _link(link, number + 1, values)
        linked_rows.append(row | {"number": number, "link": link, "origin": ""})
    _store_head(connection, number, link)
    return linked_rows


def keep_head_outside(connection: DuckDBPyConnection, path: Path) -> None:
    """Write the chain's head to the file outside the database at `path`. Earlier heads that the
    chain has lost stay in that file. If it cannot be written, the next act tries again."""
    if head := _head(connection):
        with suppress(FlipscopeError):
            write(_outside_path(path), json.dumps([*_lost_heads(connection, path), head]))


def forget_heads_outside(path: Path) -> None:
    """Delete the heads kept outside, before a valid chain gets new links."""
    _outside_path(path).unlink(missing_ok=True)


def _outside_path(path: Path) -> Path:
    """Return the path in the user's folder for the database at `path`."""
    return home() / f"acts-{digest(str(path.resolve()))}.json"


def _lost_heads(connection: DuckDBPyConnection, path: Path) -> list[tuple[int, str]]:
    """Return the heads (number, link) that were kept outside and that the chain does not have."""
    try:
        heads = [
            (int(number), str(link))
            for number, link in json.loads(_outside_path(path).read_bytes())
        ]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError):
        return [(0, "")]  # the file was changed by hand
    sql = "SELECT 1 FROM acts WHERE (number, link) = ($number, $link) AND origin = ''"
    return [
        head
        for head in heads
        if not connection.execute(sql, {"number": head[0], "link": head[1]}).fetchall()
    ]


def problem(connection: DuckDBPyConnection, path: Path) -> str:
    """Return a sentence on what is wrong with the log of acts; "" if no act was changed."""
    head, link, position = _head(connection), _link_of_unchained(connection), 0
    for *values, number, stored_link in connection.execute(
        f"{_ROWS} AND number IS NOT NULL ORDER BY number"
    ).fetchall():
        position += 1
        link = _link(link, position, values)
        if number != position:
            return f"Row {position:,} of the log of acts was removed."
        if stored_link != link:
            before = "it, or the rows of an earlier release before it," if position == 1 else "it"
            return (
                f"Row {position:,} of the log of acts does not fit the one before: {before} was"
                " changed or put in."
            )
    if head != ((position, link) if position else None):
        return (
            f"The log of acts ends at row {position:,}, and row {head[0] if head else 0:,} was the"
            " last that was written."
        )
    if lost_heads := _lost_heads(connection, path):
        n_acts, _ = lost_heads[0]
        return (
            f"The log of acts held {n_acts:,} rows when {_outside_path(path)} was written, which"
            " this file does not hold any more: it was replaced by an older one, or its last rows"
            " were removed."
        )
    return ""


def chain_again(connection: DuckDBPyConnection) -> None:
    """Make new links after a name in the acts was replaced; the chain must have been valid."""
    link, links, number = _link_of_unchained(connection), [], 0
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
        _store_head(connection, number, link)


def _head(connection: DuckDBPyConnection) -> tuple[int, str] | None:
    rows = connection.execute(
        "SELECT value FROM store_info WHERE key = $key", {"key": _HEAD_KEY}
    ).fetchall()
    return tuple(json.loads(rows[0][0])) if rows else None


def _store_head(connection: DuckDBPyConnection, number: int, link: str) -> None:
    value = json.dumps([number, link])
    connection.execute(
        "INSERT OR REPLACE INTO store_info VALUES ($key, $value)",
        {"key": _HEAD_KEY, "value": value},
    )


def _link_of_unchained(connection: DuckDBPyConnection) -> str:
    """Return the link before the first act: a hash of acts from releases without a chain."""
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
