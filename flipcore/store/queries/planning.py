"""Queries for runs, which include set-aside items: paraphrases to ask, and calls that were made.

Only code that asks models or imports files may use them, and their results are never shown. No
page, report, claim or export may import this module; a test checks that.
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
    """Return every stored paraphrase: item_id, pair_id, paraphrase, state, generator, change."""
    return store.rows_of(_PARAPHRASES)


_COMPLETIONS = """
SELECT * EXCLUDE (created_at) FROM completions WHERE status = 'ok'
    AND call_id IN (SELECT unnest($call_ids))
"""


def completions(store: Store, call_ids: list[str]) -> list[dict]:
    """Return the completions of those calls that are answered."""
    return store.rows_of(_COMPLETIONS, call_ids=call_ids)


# Every id has 20 hexadecimal characters; other ids, from a damaged file, are of no use.
_ANSWERED = """
SELECT call_id FROM completions
WHERE status = 'ok' AND model IN (SELECT unnest($models)) AND length(call_id) = 20
    AND strlen(call_id) = 20
"""


def answered_ids(store: Store, models: list[str]) -> np.ndarray:
    """Return the ids of all answered calls to these models, as an array of 20 bytes each."""
    return store.arrow(_ANSWERED, models=models)["call_id"].to_numpy().astype("S20")


@dataclass(frozen=True, slots=True)
class ItemRun:
    """The counts of a complete item and model."""

    plan_hash: str
    n_calls: int
    n_answers: int
    n_cut: int  # answers that were cut off


# Only items of which nothing was deleted since: all readouts and their completions are stored.
_ITEM_RUNS = """
WITH stored AS (SELECT model, item_id, count(*) AS n FROM readouts WHERE study_id = $study_id
    GROUP BY model, item_id),
     lacking AS (
        SELECT DISTINCT s.model, s.item_id FROM readout_sources s LEFT JOIN completions c
            ON c.call_id = s.call_id
        WHERE s.study_id = $study_id AND c.status IS DISTINCT FROM 'ok')
SELECT r.model, r.item_id, r.plan_hash, r.n_calls, r.n_answers, r.n_cut
FROM item_runs r JOIN stored t USING (model, item_id) ANTI JOIN lacking USING (model, item_id)
WHERE r.study_id = $study_id AND t.n >= r.n_readouts
"""


def item_runs(store: Store, study_id: str) -> dict[tuple[str, str], ItemRun]:
    """Return (model, item) -> run, for complete items of which nothing was deleted since."""
    return {
        (model, item_id): ItemRun(*run_columns)
        for model, item_id, *run_columns in store.rows(_ITEM_RUNS, study_id=study_id)
    }


_ITEM_RUNS_FINGERPRINT = """
SELECT count(*), coalesce(bit_xor(md5_number_lower(concat_ws(chr(31), model, item_id, plan_hash,
    n_calls))), 0)::TEXT
FROM item_runs WHERE study_id = $study_id
"""


def item_runs_fingerprint(store: Store, study_id: str) -> tuple[int, str]:
    """Return (number of a study's complete items, fingerprint of them in any order)."""
    return store.rows(_ITEM_RUNS_FINGERPRINT, study_id=study_id)[0]


def study_end(store: Store, study_id: str) -> tuple[str, int, str, str]:
    """Return (state, number of calls, message, hash of its plan) of a study at its last end. All
    are empty for an unknown study."""
    sql = """SELECT state, coalesce(n_calls, 0), message, coalesce(plan_hash, '')
             FROM studies WHERE study_id = $study_id"""
    rows = store.rows(sql, study_id=study_id)
    return rows[0] if rows else ("", 0, "", "")


def item_of_question(store: Store) -> dict[str, str]:
    """Return stored question -> id of an item that asks it."""
    return dict(store.rows("SELECT question, min(item_id) FROM items GROUP BY question"))


_MEMBERS = """
SELECT i.item_id, i.role, i.confirmatory, q.kind, q.question, q.options, q.category, q.solution,
    q.meta
FROM study_items i JOIN items q USING (item_id) WHERE i.study_id = $study_id ORDER BY i.position
"""


def members(store: Store, study_id: str) -> list[dict]:
    """Return the study's items with their roles, without right answers, to match controls."""
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
    """Return questions that other studies set aside before this one was declared. Whether a lock
    has opened them since does not matter, so that a lock does not change what a study asks."""
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
    """Return the kinds of items to which a study has written answers; none for tables of scores."""
    rows = store.rows(_WRITTEN_KINDS, study_id=study_id, continuation=CONTINUATION)
    return {kind for (kind,) in rows}


def written_answers(store: Store, study_id: str, kinds: list[str]) -> Iterator[dict]:
    """Yield a study's written answers to items of these kinds, with item and prompt."""
    return store.stream(_ANSWERS, study_id=study_id, kinds=kinds, continuation=CONTINUATION)
