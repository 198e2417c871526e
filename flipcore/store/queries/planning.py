"""What a run has to know of every item, the ones that were set aside too: paraphrases to ask, calls that were made.

Only code that asks models or takes files in reads here, and nothing of it is shown: no page, report, claim or export may
import this module (a test looks).
"""

from __future__ import annotations

import json

from flipcore.store.connection import Store
from flipcore.store.queries.standing import STANDING

_PARAPHRASES = f"WITH {STANDING} SELECT item_id, pair_id, paraphrase, state, generator FROM standing ORDER BY pair_id"


def paraphrases(store: Store) -> list[dict]:
    """Every stored paraphrase with its text and what stands of it: item_id, pair_id, paraphrase, state, generator."""
    return store.rows_of(_PARAPHRASES)


_COMPLETIONS = """
SELECT * EXCLUDE (created_at) FROM completions WHERE status = 'ok' AND call_id IN (SELECT unnest($call_ids))
"""


def completions(store: Store, call_ids: list[str]) -> list[dict]:
    """The answered ones of these calls."""
    return store.rows_of(_COMPLETIONS, call_ids=call_ids)


def item_of_question(store: Store) -> dict[str, str]:
    """Question (as stored) -> the id of an item that asks it."""
    return dict(store.rows("SELECT question, min(item_id) FROM items GROUP BY question"))


_MEMBERS = """
SELECT i.item_id, i.role, i.confirmatory, q.kind, q.question, q.options, q.category, q.solution, q.meta
FROM study_items i JOIN items q USING (item_id) WHERE i.study_id = $study_id ORDER BY i.position
"""


def members(store: Store, study_id: str) -> list[dict]:
    """Every item of a study with its role, to match controls by what they are; nobody's answer is in it."""
    return [row | {"meta": json.loads(row["meta"] or "{}")} for row in store.rows_of(_MEMBERS, study_id=study_id)]
