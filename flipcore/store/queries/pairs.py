"""Queries for stored pairs of benchmark and control items, and for data to match them by."""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from flipcore.stats.memory.matching import Pairs
from flipcore.store.connection import Store, text_list
from flipcore.store.queries.locks import lock_by_id
from flipcore.store.rows import now
from flipcore.store.visible import OPEN

UNPAIRED = ""  # in place of a control id, where the latest matching found none

_LATEST = """
SELECT benchmark_id, arg_max(control_id, created_at), arg_max(how, created_at) FROM control_pairs
WHERE $locked_at IS NULL OR created_at <= $locked_at GROUP BY benchmark_id ORDER BY benchmark_id
"""


def control_pairs(store: Store, study_id: str = "", lock: str | None = None) -> Pairs:
    """Return the latest pair of each benchmark item, 1:1. A control in several pairs stays with the
    first benchmark item by id. Under a `lock` (its id) of the study, only pairs from before the
    lock count."""
    control_of: dict[str, str] = {}
    how_of: dict[str, Mapping[str, Any]] = {}
    controls: set[str] = set()
    lock_row = lock_by_id(store, study_id, lock) if lock else None
    locked_at = lock_row["created_at"] if lock_row else None
    for benchmark, control, how in store.rows(_LATEST, locked_at=locked_at):
        if control != UNPAIRED and control not in controls:
            controls.add(control)
            control_of[benchmark], how_of[benchmark] = control, json.loads(how)
    return Pairs(control_of, how_of)


def store_pairs(
    store: Store,
    pairs: Mapping[str, str],
    how: Mapping[str, Any],
    made_by: str,
    unpaired: Sequence[str] = (),
) -> Future:
    """Add the pairs of a matching, benchmark id -> control id. They replace earlier pairs of these
    benchmark items and of the `unpaired` ones. `how` is the record of the matching. The future is
    done once they are stored."""
    rows = []
    for benchmark, control in {**pairs, **dict.fromkeys(unpaired, UNPAIRED)}.items():
        row = {"benchmark_id": benchmark, "control_id": control, "how": dict(how)}
        rows.append(row | {"made_by": made_by, "created_at": now()})
    return store.writer.add("control_pairs", rows)


_REFERENCE = f"""
WITH first AS (
    SELECT r.model, r.item_id, r.is_correct, row_number() OVER (
               PARTITION BY r.study_id, r.model, r.item_id
                   ORDER BY r.axis, r.sample, r.extractor <> 'regex', r.extractor) AS place
    FROM readouts r
    JOIN study_items i USING (study_id, item_id)
    JOIN study_variants v USING (study_id, item_id, axis, variant_id)
    WHERE r.is_correct IS NOT NULL AND v.key = 'base' AND {OPEN}
        AND r.item_id IN (SELECT unnest($item_ids))
      AND r.model IN (SELECT unnest($models)))
SELECT item_id, avg(is_correct::DOUBLE) FROM first WHERE place = 1 GROUP BY item_id
"""


def reference_accuracies(
    store: Store, item_ids: Sequence[str], models: Sequence[str]
) -> dict[str, float]:
    """Return item id -> share of these models with a right answer to its base prompt. Answers of
    all studies count, except to set-aside items. Items without an answer are left out."""
    return dict(store.rows(_REFERENCE, item_ids=text_list(item_ids), models=text_list(models)))


def models_with_answers(store: Store, study_id: str) -> list[str]:
    """Return models with right or wrong answers, in any study, to items of this study."""
    sql = """SELECT DISTINCT model FROM readouts
             WHERE is_correct IS NOT NULL AND item_id IN (SELECT item_id FROM study_items
                 WHERE study_id = $study_id)
             ORDER BY model"""
    return [model for (model,) in store.rows(sql, study_id=study_id)]
