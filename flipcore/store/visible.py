"""Which items may be read: the one rule of every query, in SQL.

An item that a study set aside for confirmation is read under a lock of that study and not before. Queries of one study take
`OPEN` (never what is set aside), `OPENED` (what is set aside too, once the study has a lock) or `SIGHT` (only what is set
aside, under one lock, as it was when the lock was stored; its parameters come from `sight`). Queries that know no study take
`HIDDEN`: items that every study holding them set aside, without a lock. What a run has to know of all items is in
`flipcore.store.queries.planning`, which no page, report or export may import.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

OPEN = "NOT i.confirmatory"
OPENED = "(NOT i.confirmatory OR EXISTS (SELECT 1 FROM locks k WHERE k.study_id = i.study_id))"
HIDDEN = """SELECT m.item_id FROM study_items m GROUP BY m.item_id
    HAVING bool_and(m.confirmatory AND NOT EXISTS (SELECT 1 FROM locks k WHERE k.study_id = m.study_id))"""
SIGHT = """(NOT $locked AND NOT i.confirmatory
    OR $locked AND i.confirmatory AND i.item_id IN (SELECT unnest($locked_items)))"""
SIGHT_OF_MODELS = f"{SIGHT} AND (NOT $locked OR r.model IN (SELECT unnest($locked_models)))"


@dataclass(frozen=True)
class Sight:
    """What a reader may see of a study: the open items, or under a lock what was set aside, as it was then.

    `verdicts` (pair -> state) are those of the lock; None reads today's."""

    locked: bool = False
    items: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    verdicts: dict[str, str] | None = field(default=None, hash=False)

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of `SIGHT`; DuckDB cannot type an empty list."""
        return {"locked": self.locked, "locked_items": list(self.items) or [""]}

    @property
    def params_of_models(self) -> dict[str, Any]:
        """The parameters of `SIGHT_OF_MODELS`."""
        return self.params | {"locked_models": list(self.models) or [""]}
