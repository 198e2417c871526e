"""What a run has to know of every item, the ones that were set aside too: paraphrases to ask, calls that were made.

Only code that asks models or takes files in reads here, and nothing of it is shown: no page, report, claim or export may
import this module (a test looks).
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from flipcore.core.records import CONTINUATION
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


_SET_ASIDE_BEFORE = """
SELECT DISTINCT m.item_id FROM study_items m LEFT JOIN studies s USING (study_id)
WHERE m.confirmatory AND m.study_id <> $study_id
  AND coalesce(m.since, s.created_at) < coalesce((SELECT created_at FROM studies WHERE study_id = $study_id), 'infinity')
"""


def set_aside_before(store: Store, study_id: str) -> set[str]:
    """Items that others set aside before this study was declared, opened since or not: what a study asks is not to change with
    a lock."""
    return {item_id for (item_id,) in store.rows(_SET_ASIDE_BEFORE, study_id=study_id)}


_ANSWERS = """
WITH answers AS (
    SELECT DISTINCT l.model, l.item_id, l.axis, l.variant_id, l.sample, l.call_id FROM readout_sources l
    JOIN completions c USING (call_id)
    WHERE l.study_id = $study_id AND c.parent_id IS NULL AND c.request->>'$.kind' = 'generate')
SELECT a.model, a.item_id, a.axis, a.variant_id, a.sample, c.* EXCLUDE (created_at, model, sample), q.dataset, q.kind,
       q.question, q.options, q.target AS item_target, v.system, v.parts, v.option_order, v.labels, v.layout, v.target
FROM answers a JOIN completions c USING (call_id) JOIN items q USING (item_id) JOIN variants v USING (variant_id)
WHERE q.kind IN (SELECT unnest($kinds)) AND v.layout <> $continuation
ORDER BY a.model, a.item_id, a.axis, a.variant_id, a.sample
"""


def written_answers(store: Store, study_id: str, kinds: list[str]) -> Iterator[dict]:
    """Every stored answer in words of a study to items of these kinds, with its item and prompt, a batch at a time."""
    return store.stream(_ANSWERS, study_id=study_id, kinds=kinds, continuation=CONTINUATION)
