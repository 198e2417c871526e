"""Queries for memorization tests: replaced numbers, refused items, changed characters.

An axis that rewrites numbers stores the old and new ones in its variants' params, `was` and
`operands`, in the same order. An axis that cannot rewrite an item stores the class of the reason in
its base's params, `refusal`.
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
    """Return (original, new) numbers of all rewritten variants; empty where the axis has none."""
    pairs: list[tuple[float, float]] = []
    for (text,) in store.rows(_PARAMS, study_id=study_id, axis=axis):
        params = json.loads(text)
        originals, replacements = params.get("was") or [], params.get("operands") or []
        for original, replacement in zip(originals, replacements, strict=False):
            pairs.append((float(original), float(replacement)))
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
    """Count items that the axis could not rewrite, by role and class of reason."""
    return store.frame(_REFUSALS, study_id=study_id, axis=axis)


_CHARACTERS_CHANGED = f"""
SELECT CAST(json_extract(params, '$.level_pct') AS DOUBLE),
    avg(CAST(json_extract(params, '$.characters_changed') AS DOUBLE))
FROM study_variants v JOIN study_items i USING (study_id, item_id)
WHERE study_id = $study_id AND axis = $axis AND {OPEN} GROUP BY ALL
"""


def characters_touched(store: Store, study_id: str, axis: str = "bit_flip") -> dict[float, float]:
    """Return level in percent of bits -> mean share of characters that PEARL's flips changed."""
    return dict(store.rows(_CHARACTERS_CHANGED, study_id=study_id, axis=axis))


_REFERENCES = f"""
SELECT DISTINCT json_extract_string(params, '$.reference') AS reference
FROM study_variants v JOIN study_items i USING (study_id, item_id)
WHERE study_id = $study_id AND axis = $axis
    AND json_extract_string(params, '$.reference') IS NOT NULL AND {OPEN} ORDER BY 1
"""


def references(store: Store, study_id: str, axis: str) -> list[str]:
    """Return the texts with which one of PEARL's axes compares continuations. Texts that a model
    wrote itself are not included."""
    return [text for (text,) in store.rows(_REFERENCES, study_id=study_id, axis=axis)]
