"""Judgements that stand, of any kind, and the one way in which they are added."""

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
QUALIFY row_number() OVER (PARTITION BY {place} ORDER BY j.created_at DESC, {key}) = 1
ORDER BY {order}, {key}
"""


def standing(
    store: Store,
    kind: Kind,
    reviewer: str | None = None,
    among: Collection[str] | None = None,
    **only: Any,
) -> list[dict]:
    """Return the judgements that stand, oldest first (of a survey, by annotator and question): of
    one person, or of all people and models; `only` those with these values, or
    on subjects `among` these. `created` is when, as
    text in UTC, and `seconds` the same since 1970. Whoever may only judge gets their own alone."""
    if reviewer is not None:
        only[kind.reviewer] = reviewer
        if "reviewer_kind" in kind.series:
            only["reviewer_kind"] = "person"
    conditions = [kind.stands("j"), kind.is_seen, *(f"{name} = ${name}" for name in only)]
    sql = _STANDING.format(
        columns=", ".join(name for name in kind.names if name not in ("undoes", "created_at")),
        table=kind.table,
        conditions=" AND ".join(conditions),
        place=", ".join([*kind.subject, kind.reviewer, *kind.series]),
        key=kind.key,
        order=", ".join(f"j.{name}" for name in kind.order),
    )
    with opened_to(kind.reads, reviewer or "") if kind.reads else nullcontext():
        rows = store.rows_of(sql, **only)
    if among is None:
        return rows
    # There may be a million subjects, of which people judged a few.
    chosen = set(among)
    return [row for row in rows if row[kind.subject[0]] in chosen]


def n_rows(store: Store, kind: Kind) -> int:
    """Count all rows ever added: what a cached result depends on besides its study."""
    return store.rows(f"SELECT count(*) FROM {kind.table}")[0][0]


def keep(store: Store, kind: Kind, rows: Sequence[dict]) -> None:
    """Add judgements and wait until they are safe. One without an id gets it, and the time, now;
    one whose id is stored already stays as it is."""
    finished = [row if kind.key in row else kind.row(row) for row in rows]
    store.writer.add(kind.table, finished).result(30)
