"""Locks: what was fixed before the items that were set aside could be read, and exactly that state afterwards.

A lock holds the settings of a page together with the state that a result depends on: the items that were set aside with their
roles, the models, and what stood of every paraphrase that the study asked. Its id is the hash of all of it. Reading under a
lock goes back to that state, whatever was reviewed since; a lock that does not match its id is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from flipcore.access.acting import signature
from flipcore.core.errors import BadInput
from flipcore.core.locks import STATE, lock_id
from flipcore.core.study import Study
from flipcore.store.connection import Store
from flipcore.store.queries.paraphrase_states import stands, verdict_state
from flipcore.store.rows import now
from flipcore.store.visible import Sight, is_held, opened


def locks(store: Store, record_id: str) -> list[dict]:
    """The locks of a study (or of two sets), oldest first; the first of each page holds."""
    frame = store.frame("SELECT * FROM locks WHERE study_id = $study_id ORDER BY created_at, lock_id", study_id=record_id)
    return [row | {"settings": json.loads(row["settings"])} for row in frame.to_dict("records")]


def lock_of_page(store: Store, record_id: str, page: str) -> dict | None:
    """The lock that holds for a page of a study, or None."""
    return next((one for one in locks(store, record_id) if one["settings"].get("page", "decomposition") == page), None)


def keep_lock(
    store: Store, record_id: str, page: str, settings: Mapping[str, Any], reviewer: str, items: Sequence[str] | None = None
) -> str:
    """Stores the first lock of a page, with the state of the study as it is now; `items` are the ids set aside where the
    record is no study. Raises BadInput where the page is locked already or nothing was set aside."""
    if lock_of_page(store, record_id, page):
        raise BadInput(f"The page {page} of this study is locked already; the first lock holds.")
    reviewer = signature(reviewer)
    if not reviewer:
        raise BadInput("A lock needs the name of whoever stores it.")
    state = _state(store, record_id) if items is None else {"items": [[item, ""] for item in sorted(items)]}
    if not state["items"]:
        raise BadInput(_nothing_to_lock(store, record_id))
    fixed = json.loads(json.dumps({**settings, "page": page, "study": record_id, STATE: state}, default=str))
    row = {"lock_id": lock_id(fixed), "study_id": record_id, "settings": fixed, "reviewer": reviewer}
    store.writer.add("locks", [row | {"created_at": now()}]).result(30)
    store.touch([""])  # what another study set aside may be visible now
    return row["lock_id"]


def sight(store: Store, study_id: str, lock: str | None) -> Sight:
    """What may be read of a study: its open items, or under `lock` what it set aside, as it was then.

    Raises BadInput for a lock that is not this study's, was changed, or comes from a release that stored no state and whose
    verdicts have changed since."""
    if lock is None:
        return Sight()
    lock_row = next((one for one in locks(store, study_id) if one["lock_id"] == lock), None)
    if lock_row is None:
        raise BadInput(f"The study {study_id} has no lock {lock[:40]!r}: what it set aside is not shown before one is stored.")
    settings = lock_row["settings"]
    if STATE not in settings:
        return _sight_of_old_lock(store, study_id, settings)
    if lock_id(settings) != lock:
        raise BadInput("This lock was changed after it was stored, so it is refused. Results under it are not shown.")
    state = settings[STATE]
    items = tuple(item for item, _ in state["items"])
    return Sight(True, items, tuple(state.get("models", ())), dict(state.get("verdicts", {})))


def _sight_of_old_lock(store: Store, study_id: str, settings: Mapping[str, Any]) -> Sight:
    """A lock of an earlier release holds only a hash of the verdicts: while it is today's, today's state is that of the lock."""
    if settings.get("verdicts", "") not in ("", verdict_state(store)):
        raise BadInput(
            "Verdicts have changed since this lock was stored, and its release kept no copy of them, so its result cannot be "
            "computed again. Duplicate the study and lock the copy."
        )
    state = _state(store, study_id)
    return Sight(True, tuple(item for item, _ in state["items"]), tuple(state["models"]), None)


_SET_ASIDE = f"""
SELECT i.item_id, i.role FROM study_items i WHERE i.study_id = $study_id AND i.confirmatory AND NOT {is_held()} ORDER BY i.item_id
"""
_MODELS = "SELECT DISTINCT model FROM readouts WHERE study_id = $study_id ORDER BY model"
_SEEN_BEFORE = f"""
SELECT count(DISTINCT i.item_id) FROM study_items i
JOIN study_items o ON o.item_id = i.item_id AND o.study_id <> i.study_id AND {opened("o")}
JOIN readouts r ON r.study_id = o.study_id AND r.item_id = o.item_id
WHERE i.study_id = $study_id AND i.confirmatory AND r.model IN (SELECT unnest($models))
"""


def _state(store: Store, study_id: str) -> dict[str, Any]:
    """What a result of the study depends on besides its settings; without the items that an earlier study keeps unseen.
    `seen_before` are items that were set aside here while
    another study shows what the same models answered to them."""
    tomls = store.rows("SELECT toml FROM studies WHERE study_id = $study_id", study_id=study_id)
    declared = Study.from_toml(tomls[0][0]) if tomls else None
    model_names = {model for (model,) in store.rows(_MODELS, study_id=study_id)}
    names = sorted({use.name for use in declared.models} | model_names) if declared else sorted(model_names)
    now_stands = stands(store)
    pairs = store.rows("SELECT DISTINCT material_id FROM study_variants WHERE study_id = $study_id", study_id=study_id)
    return {
        "items": [list(row) for row in store.rows(_SET_ASIDE, study_id=study_id)],
        "models": names,
        "verdicts": {pair: now_stands.get(pair, "unreviewed") for (pair,) in sorted(pairs, key=str) if pair is not None},
        "seen_before": store.rows(_SEEN_BEFORE, study_id=study_id, models=names or [""])[0][0],
    }


def held_by(store: Store, study_id: str) -> dict[str, int]:
    """Names of earlier studies (or of two sets) -> how many of this study's items they set aside and keep unseen, here too."""
    sql = """SELECT coalesce(s.name, 'two sets on the Holdout page'), count(*) FROM study_items h JOIN study_items i USING (item_id)
             LEFT JOIN studies s ON s.study_id = h.study_id JOIN studies mine ON mine.study_id = i.study_id
             WHERE i.study_id = $study_id AND h.study_id <> i.study_id AND h.confirmatory
               AND coalesce(h.since, s.created_at) < mine.created_at
               AND NOT EXISTS (SELECT 1 FROM locks k WHERE k.study_id = h.study_id) GROUP BY ALL ORDER BY ALL"""
    return dict(store.rows(sql, study_id=study_id))


def held_sentence(store: Store, study_id: str) -> str:
    """Why items of this study are not shown although it does not set them aside itself; "" where none is held."""
    parts = [f"{n:,} of its items stay hidden: {name} set them aside" for name, n in held_by(store, study_id).items()]
    return "; ".join(parts) + ". Lock or delete that study to see them here." if parts else ""


def _nothing_to_lock(store: Store, record_id: str) -> str:
    why = held_sentence(store, record_id)
    return (
        f"There is nothing to lock here. {why}"
        if why
        else "No item is set aside here, so there is nothing to lock. Wait until the study's items are stored."
    )


def n_verdicts_changed(store: Store, lock: Mapping[str, Any]) -> int:
    """Pairs of a lock that stand differently today."""
    then = lock["settings"].get(STATE, {}).get("verdicts", {})
    today = stands(store)
    return sum(today.get(pair, "unreviewed") != state for pair, state in then.items())


def n_set_aside(store: Store, study_id: str, role: str | None = None) -> int:
    """How many items the study set aside, of one role or of all."""
    rows = store.rows(
        "SELECT count(*) FROM study_items WHERE study_id = $study_id AND confirmatory AND ($role IS NULL OR role = $role)",
        study_id=study_id,
        role=role,
    )
    return rows[0][0]
