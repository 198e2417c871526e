"""Queries for scores in a recorded study, given by its scorers at the items' own prompts."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from flipcore.core.wordings import COMBINED
from flipcore.store.clusters import JOIN_CLUSTERS
from flipcore.store.connection import Store, text_list
from flipcore.store.visible import OPEN, OPENED

_SCORES = f"""
SELECT r.model, r.item_id, i.role, r.sample, r.extractor, CASE WHEN r.is_correct IS NULL
    THEN r.value
       WHEN r.is_correct THEN 1.0 ELSE 0.0 END AS score, family_of.family,
           has_versions
FROM readouts r JOIN study_items i USING (study_id, item_id) JOIN items q USING (item_id)
JOIN study_variants v USING (study_id, item_id, axis, variant_id)
JOIN (SELECT item_id, count(DISTINCT key) > 1 AS has_versions FROM study_variants
    WHERE study_id = $study_id GROUP BY item_id)
     USING (item_id)
{JOIN_CLUSTERS}
WHERE r.study_id = $study_id AND v.key = 'base' AND r.extractor IN (SELECT unnest($scorers))
    AND {OPEN}
QUALIFY row_number() OVER (PARTITION BY r.model, r.item_id, r.sample, r.extractor
    ORDER BY r.axis) = 1
ORDER BY r.model, i.position, r.item_id, r.sample
"""


def scores(store: Store, study_id: str, scorers: list[str]) -> pd.DataFrame:
    """Return one row per sample and scorer of open items, in the order of the items. `score` is 1,
    0, a share or a grade, or NaN without one. `has_versions` is whether the item was asked with
    other prompts, too."""
    return store.frame(_SCORES, study_id=study_id, scorers=text_list(scorers))


_NEVER_READ = f"""SELECT i.item_id, i.role, family_of.family
FROM study_items i JOIN items q USING (item_id) {JOIN_CLUSTERS}
WHERE i.study_id = $study_id AND {OPEN}
AND NOT EXISTS (SELECT 1 FROM readouts r WHERE r.study_id = $study_id AND r.item_id = i.item_id)
    ORDER BY i.position"""


def with_failed_calls(frame: pd.DataFrame, store: Store, study_id: str) -> pd.DataFrame:
    """Add to `scores` a row with no score for each item that has no readout: its call failed. This
    is done only with a single model. With several, an item may never have been asked of one."""
    models = frame["model"].unique()
    if len(models) != 1:
        return frame
    failed = store.frame(_NEVER_READ, study_id=study_id)
    if failed.empty:
        return frame
    rows = failed.assign(
        model=models[0], sample=0, extractor="", score=float("nan"), has_versions=False
    )
    return pd.concat([frame, rows[list(frame.columns)]], ignore_index=True)


_SETTINGS = f"""SELECT v.item_id, v.key, v.params->'$.settings'
FROM study_variants v JOIN study_items i USING (study_id, item_id)
WHERE v.study_id = $study_id AND v.axis = '{COMBINED}' AND v.key <> 'base' AND {OPENED}
    ORDER BY v.item_id, v.position"""


def settings(store: Store, study_id: str) -> dict[tuple[str, str], dict[str, str]]:
    """Return the settings of combined variants: (item, variant's key) -> axis -> its variant. An
    axis that a variant does not change has "base"."""
    rows = store.rows(_SETTINGS, study_id=study_id)
    return {(item, variant_key): json.loads(text) for item, variant_key, text in rows if text}


_GRADERS = """SELECT DISTINCT extractor FROM readouts
WHERE study_id = $study_id AND extractor IN (SELECT unnest($scorers))
AND is_correct IS NULL AND value IS NOT NULL ORDER BY extractor"""


def graders(store: Store, study_id: str, scorers: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the names of scorers that gave at least one share or grade."""
    names = [str(scorer["scorer"]) for scorer in scorers]
    rows = store.rows(_GRADERS, study_id=study_id, scorers=names) if names else ()
    return tuple(name for (name,) in rows)
