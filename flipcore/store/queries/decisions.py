"""The decision record and the log of moved thresholds: what was decided on a study, by whom, and what was tried before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from flipcore.access.acting import signature
from flipcore.core.errors import BadInput
from flipcore.core.records import digest
from flipcore.store.connection import Store
from flipcore.store.rows import now


def decisions(store: Store, study_id: str) -> pd.DataFrame:
    """The decision record of a study, newest first."""
    return store.frame(
        "SELECT created_at, reviewer, page, mode, sentence, settings, came_from FROM decisions "
        "WHERE study_id = $study_id ORDER BY created_at DESC",
        study_id=study_id,
    )


def latest(store: Store, study_id: str, page: str) -> str:
    """The sentence that stands for a page now; "" without one."""
    record = decisions(store, study_id)
    sentences = record[record["page"] == page]["sentence"]
    return "" if sentences.empty else str(sentences.iloc[0])


def keep_decision(
    store: Store, study_id: str, page: str, mode: str, sentence: str, settings: Mapping[str, Any], reviewer: str
) -> None:
    """Appends a decision with the sentence that stood there before it. Raises BadInput without a name or a sentence."""
    reviewer = signature(reviewer)
    if not reviewer or not sentence.strip():
        raise BadInput("A decision needs a sentence and the name of whoever writes it down.")
    before = latest(store, study_id, page)
    row = {
        "study_id": study_id,
        "page": page,
        "sentence": sentence,
        "mode": mode,
        "settings": dict(settings),
        "came_from": {"sentence": before} if before else None,
        "reviewer": reviewer,
        "created_at": now(),
    }
    store.writer.add("decisions", [row | {"decision_id": digest(*map(str, row.values()))}]).result(10)


def n_moves(store: Store, study_id: str) -> int:
    """How many released moves of a threshold were logged on this study."""
    return store.rows("SELECT count(*) FROM threshold_moves WHERE study_id = $study_id", study_id=study_id)[0][0]


def keep_move(store: Store, study_id: str, move: Mapping[str, Any], session: str) -> None:
    """Appends a released move of a threshold: {control, from, to, lowest, highest}, the last two the range it crossed."""
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
    store.writer.add("threshold_moves", [row | {"move_id": digest(*map(str, row.values()))}]).result(10)
