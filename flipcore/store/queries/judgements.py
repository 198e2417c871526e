"""Queries for valid judgements of any kind, and adding new ones."""

from collections.abc import Collection, Sequence
from contextlib import nullcontext
from typing import Any

from flipcore.access.acting import opened_to
from flipcore.store.connection import Store
from flipcore.store.judgements import Kind

_STANDING = """
SELECT {columns},
    strftime(j.created_at AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M:%S.%f') AS created,
    epoch(j.created_at) AS seconds
FROM {table} j WHERE {conditions}
QUALIFY row_number() OVER (PARTITION BY {partition} ORDER BY j.created_at DESC, {key}) = 1
ORDER BY {order}, {key}
"""


def standing(
    store: Store,
    kind: Kind,
    reviewer: str | None = None,
    among: Collection[str] | None = None,
    **column_values: Any,
) -> list[dict]:
    """Return the valid judgements of a kind, sorted by its `order` (oldest first, by default).

    `reviewer` selects one person, `column_values` judgements with these values, and `among`
    judgements on these subjects. `created` is the time as text in UTC, `seconds` since 1970. People
    who may only judge get only their own.
    """
    if reviewer is not None:
        column_values[kind.reviewer] = reviewer
        if "reviewer_kind" in kind.series:
            column_values["reviewer_kind"] = "person"
    conditions = [kind.stands("j"), kind.is_seen, *(f"{name} = ${name}" for name in column_values)]
    sql = _STANDING.format(
        columns=", ".join(name for name in kind.names if name not in ("undoes", "created_at")),
        table=kind.table,
        conditions=" AND ".join(conditions),
        partition=", ".join([*kind.subject, kind.reviewer, *kind.series]),
        key=kind.key,
        order=", ".join(f"j.{name}" for name in kind.order),
    )
    with opened_to(kind.reads, reviewer or "") if kind.reads else nullcontext():
        rows = store.rows_of(sql, **column_values)
    if among is None:
        return rows
    # Filter here and not in SQL: `among` may hold a million subjects, of which few were judged.
    subjects = set(among)
    return [row for row in rows if row[kind.subject[0]] in subjects]


def n_rows(store: Store, kind: Kind) -> int:
    """Count all rows ever added, which changes with every judgement, as a cache key."""
    return store.value(f"SELECT count(*) FROM {kind.table}")


def keep(store: Store, kind: Kind, rows: Sequence[dict]) -> None:
    """Add judgements and wait until they are stored. A judgement without an id gets one, with the
    present time. A stored one is not changed."""
    finished = [row if kind.key in row else kind.row(row) for row in rows]
    store.writer.add(kind.table, finished).result(30)
