"""Queries of the memorization tests beyond readouts: operands before and after, and
refusals by class.

An axis that rewrites numbers says in its variants' params which it replaced: `was` and `operands`,
in pairs. An axis that refuses an item says so in its base's params: `refusal`, the class of the
reason.
"""

import json

import pandas as pd

from flipcore.store.connection import Store
from flipcore.store.visible import OPEN

_PARAMS = f"""
SELECT params FROM study_variants v JOIN study_items i USING (study_id, item_id)
WHERE study_id = $study_id AND axis = $axis AND key <> 'base' AND {OPEN}
"""


def operands(store: Store, study_id: str, axis: str) -> list[tuple[float, float]]:
    """(original, resampled) numbers of every rewritten variant; empty where the axis names none."""
    pairs: list[tuple[float, float]] = []
    for (text,) in store.rows(_PARAMS, study_id=study_id, axis=axis):
        params = json.loads(text)
        was, became = params.get("was") or [], params.get("operands") or []
        pairs += [(float(a), float(b)) for a, b in zip(was, became, strict=False)]
    return pairs


_REFUSALS = f"""
SELECT i.role AS set, json_extract_string(v.params, '$.refusal') AS "why not", count(*) AS items
FROM study_variants v JOIN study_items i USING (study_id, item_id)
WHERE v.study_id = $study_id AND v.axis = $axis AND v.key = 'base'
    AND json_extract_string(v.params, '$.refusal') IS NOT NULL
  AND {OPEN}
GROUP BY ALL ORDER BY 3 DESC, 1, 2
"""


def refusals(store: Store, study_id: str, axis: str) -> pd.DataFrame:
    """Items that the axis could not rewrite, by role and class of reason."""
    return store.frame(_REFUSALS, study_id=study_id, axis=axis)


_TOUCHED = f"""
SELECT CAST(json_extract(params, '$.level_pct') AS DOUBLE),
    avg(CAST(json_extract(params, '$.characters_changed') AS DOUBLE))
FROM study_variants v JOIN study_items i USING (study_id, item_id)
WHERE study_id = $study_id AND axis = $axis AND {OPEN} GROUP BY ALL
"""


def characters_touched(store: Store, study_id: str, axis: str = "bit_flip") -> dict[float, float]:
    """Level in percent of bits -> mean share of characters that PEARL's flips touched."""
    return dict(store.rows(_TOUCHED, study_id=study_id, axis=axis))


_REFERENCES = f"""
SELECT DISTINCT json_extract_string(params, '$.reference') AS reference
FROM study_variants v JOIN study_items i USING (study_id, item_id)
WHERE study_id = $study_id AND axis = $axis
    AND json_extract_string(params, '$.reference') IS NOT NULL AND {OPEN} ORDER BY 1
"""


def references(store: Store, study_id: str, axis: str) -> list[str]:
    """The texts that one of PEARL's axes compares continuations with; those that a model writes
    itself are not among them."""
    return [text for (text,) in store.rows(_REFERENCES, study_id=study_id, axis=axis)]
