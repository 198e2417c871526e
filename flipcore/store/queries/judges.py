"""Queries for outputs that people label, and for readouts by extractors and judges."""

from collections.abc import Sequence

from flipcore.core.records import IDENTITY
from flipcore.store.clusters import JOIN_CLUSTERS
from flipcore.store.connection import Store, text_list
from flipcore.store.harmless import COMPARABLE, IS_ANSWER, answer_params, comparable_params
from flipcore.store.visible import OPEN

JUDGE, BACKWARDS = "judge", "judge_backwards"

_STUDIES = """
SELECT s.study_id, s.name FROM studies s
WHERE EXISTS (SELECT 1 FROM readouts r WHERE r.study_id = s.study_id AND r.extractor = $judge
    AND r.status <> 'absent')
ORDER BY s.created_at DESC, s.study_id
"""


def studies_with_judge(store: Store, judge: str = JUDGE) -> dict[str, str]:
    """Return id -> name, newest first, of studies with readouts by this judging extractor."""
    return dict(store.rows(_STUDIES, judge=judge))


# A text under several axes was judged once, so there is one row per text.
_TEXTS = f"""
WITH text AS (SELECT study_id, model, item_id, axis, variant_id, sample, extractor,
    arg_min(call_id, position) AS call_id,
                     arg_max(call_id, position) AS reply_id FROM readout_sources
              WHERE study_id = $study_id AND extractor IN ($judge, $backwards) GROUP BY ALL),
     reading AS (SELECT t.call_id, t.reply_id, r.*,
                        row_number() OVER (PARTITION BY t.call_id, r.extractor
                            ORDER BY r.axis) AS place
                 FROM readouts r JOIN text t USING (study_id, model, item_id, axis, variant_id,
                     sample, extractor)
                 WHERE r.status <> 'absent' AND t.call_id <> t.reply_id)
SELECT a.call_id, a.item_id, a.model, q.dataset, q.kind, q.question, q.options, v.option_order,
    v.labels, c.text,
       a.answer AS judged, b.answer AS judged_backwards, b.call_id IS NOT NULL AS asked_backwards,
       reply.request->>'$.prompt' AS judge_prompt
FROM reading a JOIN study_items i USING (study_id, item_id) JOIN items q USING (item_id)
    JOIN variants v USING (variant_id)
JOIN completions c USING (call_id)
JOIN completions reply ON reply.call_id = a.reply_id
LEFT JOIN reading b ON b.call_id = a.call_id AND b.extractor = $backwards AND b.place = 1
WHERE a.extractor = $judge AND a.place = 1 AND {OPEN} ORDER BY a.call_id
"""


def judged_texts(store: Store, study_id: str) -> list[dict]:
    """Return one row per text that the study's judge read. It has the text with its question and
    options as shown, the judge's answer (`judged`, None if unreadable), the answer with options in
    reverse order (`judged_backwards`, and whether it was asked), and the judge's prompt."""
    return store.rows_of(_TEXTS, study_id=study_id, judge=JUDGE, backwards=BACKWARDS)


# A comparison takes two calls, in both orders. They follow the text's own call, at position 0.
_BOTH_ORDERS = f"""
WITH pair AS (
    SELECT DISTINCT a.call_id AS first_id, b.call_id AS second_id
    FROM readout_sources a JOIN readout_sources b
        USING (study_id, model, item_id, axis, variant_id, sample, extractor)
    JOIN study_items i USING (study_id, item_id)
    WHERE study_id = $study_id AND extractor = $extractor AND a.position % 2 = 1
        AND b.position = a.position + 1 AND {OPEN})
SELECT count(*), count(*) FILTER (trim(first.text) <> trim(second.text)) FROM pair
JOIN completions first ON first.call_id = first_id
JOIN completions second ON second.call_id = second_id
WHERE first.status = 'ok' AND second.status = 'ok'
"""


def both_ways(store: Store, study_id: str, extractor: str) -> tuple[int, int]:
    """Return (comparisons by the judge in both orders, those in which its replies differ)."""
    return store.rows(_BOTH_ORDERS, study_id=study_id, extractor=extractor)[0]


# DISTINCT, because a prompt under several axes has the same readout under each.
_OUTPUTS = f"""
WITH reading AS (
    SELECT DISTINCT s.call_id, r.model, r.item_id, r.extractor, coalesce(r.answer, '') AS answer
    FROM readout_sources s JOIN readouts r USING (study_id, model, item_id, axis, variant_id,
        sample, extractor)
    WHERE s.study_id = $study_id AND s.position = 0 AND r.status <> 'absent' AND {IS_ANSWER}
), alike AS (
    SELECT *, count(*) OVER (PARTITION BY model, item_id, extractor, answer)
              / count(*) OVER (PARTITION BY model, item_id, extractor) AS share FROM reading
), output AS (
    SELECT call_id, any_value(model) AS model, any_value(item_id) AS item_id,
        count(DISTINCT answer) - min(share) AS doubt
    FROM alike GROUP BY call_id
)
SELECT o.call_id, o.item_id, o.model, q.dataset, o.doubt FROM output o
JOIN items q USING (item_id) JOIN completions c USING (call_id) JOIN study_items i
    ON i.item_id = o.item_id AND i.study_id = $study_id
WHERE c.status = 'ok' AND c.request->>'$.kind' = 'generate'
    AND q.kind IN ('choice', 'number', 'text') AND {OPEN} ORDER BY o.call_id
"""


def outputs(store: Store, study_id: str) -> list[dict]:
    """Return the study's written answers: call_id, item_id, model, dataset, doubt. `doubt` grows
    with the number of different readouts of the answer, and with their rarity among the answers to
    the item."""
    return store.rows_of(_OUTPUTS, study_id=study_id, **answer_params())


# Two variants per model, item and axis, and one sample of each, are drawn by the order of hashes.
# So the pair is random, the same on every machine, and rarely changes with further answers.
_PAIRS = f"""
WITH reading AS (
    SELECT DISTINCT r.model, r.item_id, r.axis, r.variant_id, v.key AS variant, r.sample, s.call_id,
        q.dataset, q.kind, w.target
    FROM readout_sources s JOIN readouts r USING (study_id, model, item_id, axis, variant_id,
        sample, extractor)
    JOIN study_variants v USING (study_id, item_id, axis, variant_id) JOIN variants w
        USING (variant_id)
    JOIN items q ON q.item_id = r.item_id JOIN study_items i ON i.study_id = r.study_id
        AND i.item_id = r.item_id
    JOIN completions c USING (call_id)
    WHERE s.study_id = $study_id AND s.position = 0 AND r.status <> 'absent' AND r.axis <> $identity
        AND {IS_ANSWER} AND {COMPARABLE}
      AND c.status = 'ok' AND c.request->>'$.kind' = 'generate'
          AND q.kind IN ('choice', 'number', 'text') AND {OPEN}
), sampled AS (
    SELECT * FROM reading QUALIFY row_number() OVER
        (PARTITION BY model, item_id, axis, variant_id
            ORDER BY md5(concat_ws('|', axis, sample, call_id)), call_id) = 1
)
SELECT *, md5(concat_ws('|', model, axis, variant_id)) AS mark FROM sampled
QUALIFY row_number() OVER (PARTITION BY model, item_id, axis ORDER BY mark, variant_id) <= 2
    AND count(*) OVER (PARTITION BY model, item_id, axis) > 1
ORDER BY model, item_id, axis, mark, variant_id
"""


def pair_sides(store: Store, study_id: str) -> list[dict]:
    """Return a random pair of written answers per model, item and axis, one row per side. Columns:
    call_id, item_id, model, axis, variant (its key), sample, dataset, kind, target."""
    return store.rows_of(
        _PAIRS, study_id=study_id, identity=IDENTITY, **answer_params(), **comparable_params()
    )


_OUTPUT = f"""
SELECT s.call_id, s.item_id, q.dataset, q.kind, q.question, q.options, v.option_order, v.labels,
    c.text
FROM readout_sources s JOIN study_items i USING (study_id, item_id) JOIN items q USING (item_id)
    JOIN variants v USING (variant_id)
JOIN completions c USING (call_id)
WHERE s.study_id = $study_id AND s.call_id = $call_id AND {OPEN} LIMIT 1
"""


def output(store: Store, study_id: str, call_id: str) -> dict:
    """Return a written answer with its question and options as shown, without the model's name.

    {} if it may not be seen.
    """
    return next(iter(store.rows_of(_OUTPUT, study_id=study_id, call_id=call_id)), {})


_READOUTS_OF_CALLS = f"""
SELECT r.model, r.item_id, r.variant_id, r.sample, r.extractor, i.role, r.status, r.answer,
    r.is_correct, s.call_id, v.target, q.kind,
       family_of.family, c.text
FROM readout_sources s JOIN readouts r USING (study_id, model, item_id, axis, variant_id, sample,
    extractor)
JOIN study_items i USING (study_id, item_id) JOIN variants v USING (variant_id) JOIN items q
    USING (item_id)
JOIN completions c USING (call_id)
{JOIN_CLUSTERS}
WHERE s.study_id = $study_id AND s.position = 0 AND s.call_id IN (SELECT unnest($calls))
    AND r.status <> 'absent' AND {IS_ANSWER} AND {OPEN}
QUALIFY row_number() OVER (PARTITION BY r.model, r.item_id, r.variant_id, r.sample, r.extractor
    ORDER BY r.axis) = 1
ORDER BY r.model, r.extractor, r.item_id, r.variant_id, r.sample
"""


def readouts_of(store: Store, study_id: str, call_ids: Sequence[str]) -> list[dict]:
    """Return each extractor's readout of these outputs, with the right answer and the text. A
    prompt under several axes appears once."""
    return store.rows_of(
        _READOUTS_OF_CALLS, study_id=study_id, calls=text_list(call_ids), **answer_params()
    )
