"""Locks: they fix a page's settings, and the state of the set-aside items, before these are opened.

A lock holds the settings and everything else that a result depends on: the set-aside items with
their roles, the models, the states of all paraphrases that the study asked, and hashes of the
declaration, the questions and all readouts of these items. Its id is a hash of its content.

Results under a lock use this state, whatever was reviewed later. Readouts that come later are
stored separately (`flipcore.store.late_readouts`). A lock that does not match its id, or whose
readouts are missing, is refused. A lock may be made before the first answer; it shows results once
all answers are stored.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from flipcore.access.acting import signature
from flipcore.core.errors import BadInput
from flipcore.core.locks import STATE, lock_id
from flipcore.core.records import digest
from flipcore.core.study import Study
from flipcore.core.version import __version__
from flipcore.store.connection import ALL_STUDIES, Store, text_list
from flipcore.store.queries.paraphrase_states import current_states, verdict_state
from flipcore.store.rows import now
from flipcore.store.schema import tables
from flipcore.store.visible import HIDDEN_BY, Sight, hidden_sql, opened_sql
from flipcore.text.counts import count_of


def locks(store: Store, record_id: str) -> list[dict]:
    """Return the locks of a study (or pair of sets), oldest first; the first of a page counts."""
    frame = store.frame(
        "SELECT * FROM locks WHERE study_id = $study_id ORDER BY created_at, lock_id",
        study_id=record_id,
    )
    return [row | {"settings": json.loads(row["settings"])} for row in frame.to_dict("records")]


def lock_of_page(store: Store, record_id: str, page: str) -> dict | None:
    """Return the lock that counts for a page of a study, or None."""
    for stored_lock in locks(store, record_id):
        # Locks of early releases, which had a single page, do not name it.
        if stored_lock["settings"].get("page", "decomposition") == page:
            return stored_lock
    return None


def lock_by_id(store: Store, record_id: str, lock: str) -> dict | None:
    """Return the lock of a study (or pair of sets) with this id, or None."""
    for stored_lock in locks(store, record_id):
        if stored_lock["lock_id"] == lock:
            return stored_lock
    return None


def keep_lock(
    store: Store,
    record_id: str,
    page: str,
    settings: Mapping[str, Any],
    reviewer: str,
    items: Sequence[str] | None = None,
) -> str:
    """Store the first lock of a page, with the present state of the study, and return its id.
    `items` are the set-aside ids of a pair of sets, None for a study. Raises BadInput if the
    page is locked already, nothing is set aside, or the study has not ended."""
    if lock_of_page(store, record_id, page):
        raise BadInput(f"The page {page} of this study is locked already; the first lock holds.")
    reviewer = signature(reviewer)
    if not reviewer:
        raise BadInput("A lock needs the name of whoever stores it.")
    store.writer.flush()
    if items is None:
        state = _state(store, record_id)
    else:
        state = {"items": [[item, ""] for item in sorted(items)]}
    if not is_before_answers(state):
        _check_ended(store, record_id)
    if not state["items"]:
        if reason := hidden_sentence(store, record_id):
            raise BadInput(f"There is nothing to lock here. {reason}")
        raise BadInput(
            "No item is set aside here, so there is nothing to lock. Wait until the study's items"
            " are stored."
        )
    # Through JSON and back, so that the id fits the lock as it will be read again.
    fixed = json.loads(
        json.dumps({**settings, "page": page, "study": record_id, STATE: state}, default=str)
    )
    row = {
        "lock_id": lock_id(fixed),
        "study_id": record_id,
        "settings": fixed,
        "reviewer": reviewer,
    }
    store.writer.add("locks", [row | {"created_at": now()}]).result(30)
    store.touch([ALL_STUDIES])  # items that it set aside may be visible in other studies now
    return row["lock_id"]


def is_before_answers(state: Mapping[str, Any]) -> bool:
    """Return whether a lock was made before any of its models answered set-aside items."""
    if not state.get("extractors") or "readouts" not in state:
        return False
    n_readouts = state["readouts"][0]
    return n_readouts == 0


_ENDED = ("done", "incomplete")  # every planned call was made: answered or failed


def _check_ended(store: Store, study_id: str) -> None:
    sql = """SELECT state, (SELECT count(*) FROM study_calls c WHERE c.study_id = s.study_id),
                 n_calls
             FROM studies s WHERE study_id = $study_id"""
    for state, n_done, n_calls in store.rows(sql, study_id=study_id):
        if state not in _ENDED:
            n_planned = f" of its {n_calls:,} planned calls" if n_calls else " of its calls"
            raise BadInput(
                f"This study has not ended ({state.replace('_', ' ')}, after"
                f" {n_done:,}{n_planned}), and a lock would fix only what there is so far. Resume"
                " it to its end, then lock."
            )


def sight(store: Store, study_id: str, lock: str | None) -> Sight:
    """Return which part of a study queries may read: its open items, or under a lock the set-aside
    ones.

    `lock` is the id of a lock or None. Raises BadInput for a lock that belongs to another study,
    was changed, or whose readouts are missing. Locks of early releases stored no state; they raise
    BadInput where verdicts have changed since.
    """
    if lock is None:
        return Sight()
    lock_row = lock_by_id(store, study_id, lock)
    if lock_row is None:
        raise BadInput(
            f"The study {study_id} has no lock {lock[:40]!r}: what it set aside is not shown before"
            " one is stored."
        )
    settings = lock_row["settings"]
    if STATE not in settings:
        return _sight_of_old_lock(store, study_id, settings)
    if lock_id(settings) != lock:
        raise BadInput(
            "This lock was changed after it was stored, so it is refused. Results under it are not"
            " shown."
        )
    state = settings[STATE]
    items = tuple(item for item, _ in state["items"])
    if is_before_answers(state):
        _check_complete(store, study_id, state)
    elif "readouts" in state:
        stored_now = _readouts_fingerprint(store, study_id, items, state["models"])
        if stored_now != state["readouts"]:
            n_then, n_now = state["readouts"][0], stored_now[0]
            content = "" if n_now != n_then else " with other content"
            raise BadInput(
                "The readouts under this lock are not those that it was stored over:"
                f" {n_then:,} then, {n_now:,} here{content}."
                " Results under it are not shown. Merge a file that holds them."
            )
    models, verdicts = tuple(state.get("models", ())), dict(state.get("verdicts", {}))
    return Sight(locked=True, items=items, models=models, verdicts=verdicts)


def _check_complete(store: Store, study_id: str, state: Mapping[str, Any]) -> None:
    """Raise BadInput unless all items are answered, for a lock that was made before any answer.
    Otherwise somebody could stop asking as soon as the result looks good."""
    items, models = [item for item, _ in state["items"]], state["models"]
    sql = """SELECT count(DISTINCT (model, item_id)) FROM readouts
             WHERE study_id = $study_id AND item_id IN (SELECT unnest($items))
                 AND model IN (SELECT unnest($models))"""
    n_answered = store.value(sql, study_id=study_id, items=items, models=models)
    n_all = len(items) * len(models)
    if n_answered < n_all:
        raise BadInput(
            f"Locked before the first answer: {n_answered:,} of {n_all:,} answers are here (one per"
            " item and model). The result is shown when all are, so that nobody stops where it"
            " looks good."
        )
    _check_ended(store, study_id)


_READOUTS_FINGERPRINT = """
SELECT count(*), coalesce(bit_xor(md5_number_lower(concat_ws(chr(31), model, item_id, axis,
    variant_id, sample, extractor, status,
    coalesce(answer, '∅'), coalesce(value::TEXT, '∅'), coalesce(is_correct::TEXT, '∅')))), 0)::TEXT
FROM readouts WHERE study_id = $study_id AND item_id IN (SELECT unnest($items))
    AND model IN (SELECT unnest($models))
"""
_ITEMS_FINGERPRINT = """
SELECT count(*), coalesce(bit_xor(md5_number_lower(concat_ws(chr(31), item_id, question,
    options::TEXT, coalesce(target, '∅')))), 0)::TEXT
FROM items WHERE item_id IN (SELECT unnest($items))
"""


def _readouts_fingerprint(
    store: Store, study_id: str, items: Sequence[str], models: Sequence[str]
) -> list:
    """Return [number, fingerprint] of these models' readouts of these items, in any order."""
    params = {"items": text_list(items), "models": text_list(models)}
    return list(store.rows(_READOUTS_FINGERPRINT, study_id=study_id, **params)[0])


def differences(store: Store, lock: Mapping[str, Any]) -> list[str]:
    """Return a sentence per part of a lock that differs in this database. Its id, declaration,
    questions and readouts are compared. `lock` may come from elsewhere."""
    study_id, settings = lock["study_id"], lock["settings"]
    state = settings.get(STATE) or {}
    lock_name = f"The lock {lock['lock_id']} of {lock['study_id']}"
    if lock_id(settings) != lock["lock_id"]:
        return [
            f"{lock_name} was changed after it was stored: its id is not the hash of what it holds."
        ]
    if "readouts" not in state:
        return []  # the lock of a pair of sets, or of a release that fixed no readouts
    if lock["lock_id"] not in {stored_lock["lock_id"] for stored_lock in locks(store, study_id)}:
        return [f"{lock_name} is not in this file."]
    items = [item for item, _ in state["items"]]
    stored_now = {
        "declaration": _declaration_hash(store, study_id),
        "questions": list(store.rows(_ITEMS_FINGERPRINT, items=text_list(items))[0]),
        "readouts": (
            state["readouts"]
            if is_before_answers(state)
            else _readouts_fingerprint(store, study_id, items, state["models"])
        ),
    }
    return [
        f"{lock_name} was stored over another state of the {name}: {state[name]} then, {state_here}"
        " here."
        for name, state_here in stored_now.items()
        if state[name] != state_here
    ]


def _declaration_hash(store: Store, study_id: str) -> str:
    sql = "SELECT toml FROM studies WHERE study_id = $study_id"
    toml = store.value(sql, study_id=study_id)
    return "" if toml is None else digest(toml)


def _sight_of_old_lock(store: Store, study_id: str, settings: Mapping[str, Any]) -> Sight:
    """Return the sight under a lock of an early release, which holds only a hash of the verdicts.
    As long as the hash is the present one, the present state is that of the lock."""
    if settings.get("verdicts", "") not in ("", verdict_state(store)):
        raise BadInput(
            "Verdicts have changed since this lock was stored, and its release kept no copy of"
            " them, so its result cannot be computed again. Duplicate the study and lock the copy."
        )
    state = _state(store, study_id)
    items = tuple(item for item, _ in state["items"])
    return Sight(locked=True, items=items, models=tuple(state["models"]), verdicts=None)


_SET_ASIDE = f"""
SELECT i.item_id, i.role FROM study_items i WHERE i.study_id = $study_id AND i.confirmatory
    AND NOT {hidden_sql()} ORDER BY i.item_id
"""
_MODELS = "SELECT DISTINCT model FROM readouts WHERE study_id = $study_id ORDER BY model"
# (study that shows these questions, number of them, number of them with answers by these models)
_STUDIES_SHOWING = f"""
SELECT coalesce(any_value(s.name), ''), count(DISTINCT i.item_id),
       count(DISTINCT i.item_id) FILTER (WHERE EXISTS (SELECT 1 FROM readouts r
           WHERE r.study_id = o.study_id AND r.item_id = o.item_id
                                                       AND r.model IN (SELECT unnest($models))))
FROM study_items i LEFT JOIN questions.twins q USING (item_id)
JOIN study_items o ON o.item_id = coalesce(q.twin, i.item_id) AND o.study_id <> i.study_id
    AND {opened_sql("o")}
LEFT JOIN studies s ON s.study_id = o.study_id
WHERE i.study_id = $study_id AND i.item_id IN (SELECT unnest($items)) GROUP BY o.study_id
    ORDER BY ALL
"""
# Number of items with answers from before the study was declared, which a deleted study may have
# shown.
_N_OLDER_ITEMS = """
SELECT count(DISTINCT l.item_id) FROM readout_sources l JOIN completions c USING (call_id)
    JOIN studies s USING (study_id)
WHERE l.study_id = $study_id AND l.item_id IN (SELECT unnest($items))
    AND c.created_at < s.created_at
"""


def _state(store: Store, study_id: str) -> dict[str, Any]:
    """Return what a result of the study depends on besides the page's settings.

    Items that an earlier study hides are left out. `seen` lists the other studies that show a
    question set aside here, also as an item with another id: [name, items, items with answers by
    the same models]. `n_older` counts items with answers from before the study was declared.
    """
    study_rows = store.rows(
        "SELECT toml, code_version FROM studies WHERE study_id = $study_id", study_id=study_id
    )
    toml, code_version = study_rows[0] if study_rows else ("", "")
    declared = Study.from_toml(toml) if study_rows else None
    model_names = {model for (model,) in store.rows(_MODELS, study_id=study_id)}
    if declared:
        model_names |= {use.name for use in declared.models}
    models = sorted(model_names)
    states = current_states(store)
    asked_pairs = store.rows(
        "SELECT DISTINCT material_id FROM study_variants WHERE study_id = $study_id",
        study_id=study_id,
    )
    items_and_roles = [list(row) for row in store.rows(_SET_ASIDE, study_id=study_id)]
    items = text_list(item for item, _ in items_and_roles)
    return {
        "items": items_and_roles,
        "models": models,
        "verdicts": {
            pair: states.get(pair, "unreviewed")
            for (pair,) in sorted(asked_pairs, key=str)
            if pair is not None
        },
        "declaration": _declaration_hash(store, study_id),
        "questions": list(store.rows(_ITEMS_FINGERPRINT, items=items)[0]),
        "readouts": _readouts_fingerprint(store, study_id, items, models),
        "extractors": sorted(extractor.name for extractor in declared.extractors)
        if declared
        else [],
        "versions": [code_version, __version__],
        "seen": [
            list(row)
            for row in store.rows(
                _STUDIES_SHOWING, study_id=study_id, items=items, models=text_list(models)
            )
        ],
        "n_older": store.value(_N_OLDER_ITEMS, study_id=study_id, items=items),
    }


def hidden_by(store: Store, study_id: str) -> dict[str, int]:
    """Return studies (or pairs of sets) that hide items of this study: name -> number of items."""
    sql = f"""SELECT coalesce(s.name, 'two sets on the Holdout page'), count(DISTINCT h.item_id)
             FROM ({HIDDEN_BY}) h LEFT JOIN studies s ON s.study_id = h.hidden_by
                 WHERE h.study_id = $study_id GROUP BY ALL
                 ORDER BY ALL"""
    return dict(store.rows(sql, study_id=study_id))


def hidden_sentence(store: Store, study_id: str) -> str:
    """Return a sentence on items that other studies hide here; "" if there is none."""
    parts = [
        f"{n:,} of its items stay hidden: {name} set them aside"
        for name, n in hidden_by(store, study_id).items()
    ]
    return "; ".join(parts) + ". Lock or delete that study to see them here." if parts else ""


def n_verdicts_changed(store: Store, lock: Mapping[str, Any]) -> int:
    """Count the pairs whose state is not that of the lock any more."""
    states_then = lock["settings"].get(STATE, {}).get("verdicts", {})
    states_now = current_states(store)
    return sum(states_now.get(pair, "unreviewed") != state for pair, state in states_then.items())


# (number of late readouts that are new or differ, number of those that the lock has with other
# content)
_N_LATE_READOUTS = f"""
SELECT count(*), count(r.status) FROM late_readouts l LEFT JOIN readouts r
    USING ({", ".join(tables()["readouts"].key)})
WHERE l.study_id = $study_id AND l.item_id IN (SELECT unnest($items)) AND (
    r.status IS DISTINCT FROM l.status OR r.answer IS DISTINCT FROM l.answer OR r.value IS DISTINCT
        FROM l.value
    OR r.is_correct IS DISTINCT FROM l.is_correct)
"""


def late_readouts_sentence(store: Store, lock: Mapping[str, Any]) -> str:
    """Return a sentence on readouts of a lock's items that came after the lock; "" for none."""
    items = [item for item, _ in lock["settings"].get(STATE, {}).get("items", ())]
    n, n_differ = store.rows(_N_LATE_READOUTS, study_id=lock["study_id"], items=text_list(items))[0]
    if not n:
        return ""
    remark = f", {n_differ:,} of them with other content than before it" if n_differ else ""
    return (
        f"{count_of(n, 'readout', 'readouts')} of these items came after the lock{remark}. They"
        " are not counted."
    )


def n_answered_before(store: Store, lock: Mapping[str, Any]) -> int:
    """Count the items of a lock with an answer that is older than the lock."""
    sql = """SELECT count(DISTINCT l.item_id)
             FROM readout_sources l JOIN completions c USING (call_id)
             WHERE l.study_id = $study_id AND l.item_id IN (SELECT unnest($items))
                 AND c.created_at < $created_at"""
    items = [item for item, _ in lock["settings"][STATE]["items"]]
    params = {"study_id": lock["study_id"], "items": items, "created_at": lock["created_at"]}
    return store.value(sql, **params)


def n_set_aside(store: Store, study_id: str, role: str | None = None) -> int:
    """Count the items that the study set aside, in one role or all."""
    return store.value(
        "SELECT count(*) FROM study_items WHERE study_id = $study_id AND confirmatory "
        "AND ($role IS NULL OR role = $role)",
        study_id=study_id,
        role=role,
    )
