"""Queries for the Holdout and Survey pages: accuracies by role, surveys, retro set versions."""

import json
from collections.abc import Sequence

import pandas as pd

from flipcore.access.acting import Permission, opened_to, signature
from flipcore.core.records import CONTINUATION, Item, digest
from flipcore.store.connection import Store
from flipcore.store.queries import review
from flipcore.store.queries.locks import sight
from flipcore.store.rows import item_of, item_row, now
from flipcore.store.visible import HIDDEN, OPEN, SIGHT, SIGHT_OF_MODELS

_STUDIES = """
SELECT s.study_id, s.name, count(*) FILTER (role = 'target') AS n_target,
    count(*) FILTER (role = 'retro') AS n_retro
FROM studies s JOIN study_items USING (study_id)
GROUP BY s.study_id, s.name, s.created_at HAVING n_target > 0 AND n_retro > 0
    ORDER BY s.created_at DESC, s.study_id
"""


def studies_with_both(store: Store) -> list[dict]:
    """Return studies with items in both roles, target and retro, newest first. Columns: study_id,
    name, n_target, n_retro."""
    return store.rows_of(_STUDIES)


_STUDIES_COVERING = f"""
WITH wanted AS (SELECT unnest($target) AS item_id, 'target' AS role UNION ALL
    SELECT unnest($retro), 'retro'),
     covering AS (SELECT i.study_id, count(*) AS n FROM study_items i
               JOIN wanted USING (item_id, role) WHERE {OPEN} GROUP BY i.study_id)
SELECT study_id FROM studies JOIN covering USING (study_id) WHERE n = (SELECT count(*) FROM wanted)
ORDER BY created_at DESC, study_id
"""


def studies_of(store: Store, target_ids: list[str], retro_ids: list[str]) -> tuple[str, ...]:
    """Return ids of studies that ask all these items in these roles, newest first."""
    return tuple(
        study_id
        for (study_id,) in store.rows(_STUDIES_COVERING, target=target_ids, retro=retro_ids)
    )


_ROLE_ITEMS = f"""
SELECT q.* REPLACE (CAST(q.published AS VARCHAR) AS published)
FROM study_items i JOIN items q USING (item_id)
WHERE i.study_id = $study_id AND i.role = $role AND {SIGHT} ORDER BY q.item_id
"""


def role_items(store: Store, study_id: str, role: str, *, lock: str | None = None) -> list[Item]:
    """Return the study's open items in one role, or under a `lock` (its id) the set-aside ones."""
    scope = sight(store, study_id, lock)
    return [
        item_of(row)
        for row in store.rows_of(_ROLE_ITEMS, study_id=study_id, role=role, **scope.params)
    ]


def keep_aside(
    store: Store, record_id: str, target_ids: Sequence[str], retro_ids: Sequence[str], share: float
) -> set[str]:
    """Set aside a share of two sets that belong to no study, and return the set-aside ids. From
    then on, only a lock under `record_id` opens them, on all pages. A hash of its id decides for
    each entry. Sets with set-aside entries keep these, and no others are added."""
    ids_by_role = {"target": target_ids, "retro": retro_ids}
    rows = []
    for role, ids in ids_by_role.items():
        for position, item in enumerate(ids):
            # The hash's first eight digits give a number from 0 to 1, always the same per entry.
            if int(digest("aside", item)[:8], 16) / 16**8 >= share:
                continue
            row = {"study_id": record_id, "item_id": item, "role": role, "position": position}
            rows.append(row | {"confirmatory": True, "since": now()})
    if rows and not entries_aside(store, record_id):
        store.writer.add("study_items", rows).result(30)
    return entries_aside(store, record_id)


def entries_aside(store: Store, record_id: str) -> set[str]:
    """Return ids of the entries that these sets set aside, even if a lock has opened them."""
    sql = "SELECT item_id FROM study_items WHERE study_id = $record_id AND confirmatory"
    return {item_id for (item_id,) in store.rows(sql, record_id=record_id)}


def items(store: Store, item_ids: list[str]) -> list[Item]:
    """Return the stored items of these ids, in this order, without unknown and set-aside ones.
    People who may only answer a survey get only the items of that survey."""
    with opened_to(Permission.ANSWER) as person:
        designs = [row["design"] for row in surveys(store)] if person.survey else []
        survey_ids: set[str] = set()
        for design in designs:
            survey_ids |= {*design["target_ids"], *design["retro_ids"]}
        readable_ids = [
            item_id for item_id in item_ids if not person.survey or item_id in survey_ids
        ]
        by_id = review.items(store, readable_ids)
    return [by_id[item_id] for item_id in item_ids if item_id in by_id]


def hidden_items(store: Store, item_ids: list[str]) -> set[str]:
    """Return those ids that are hidden (see `visible.HIDDEN`): no page may show their text."""
    sql = f"SELECT item_id FROM ({HIDDEN}) WHERE item_id IN (SELECT unnest($ids))"
    return {item_id for (item_id,) in store.rows(sql, ids=item_ids)}


# One answer per item and condition: the first sample. Conditions are the base prompt, and the same
# prompt in each other layout or with each number of examples. Changes of options do not count.
_ACCURACY = f"""
WITH first AS (
    SELECT r.model, r.extractor, if(r.axis = 'few_shot'
        AND v.key <> 'base', v.key, w.layout) AS asked_as, r.item_id, i.role,
           q.source_id, r.is_correct, r.status = 'cut' AS is_cut, r.probabilities, q.target,
               len(q.options) AS n_options,
           row_number() OVER (PARTITION BY r.model, r.extractor, asked_as, r.item_id
                              ORDER BY v.key <> 'base', r.axis, v.position, r.sample) AS place
    FROM readouts r
    JOIN study_items i USING (study_id, item_id) JOIN items q USING (item_id)
    JOIN study_variants v USING (study_id, item_id, axis, variant_id) JOIN variants w
        USING (variant_id)
    WHERE r.study_id = $study_id AND i.role IN ('target', 'retro') AND {SIGHT_OF_MODELS}
      AND (v.key = 'base' OR r.axis IN ('prompt_format', 'few_shot')) AND v.material_id IS NULL
          AND w.layout <> $continuation
      AND r.is_correct IS NOT NULL)
SELECT * EXCLUDE (place, asked_as), asked_as AS layout FROM first WHERE place = 1
ORDER BY model, extractor, layout, item_id
"""


def accuracies(store: Store, study_id: str, *, lock: str | None = None) -> pd.DataFrame:
    """Return one row per model, extractor, layout and item in the role target or retro. Columns:
    model, extractor, layout, item_id, role, source_id, is_correct and is_cut (bool), probabilities
    ([(option, share), …]), target, n_options. `lock` is as for `role_items`."""
    scope = sight(store, study_id, lock)
    frame = store.frame(
        _ACCURACY, study_id=study_id, continuation=CONTINUATION, **scope.params_of_models
    )
    frame["probabilities"] = [json.loads(text) for text in frame["probabilities"]]
    frame["is_correct"] = frame["is_correct"].astype(bool)
    frame["source_id"] = frame["source_id"].astype(object).where(frame["source_id"].notna(), None)
    return frame


def keep_survey(store: Store, row: dict, survey_items: list[Item]) -> None:
    """Store a survey, and the items that it shows."""
    store.writer.add("items", [item_row(item) for item in survey_items])
    store.writer.add("surveys", [row | {"created_at": now()}]).result(30)


def surveys(store: Store, sets_id: str | None = None) -> list[dict]:
    """Return surveys, newest first, of one pair of sets or all (None). People who may only answer a
    survey get only that one."""
    sql = (
        "SELECT survey_id, name, sets_id, design FROM surveys WHERE ($sets_id IS NULL "
        "OR sets_id = $sets_id) AND $own IN ('', survey_id) ORDER BY created_at DESC, survey_id"
    )
    with opened_to(Permission.ANSWER) as person:
        rows = store.rows_of(sql, sets_id=sets_id, own=person.survey)
    return [row | {"design": json.loads(row["design"])} for row in rows]


def keep_version(store: Store, row: dict, version_items: list[Item]) -> str:
    """Store a version of a retro set with its items, and return its id."""
    stamped = row | {"author": signature(row["author"]), "created_at": now()}
    stamped["version_id"] = digest(*map(str, stamped.values()))
    store.writer.add("items", [item_row(item) for item in version_items])
    store.writer.add("holdout_versions", [stamped]).result(30)
    return stamped["version_id"]


_VERSIONS = """
SELECT version_id, name, note, parent_id, sets_id, target_ids, retro_ids, results, settings, author,
       strftime(created_at AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M') AS created
FROM holdout_versions ORDER BY holdout_versions.created_at, version_id
"""


def versions(store: Store) -> list[dict]:
    """Return all stored versions of retro sets, oldest first."""
    return [
        row | {"results": json.loads(row["results"]), "settings": json.loads(row["settings"])}
        for row in store.rows_of(_VERSIONS)
    ]
