"""The rule on which items may be read, in SQL, for every query.

What a study sets aside for confirmation is a question with its answers, under whatever id it stands
(`flipcore.store.questions`). It is read under a lock of that study and not before, and until then
it is held against every study that was declared later, and against the study's own items that ask
the same: they would show what is to be kept unseen. A study that showed the question before keeps
it, since hiding cannot undo that; the lock then says so. Queries of one study take `OPEN` (never
what is set aside), `OPENED` (what is set aside too, once the study has a lock) or `SIGHT` (only
what is set aside, under one lock, as it was when the lock was stored; its parameters come from
`sight`). Queries that know no study take `HIDDEN`: items that a study set aside without a lock, and
that no study shows. What a run has to know of all items is in `flipcore.store.queries.planning`,
which no page, report or export may import.
"""

from dataclasses import dataclass, field
from typing import Any

# one row for each item that a study, or two sets, set aside and no lock of theirs has opened, under
# each id of its question
HOLDS = """SELECT coalesce(q.twin, m.item_id) AS item_id, m.study_id,
        coalesce(m.since, s.created_at) AS since
    FROM study_items m LEFT JOIN studies s USING (study_id) LEFT JOIN questions.twins q
        USING (item_id)
    WHERE m.confirmatory AND m.study_id NOT IN (SELECT k.study_id FROM locks k)"""
# (study, item, who holds it) of later studies, and of a study that asks the same under another id;
# a set and not a correlated question, which costs a hundred times as much
HOLDINGS = f"""SELECT DISTINCT m.study_id, m.item_id, h.study_id AS holder
    FROM ({HOLDS}) h JOIN study_items m ON m.item_id = h.item_id
    JOIN studies s ON s.study_id = m.study_id
    WHERE if(m.study_id = h.study_id, NOT m.confirmatory, h.since < s.created_at)"""


def is_held(i: str = "i") -> str:
    """Return whether an earlier study keeps the item of this row of `study_items` unseen."""
    return f"({i}.study_id, {i}.item_id) IN (SELECT study_id, item_id FROM ({HOLDINGS}))"


def opened(i: str = "i") -> str:
    """Return whether a row of `study_items` shows its item, to somebody at least."""
    return (
        f"((NOT {i}.confirmatory OR {i}.study_id IN (SELECT k.study_id FROM locks k)) "
        f"AND NOT {is_held(i)})"
    )


OPEN = f"(NOT i.confirmatory AND NOT {is_held()})"
OPENED = opened()
HIDDEN = f"SELECT item_id FROM ({HOLDS}) EXCEPT SELECT i.item_id FROM study_items i WHERE {OPENED}"
SIGHT = f"""(NOT $locked AND {OPEN}
    OR $locked AND i.confirmatory AND i.item_id IN (SELECT unnest($locked_items)))"""
SIGHT_OF_MODELS = f"{SIGHT} AND (NOT $locked OR r.model IN (SELECT unnest($locked_models)))"


@dataclass(frozen=True)
class Sight:
    """The part of a study that a reader may see: the open items, or under a lock what was set
    aside, as it was then.

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
        return self.params | {"locked_models": list(self.models) or [""]}
