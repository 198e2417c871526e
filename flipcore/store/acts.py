"""The log of acts: who did what, when, on what. Its rows are written with what they tell of, in one transaction, and only added.

There is none where access is off, nor of what the owner's own threads store: runs that were started, readouts, the demo. What the
owner does by hand (delete, merge) is told of under no name."""

from __future__ import annotations

import secrets
from typing import Any

from flipcore.access import policy
from flipcore.access.person import OWNER, Person
from flipcore.access.tables import rule_of
from flipcore.core.records import digest
from flipcore.store.rows import now

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
            place = rule.act, str(row.get(rule.on) or "")
            counts[place] = counts.get(place, 0) + 1
    rows = [_row(person, act, target, n) for (act, target), n in counts.items()]
    return [("acts", rows)] if rows else []


def act_row(person: Person, act: str, target: str, n_rows: int = 1) -> list[Part]:
    """The row of one act that is no row of another table; none where access is off."""
    return [("acts", [_row(person, act, target, n_rows)])] if act and policy.is_on() else []


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
