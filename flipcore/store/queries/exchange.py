"""Queries for exports: everything behind each readout of a study, without set-aside items."""

from collections.abc import Iterator

import pandas as pd

from flipcore.store.clusters import JOIN_CLUSTERS
from flipcore.store.connection import Store
from flipcore.store.visible import OPEN

_ROWS = f"""
WITH first AS (
    SELECT model, item_id, axis, variant_id, sample, extractor,
        arg_min(call_id, position) AS call_id
    FROM readout_sources WHERE study_id = $study_id GROUP BY ALL)
SELECT r.model, r.item_id, i.role, q.dataset, q.kind, q.question, q.options, q.category,
       family_of.family, r.axis, s.key AS variant,
       r.variant_id, v.system, v.parts, v.option_order, v.labels, v.target, r.sample, r.extractor,
           r.status, r.answer, r.value,
       r.is_correct, r.span_start, r.span_end, r.reason, r.probabilities, r.label_mass,
       c.call_id, c.status AS call_status, c.text, c.reasoning, c.finish_reason, c.tokens,
           c.top_logprobs,
       c.n_tokens_in, c.n_tokens_out, c.cost_usd, c.latency_s, c.error, c.request
FROM readouts r
JOIN study_items i USING (study_id, item_id) JOIN items q USING (item_id)
JOIN study_variants s USING (study_id, item_id, axis, variant_id) JOIN variants v USING (variant_id)
LEFT JOIN first l USING (model, item_id, axis, variant_id, sample, extractor)
LEFT JOIN completions c ON c.call_id = l.call_id
{JOIN_CLUSTERS}
WHERE r.study_id = $study_id AND {OPEN}
ORDER BY r.model, i.position, r.axis, s.position, r.sample, r.extractor
"""
_COMPLETIONS = f"""
SELECT DISTINCT c.call_id, c.model, c.revision, l.item_id, l.axis, l.variant_id, c.sample, c.status,
    c.text, c.reasoning,
       c.finish_reason, c.tokens, c.top_logprobs, c.n_tokens_in, c.n_tokens_out, c.cost_usd,
           c.latency_s, c.error, c.request,
       v.system, v.parts
FROM readout_sources l JOIN study_items i USING (study_id, item_id) JOIN completions c
    USING (call_id)
JOIN variants v USING (variant_id)
WHERE l.study_id = $study_id AND {OPEN} ORDER BY c.model, l.item_id, l.axis, l.variant_id, c.sample,
    c.call_id
"""


def rows_to_export(store: Store, study_id: str) -> Iterator[dict]:
    """Yield each readout with its item, variant and the text that it was read from. For a judge's
    readout this is the judged answer. Rows come in batches, so that a large study takes little
    memory."""
    return store.stream(_ROWS, study_id=study_id)


def completions(store: Store, study_id: str) -> pd.DataFrame:
    """Return each completion with prompt, text, log-probabilities in nats, tokens, price, status.
    There is one row per item, axis and variant that the completion was read for."""
    return store.frame(_COMPLETIONS, study_id=study_id)
