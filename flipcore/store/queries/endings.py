"""How the completions that answers were read from ended, by model and extractor."""

import pandas as pd

from flipcore.core.records import CONTINUATION
from flipcore.store.connection import Store
from flipcore.store.harmless import answer_params
from flipcore.store.visible import OPEN

_ENDINGS = f"""
SELECT r.model, r.extractor, count(*) AS n_answers, count(*) FILTER (r.status = 'cut') AS n_cut,
       count(*) FILTER (r.status <> 'cut' AND c.finish_reason = '') AS n_not_recorded,
       max(CAST(json_extract(c.request, '$.max_tokens') AS INTEGER)) AS max_tokens
FROM readouts r JOIN study_items i USING (study_id, item_id)
JOIN readout_sources s USING (study_id, model, item_id, axis, variant_id, sample, extractor)
JOIN variants v USING (variant_id) JOIN completions c USING (call_id)
WHERE r.study_id = $study_id AND {OPEN} AND s.position = 0 AND r.status <> 'absent' AND c.text IS NOT NULL
  AND json_extract_string(c.request, '$.kind') = 'generate' AND v.layout <> $continuation
  AND r.extractor NOT IN (SELECT unnest($values))
GROUP BY r.model, r.extractor ORDER BY r.model, r.extractor
"""


def endings(store: Store, study_id: str) -> pd.DataFrame:
    """One row a model and extractor of written answers: how many came back, how many were cut off, of how many nobody
    recorded how they ended, and the token limit (0: not known). Items set aside are left out."""
    return store.frame(_ENDINGS, study_id=study_id, continuation=CONTINUATION, **answer_params())
