"""SQL for which items may be read, used by every query.

A study sets questions aside for confirmation, under any item id (`flipcore.store.questions`). They
may be read only under a lock of that study. Until then they are hidden in every study that was
declared later, and under other ids in the study itself. A study that showed the question earlier
goes on showing it, because hiding it cannot undo that; the lock then says so.

- `OPEN`: items that are not set aside; for queries of one study.
- `OPENED`: as `OPEN`, and set-aside items once the study has a lock.
- `SIGHT`: without a lock as `OPEN`; under a lock only the set-aside items, as they were when the
  lock was made. Its parameters come from `Sight`.
- `HIDDEN`: items that a study set aside without a lock and that no study shows; for queries of no
  particular study.

A run must know all items: its queries are in `flipcore.store.queries.planning`, which no page,
report or export may import.
"""

from dataclasses import dataclass, field
from typing import Any

from flipcore.store.connection import text_list

# One row per set-aside item without a lock, study (or pair of sets) that set it aside, and id of
# its question.
SET_ASIDE = """SELECT coalesce(q.twin, m.item_id) AS item_id, m.study_id,
        coalesce(m.since, s.created_at) AS since
    FROM study_items m LEFT JOIN studies s USING (study_id) LEFT JOIN questions.twins q
        USING (item_id)
    WHERE m.confirmatory AND m.study_id NOT IN (SELECT k.study_id FROM locks k)"""
# (study, item, study that hides it). No correlated subquery, which takes a hundred times as long.
HIDDEN_BY = f"""SELECT DISTINCT m.study_id, m.item_id, h.study_id AS hidden_by
    FROM ({SET_ASIDE}) h JOIN study_items m ON m.item_id = h.item_id
    JOIN studies s ON s.study_id = m.study_id
    WHERE if(m.study_id = h.study_id, NOT m.confirmatory, h.since < s.created_at)"""


def hidden_sql(alias: str = "i") -> str:
    """Return SQL for whether another study hides the item of a row of `study_items`."""
    return f"({alias}.study_id, {alias}.item_id) IN (SELECT study_id, item_id FROM ({HIDDEN_BY}))"


def opened_sql(alias: str = "i") -> str:
    """Return SQL for whether a row of `study_items` shows its item to anybody."""
    return (
        f"((NOT {alias}.confirmatory OR {alias}.study_id IN (SELECT k.study_id FROM locks k)) "
        f"AND NOT {hidden_sql(alias)})"
    )


OPEN = f"(NOT i.confirmatory AND NOT {hidden_sql()})"
OPENED = opened_sql()
HIDDEN = (
    f"SELECT item_id FROM ({SET_ASIDE}) EXCEPT SELECT i.item_id FROM study_items i WHERE {OPENED}"
)
SIGHT = f"""(NOT $locked AND {OPEN}
    OR $locked AND i.confirmatory AND i.item_id IN (SELECT unnest($locked_items)))"""
SIGHT_OF_MODELS = f"{SIGHT} AND (NOT $locked OR r.model IN (SELECT unnest($locked_models)))"


@dataclass(frozen=True)
class Sight:
    """The part of a study that may be seen: open items, or under a lock the set-aside ones."""

    locked: bool = False
    items: tuple[str, ...] = ()  # ids of the lock's items
    models: tuple[str, ...] = ()  # of the lock
    # pair -> state when the lock was made; None takes the present states
    verdicts: dict[str, str] | None = field(default=None, hash=False)

    @property
    def params(self) -> dict[str, Any]:
        """Parameters of `SIGHT`."""
        return {"locked": self.locked, "locked_items": text_list(self.items)}

    @property
    def params_of_models(self) -> dict[str, Any]:
        """Parameters of `SIGHT_OF_MODELS`."""
        return self.params | {"locked_models": text_list(self.models)}
