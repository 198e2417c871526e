"""Queries of a run, which covers the items that were set aside too: paraphrases to ask, calls
that were made.

Only code that asks models or takes files in reads here, and nothing of it is shown: no page,
report, claim or export may import this module (a test looks).
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from flipcore.core.records import CONTINUATION
from flipcore.store.connection import Store
from flipcore.store.queries.paraphrase_states import PAIR_STATES

_PARAPHRASES = (
    f"WITH {PAIR_STATES} SELECT item_id, pair_id, paraphrase, state, generator, change "
    "FROM standing ORDER BY pair_id"
)


def paraphrases(store: Store) -> list[dict]:
    """Every stored paraphrase with its text and what stands of it: item_id, pair_id, paraphrase,
    state, generator, change."""
    return store.rows_of(_PARAPHRASES)


_COMPLETIONS = """
SELECT * EXCLUDE (created_at) FROM completions WHERE status = 'ok'
    AND call_id IN (SELECT unnest($call_ids))
"""


def completions(store: Store, call_ids: list[str]) -> list[dict]:
    """The answered ones of these calls."""
    return store.rows_of(_COMPLETIONS, call_ids=call_ids)


_ANSWERED = """
SELECT call_id FROM completions
WHERE status = 'ok' AND model IN (SELECT unnest($models)) AND length(call_id) = 20
    AND strlen(call_id) = 20
"""  # every id is 20 hexadecimal characters; what a damaged file holds besides is asked for in vain


def answered_ids(store: Store, models: list[str]) -> np.ndarray:
    """The ids of all answered calls to these models, as 20 bytes each."""
    return store.arrow(_ANSWERED, models=models)["call_id"].to_numpy().astype("S20")


@dataclass(frozen=True, slots=True)
class ItemRun:
    """A row of `item_runs`, without its study, model and item."""

    plan_hash: str
    n_calls: int
    n_answers: int
    n_cut: int


# those that still hold: every readout is there, and every completion that one of the item's
# readouts was read from
_ITEM_RUNS = """
WITH there AS (SELECT model, item_id, count(*) AS n FROM readouts WHERE study_id = $study_id
    GROUP BY model, item_id),
     lacking AS (
        SELECT DISTINCT s.model, s.item_id FROM readout_sources s LEFT JOIN completions c
            ON c.call_id = s.call_id
        WHERE s.study_id = $study_id AND c.status IS DISTINCT FROM 'ok')
SELECT r.model, r.item_id, r.plan_hash, r.n_calls, r.n_answers, r.n_cut
FROM item_runs r JOIN there t USING (model, item_id) ANTI JOIN lacking USING (model, item_id)
WHERE r.study_id = $study_id AND t.n >= r.n_readouts
"""


def item_runs(store: Store, study_id: str) -> dict[tuple[str, str], ItemRun]:
    """(model, item) -> how it ended, of all items that were asked to their end and of which nothing
    is missing since."""
    return {
        (model, item_id): ItemRun(*run_columns)
        for model, item_id, *run_columns in store.rows(_ITEM_RUNS, study_id=study_id)
    }


_PRINT = """
SELECT count(*), coalesce(bit_xor(md5_number_lower(concat_ws(chr(31), model, item_id, plan_hash,
    n_calls))), 0)::TEXT
FROM item_runs WHERE study_id = $study_id
"""


def item_runs_print(store: Store, study_id: str) -> tuple[int, str]:
    """Return how many items of a study were asked to their end, and a fingerprint of that which
    depends on no order."""
    return store.rows(_PRINT, study_id=study_id)[0]


def study_end(store: Store, study_id: str) -> tuple[str, int, str, str]:
    """(state, calls, message, hash of what it was planned from) of a study, as it last ended; empty
    for an unknown one."""
    sql = """SELECT state, coalesce(n_calls, 0), message, coalesce(plan_hash, '')
             FROM studies WHERE study_id = $study_id"""
    rows = store.rows(sql, study_id=study_id)
    return rows[0] if rows else ("", 0, "", "")


def item_of_question(store: Store) -> dict[str, str]:
    """Question (as stored) -> the id of an item that asks it."""
    return dict(store.rows("SELECT question, min(item_id) FROM items GROUP BY question"))


_MEMBERS = """
SELECT i.item_id, i.role, i.confirmatory, q.kind, q.question, q.options, q.category, q.solution,
    q.meta
FROM study_items i JOIN items q USING (item_id) WHERE i.study_id = $study_id ORDER BY i.position
"""


def members(store: Store, study_id: str) -> list[dict]:
    """Items of a study with their roles, to match controls; no answers."""
    return [
        row | {"meta": json.loads(row["meta"] or "{}")}
        for row in store.rows_of(_MEMBERS, study_id=study_id)
    ]


_SET_ASIDE_BEFORE = """
SELECT DISTINCT q.question FROM study_items m JOIN items q USING (item_id) LEFT JOIN studies s
    USING (study_id)
WHERE m.confirmatory AND m.study_id <> $study_id
  AND coalesce(m.since, s.created_at) < coalesce((SELECT created_at FROM studies
      WHERE study_id = $study_id), 'infinity')
"""


def questions_set_aside_before(store: Store, study_id: str) -> set[str]:
    """The questions that others set aside before this study was declared, opened since or not: what
    a study asks is not to change with a lock."""
    return {question for (question,) in store.rows(_SET_ASIDE_BEFORE, study_id=study_id)}


_WRITTEN_KINDS = """
SELECT DISTINCT q.kind FROM readout_sources l
JOIN completions c USING (call_id) JOIN items q USING (item_id) JOIN variants v USING (variant_id)
WHERE l.study_id = $study_id AND c.parent_id IS NULL AND c.request->>'$.kind' = 'generate'
    AND v.layout <> $continuation AND c.text <> ''
"""
_ANSWERS = """
WITH answers AS (
    SELECT DISTINCT l.model, l.item_id, l.axis, l.variant_id, l.sample, l.call_id
        FROM readout_sources l
    JOIN completions c USING (call_id)
    WHERE l.study_id = $study_id AND c.parent_id IS NULL AND c.request->>'$.kind' = 'generate')
SELECT a.model, a.item_id, a.axis, a.variant_id, a.sample, c.* EXCLUDE (created_at, model, sample),
    q.dataset, q.kind,
       q.question, q.options, q.target AS item_target, v.system, v.parts, v.option_order, v.labels,
           v.layout, v.target
FROM answers a JOIN completions c USING (call_id) JOIN items q USING (item_id) JOIN variants v
    USING (variant_id)
WHERE q.kind IN (SELECT unnest($kinds)) AND v.layout <> $continuation
ORDER BY a.model, a.item_id, a.axis, a.variant_id, a.sample
"""


def written_kinds(store: Store, study_id: str) -> set[str]:
    """Kinds of the items to which a study holds answers in words; a table of scores has none."""
    rows = store.rows(_WRITTEN_KINDS, study_id=study_id, continuation=CONTINUATION)
    return {kind for (kind,) in rows}


def written_answers(store: Store, study_id: str, kinds: list[str]) -> Iterator[dict]:
    """Every stored answer in words of a study to items of these kinds, with its item and prompt, a
    batch at a time."""
    return store.stream(_ANSWERS, study_id=study_id, kinds=kinds, continuation=CONTINUATION)
