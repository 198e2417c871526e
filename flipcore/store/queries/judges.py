"""What the judge's gate asks of the store: the texts that a judge read in a study, and what people read in them."""

from collections.abc import Sequence

from flipcore.store.connection import Store
from flipcore.store.visible import HIDDEN, OPEN

JUDGE, BACKWARDS = "judge", "judge_backwards"

_STUDIES = """
SELECT s.study_id, s.name FROM studies s
WHERE EXISTS (SELECT 1 FROM readouts r WHERE r.study_id = s.study_id AND r.extractor = $judge AND r.status <> 'absent')
ORDER BY s.created_at DESC, s.study_id
"""


def studies_with_judge(store: Store) -> dict[str, str]:
    """Studies in which a judge read something: id -> name, newest first."""
    return dict(store.rows(_STUDIES, judge=JUDGE))


# A text that stands on several axes was judged once: one row a text, whatever the axis.
_TEXTS = f"""
WITH text AS (SELECT study_id, model, item_id, axis, variant_id, sample, extractor, arg_min(call_id, position) AS call_id,
                     arg_max(call_id, position) AS reply_id FROM readout_sources
              WHERE study_id = $study_id AND extractor IN ($judge, $backwards) GROUP BY ALL),
     reading AS (SELECT t.call_id, t.reply_id, r.*,
                        row_number() OVER (PARTITION BY t.call_id, r.extractor ORDER BY r.axis) AS place
                 FROM readouts r JOIN text t USING (study_id, model, item_id, axis, variant_id, sample, extractor)
                 WHERE r.status <> 'absent' AND t.call_id <> t.reply_id)
SELECT a.call_id, a.item_id, a.model, q.dataset, q.kind, q.question, q.options, v.option_order, v.labels, c.text,
       a.answer AS judged, b.answer AS judged_backwards, b.call_id IS NOT NULL AS asked_backwards,
       reply.request->>'$.prompt' AS judge_prompt
FROM reading a JOIN study_items i USING (study_id, item_id) JOIN items q USING (item_id) JOIN variants v USING (variant_id)
JOIN completions c USING (call_id)
JOIN completions reply ON reply.call_id = a.reply_id
LEFT JOIN reading b ON b.call_id = a.call_id AND b.extractor = $backwards AND b.place = 1
WHERE a.extractor = $judge AND a.place = 1 AND {OPEN} ORDER BY a.call_id
"""


def judged_texts(store: Store, study_id: str) -> list[dict]:
    """One row for each text that the study's judge read: the text with its question and options as they were shown, what the
    judge read in it (`judged`, None where unreadable), the same with the options backwards, and the judge's prompt."""
    return store.rows_of(_TEXTS, study_id=study_id, judge=JUDGE, backwards=BACKWARDS)


_LABELS = f"""
SELECT l.label_id, l.item_id, l.call_id, l.reviewer, l.answer, l.text_hash, l.rule_version FROM judge_labels l
WHERE l.undoes IS NULL AND NOT EXISTS (SELECT 1 FROM judge_labels u WHERE u.undoes = l.label_id)
  AND l.item_id NOT IN ({HIDDEN})
QUALIFY row_number() OVER (PARTITION BY l.call_id, l.reviewer ORDER BY l.created_at DESC, l.label_id) = 1
ORDER BY l.created_at, l.label_id
"""


def labels(store: Store) -> list[dict]:
    """The labels that stand, oldest first."""
    return store.rows_of(_LABELS)


def n_label_rows(store: Store) -> int:
    """All rows ever added: what a cached gate depends on besides the study."""
    return store.rows("SELECT count(*) FROM judge_labels")[0][0]


def keep_labels(store: Store, rows: Sequence[dict]) -> None:
    """Adds labels and waits until they are safe."""
    store.writer.add("judge_labels", list(rows)).result(30)
