"""The decision record, open questions, and the log of moved thresholds.

A decision is stored with its author, settings, earlier decision and the state of the data, so that
a later change of the data can be noticed. A fingerprint of rows is the exclusive or of their MD5
hashes. It does not depend on the order of rows, and changes with any value. It covers the rows that
the page could read: the set-aside items under a lock, otherwise the open ones.
"""

import json
import sys
from collections.abc import Mapping
from typing import Any

import pandas as pd

from flipcore.access.acting import signature
from flipcore.core.errors import BadInput
from flipcore.core.links import shared_query
from flipcore.core.records import digest
from flipcore.store.connection import Store
from flipcore.store.queries.locks import lock_of_page, sight
from flipcore.store.queries.paraphrase_states import PAIR_STATES
from flipcore.store.rows import now
from flipcore.store.visible import SIGHT

_READOUT_VALUES = (
    "r.model, r.item_id, r.axis, r.variant_id, r.sample, r.extractor, r.status, coalesce(r.answer,"
    " '∅'), coalesce(r.value::TEXT, '∅')"
)
_READOUTS = f"""
SELECT count(*), coalesce(bit_xor(md5_number_lower(concat_ws(chr(31), {_READOUT_VALUES}))), 0)::TEXT
FROM readouts r JOIN study_items i ON i.study_id = r.study_id AND i.item_id = r.item_id
WHERE r.study_id = $study_id AND {SIGHT}
"""
_ITEMS = f"""
SELECT count(*), coalesce(bit_xor(md5_number_lower(concat_ws(chr(31), i.item_id, i.role))), 0)::TEXT
FROM study_items i WHERE i.study_id = $study_id AND {SIGHT}
"""
_VERDICTS = f"""
WITH {PAIR_STATES}, used AS (SELECT DISTINCT material_id AS pair_id FROM study_variants
    WHERE study_id = $study_id)
SELECT state, count(*) FROM standing JOIN used USING (pair_id) GROUP BY state ORDER BY state
"""
UNKNOWN = "Not known whether the data changed: an earlier release wrote this down."
COUNTED_ROWS = ("items", "readouts")


def data_state(store: Store, study_id: str, locked_page: str | None = None) -> dict[str, Any]:
    """Return the state of a study's data as a page reads it, under its lock if `locked_page`.

    {"items": [n, hash], "readouts": [n, hash], "verdicts": {state: n}}
    """
    lock = lock_of_page(store, study_id, locked_page) if locked_page else None
    params = sight(store, study_id, lock["lock_id"] if lock else None).params | {
        "study_id": study_id
    }
    return {
        "items": list(store.rows(_ITEMS, **params)[0]),
        "readouts": list(store.rows(_READOUTS, **params)[0]),
        "verdicts": dict(store.rows(_VERDICTS, study_id=study_id)),
    }


def changes(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> str:
    """Return a sentence on the differences between two data states; "" for equal ones."""
    if not _is_data_state(before):
        return UNKNOWN
    assert before is not None
    parts = []
    for name in COUNTED_ROWS:
        (n, fingerprint), (n_after, fingerprint_after) = before[name], after[name]
        if n != n_after:
            parts.append(f"{n:,} {name} then, {n_after:,} now")
        elif fingerprint != fingerprint_after:
            parts.append(f"{n:,} {name}, with other content")
    for state in ("accepted", "rejected", "unreviewed"):
        n, n_after = before["verdicts"].get(state, 0), after["verdicts"].get(state, 0)
        if n != n_after:
            parts.append(f"{n:,} {state} paraphrases then, {n_after:,} now")
    return f"The data changed: {'; '.join(parts)}." if parts else ""


def _is_data_state(value: Mapping[str, Any] | None) -> bool:
    """Return whether a value has the form of `data_state`, as a merged file may hold anything."""
    if not value or not isinstance(value.get("verdicts"), dict):
        return False
    counts = list(value["verdicts"].values())
    for name in COUNTED_ROWS:
        pair = value.get(name)
        if not isinstance(pair, list) or len(pair) != 2:
            return False
        counts.append(pair[0])
    return all(type(n) is int for n in counts)


LOCKED = "locked"
MAX_LETTERS = 2_000  # of an open question or a decision


def decisions(store: Store, study_id: str) -> pd.DataFrame:
    """Return the decision record of a study, newest first."""
    return store.frame(
        "SELECT created_at, reviewer, page, mode, sentence, resolution, settings, came_from "
        "FROM decisions WHERE study_id = $study_id ORDER BY created_at DESC",
        study_id=study_id,
    )


def latest(store: Store, study_id: str, page: str) -> str:
    """Return the latest decision on a page, in people's own words if given; "" if there is none."""
    record = decisions(store, study_id)
    rows = record[record["page"] == page].to_dict("records")
    return str(rows[0]["resolution"] or rows[0]["sentence"]) if rows else ""


def record(store: Store) -> pd.DataFrame:
    """Return the decisions on all studies, newest first, with the study's name. The name is "" for
    decisions on a pair of sets."""
    return store.frame(
        "SELECT d.*, coalesce(s.name, '') AS study FROM decisions d LEFT JOIN studies s "
        "USING (study_id) ORDER BY d.created_at DESC, d.decision_id"
    )


def settings_of(
    store: Store, decision_id: str, study_id: str, page: str, start: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the settings of a decision on this study and page; {} for an unknown id. The row may
    come from anybody's file. So with `start`, the page's own settings, only those with the same
    name and kind of value are returned."""
    rows = store.rows(
        "SELECT settings FROM decisions WHERE decision_id = $decision_id AND study_id = $study_id "
        "AND page = $page",
        decision_id=decision_id,
        study_id=study_id,
        page=page,
    )
    settings = json.loads(rows[0][0]) if rows else {}
    if not isinstance(settings, dict):
        return {}
    if start is None:
        return settings
    return {key: settings[key] for key in start if _is_same_kind(settings.get(key), start[key])}


def _is_same_kind(value: Any, own_value: Any) -> bool:
    """Return whether `value` is text if `own_value` is, and otherwise a finite number."""
    if isinstance(own_value, str):
        return isinstance(value, str)
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and abs(value) <= sys.float_info.max
    )


def open_questions(store: Store) -> pd.DataFrame:
    """Return the unanswered questions, newest first. Columns: question_id, study_id, study, page,
    question, author, created_at."""
    return store.frame(
        "SELECT q.question_id, q.study_id, coalesce(s.name, '') AS study, q.page, q.question, "
        "q.author, q.created_at FROM open_questions q LEFT JOIN studies s USING (study_id) "
        "WHERE q.settles IS NULL AND NOT EXISTS (SELECT 1 FROM open_questions a "
        "WHERE a.settles = q.question_id) ORDER BY q.created_at DESC, q.question_id"
    )


def keep_question(
    store: Store, study_id: str, page: str, question: str, author: str, *, settles: str = ""
) -> None:
    """Append an open question, or the answer to a question with the id `settles`. Raises BadInput
    without text or author, and where the question to answer is not open."""
    author = signature(author)
    if not author or not question.strip():
        raise BadInput(
            "An open question, or its answer, needs its words and the name of whoever writes it"
            " down."
        )
    if len(question) > MAX_LETTERS:
        raise BadInput(f"This has {len(question):,} characters; write at most {MAX_LETTERS:,}.")
    if settles and settles not in set(open_questions(store)["question_id"]):
        raise BadInput("This question is not open any more. Reload the page to see its answer.")
    row = {
        "study_id": study_id,
        "page": page,
        "question": question.strip(),
        "settles": settles or None,
        "place": None,
        "author": author,
        "created_at": now(),
    }
    store.writer.add(
        "open_questions", [row | {"question_id": digest(*map(str, row.values()))}]
    ).result(10)


def keep_decision(
    store: Store,
    study_id: str,
    page: str,
    mode: str,
    sentence: str,
    settings: Mapping[str, Any],
    reviewer: str,
    *,
    query: str = "",
    evidence: Mapping[str, Any] | None = None,
    resolution: str = "",
) -> None:
    """Append a decision, with the earlier decision on this page and the state of the data.

    `sentence` is the page's, `resolution` the decision in people's own words, `query` that of the
    page's link, and `evidence` the outputs that were looked at. Raises BadInput without a reviewer
    or sentence, and for too long a resolution.
    """
    reviewer = signature(reviewer)
    if not reviewer or not sentence.strip():
        raise BadInput("A decision needs a sentence and the name of whoever writes it down.")
    if len(resolution) > MAX_LETTERS:
        raise BadInput(
            f"What you decide has {len(resolution):,} characters; write at most {MAX_LETTERS:,}."
        )
    earlier_decision = latest(store, study_id, page)
    row = {
        "study_id": study_id,
        "page": page,
        "sentence": sentence,
        "mode": mode,
        "settings": dict(settings),
        "came_from": {"sentence": earlier_decision} if earlier_decision else None,
        "reviewer": reviewer,
        "created_at": now(),
        "place": {"query": shared_query(query)},
        "evidence": dict(evidence) if evidence else None,
        "basis": data_state(store, study_id, page if mode == LOCKED else None),
        "resolution": " ".join(resolution.split()),
    }
    store.writer.add("decisions", [row | {"decision_id": digest(*map(str, row.values()))}]).result(
        10
    )


def n_moves(store: Store, study_id: str) -> int:
    """Count the logged moves of thresholds on this study."""
    return store.value(
        "SELECT count(*) FROM threshold_moves WHERE study_id = $study_id", study_id=study_id
    )


def keep_move(store: Store, study_id: str, move: Mapping[str, Any], session: str) -> None:
    """Append a move of a threshold, once it was released. `move` has the keys control, from, to,
    lowest and highest; the last two are the range crossed."""
    row = {
        "study_id": study_id,
        "control": move["control"],
        "came_from": move["from"],
        "went_to": move["to"],
        "lowest": move["lowest"],
        "highest": move["highest"],
        "session": session,
        "created_at": now(),
    }
    store.writer.add(
        "threshold_moves", [row | {"move_id": digest(*map(str, row.values()))}]
    ).result(10)
