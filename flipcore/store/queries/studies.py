"""Queries on studies for all pages. They return rows; statistics and charts are elsewhere."""

import json
from collections.abc import Sequence

import pandas as pd

from flipcore.access.acting import Permission, require
from flipcore.core.errors import BadInput
from flipcore.core.study import Study
from flipcore.store import kept_results, packing
from flipcore.store.archives import archives, refuse_archived
from flipcore.store.clusters import JOIN_CLUSTERS
from flipcore.store.connection import ALL_STUDIES, Store
from flipcore.store.pack_tables import forget
from flipcore.store.queries import packed_readouts, scores
from flipcore.store.queries.locks import sight
from flipcore.store.queries.paraphrase_states import PAIR_STATES, PAIR_STATES_WITHOUT
from flipcore.store.queries.readout_rows import as_texts, readout_rows
from flipcore.store.schema import tables
from flipcore.store.visible import HIDDEN, OPENED, SIGHT_OF_MODELS

_STUDIES = """
WITH members AS (SELECT study_id, count(*) AS n_items FROM study_items GROUP BY study_id),
     calls AS (
        SELECT study_id, count(*) FILTER (status = 'ok') AS n_ok,
            count(*) FILTER (status = 'failed') AS n_failed,
               count(*) FILTER (status = 'ok' AND c.created_at < s.created_at) AS n_reused,
               sum(if(status = 'ok' AND c.created_at < s.created_at, 0, cost_usd)) AS cost_usd,
                   bool_or(simulated) AS simulated,
               list_sort(list(DISTINCT other_model) FILTER (other_model <> '')) AS other_models
        FROM study_calls JOIN completions c USING (call_id) JOIN studies s USING (study_id)
            GROUP BY study_id)
SELECT s.study_id, s.name, s.state, s.message, s.toml, s.plugins, s.code_version, s.created_at,
    s.started_at, s.ended_at, s.n_calls,
       coalesce(m.n_items, 0) AS n_items, coalesce(c.n_ok, 0) + coalesce(c.n_failed,
           0) AS n_calls_done,
       coalesce(c.n_failed, 0) AS n_failed, coalesce(c.n_reused, 0) AS n_reused, c.cost_usd,
           coalesce(c.simulated, false) AS simulated,
       coalesce(c.other_models, []) AS other_models
FROM studies s LEFT JOIN members m USING (study_id) LEFT JOIN calls c USING (study_id)
ORDER BY s.created_at DESC, s.study_id
"""


def studies(store: Store) -> pd.DataFrame:
    """Return one row per study, newest first.

    - `models`: names from its declaration; none where this version cannot read it
    - `problem`: why this version cannot read the declaration, "" if it can
    - `plugins`: text on plug-ins of other packages
    - `n_reused`: calls that were answered before the study was declared, which cost it nothing
    - `other_models`: names in replies that are not the model asked
    - `cost_usd`: None if it is missing
    """
    frame = store.frame(_STUDIES)
    declarations = [_models_and_problem(toml) for toml in frame.pop("toml")]
    frame["models"] = pd.Series([models for models, _ in declarations], dtype=object)
    # NULL is NaN in a column of texts, and NaN is true.
    plugins = frame["plugins"].fillna("[]")
    frame["plugins"] = [plugins_text(json.loads(rows)) for rows in plugins]
    frame["problem"] = pd.Series([problem for _, problem in declarations], dtype=object)
    # Pages expect None for missing values, where pandas has NaN or NaT.
    for column in ("n_calls", "cost_usd", "started_at", "ended_at"):
        frame[column] = frame[column].astype(object).where(frame[column].notna(), None)
    return frame


def plugins_text(rows: list[dict[str, str]]) -> str:
    """Return a text such as "axis shout of flip-shout 1.0"; "" without other packages."""
    return ", ".join(
        f"{row['kind']} {row['name']} of {row['package']} {row['version']}".strip() for row in rows
    )


def _models_and_problem(toml: str) -> tuple[list[str], str]:
    """Return (names of a declaration's models, why it cannot be read or "")."""
    try:
        return [use.name for use in Study.from_toml(toml).models], ""
    except BadInput as error:
        return [], f"This study cannot be read here; a newer Flipscope may have written it. {error}"


def toml(store: Store, study_id: str) -> str:
    """Return the stored text of the declaration, readable or not; "" for an unknown study."""
    sql = "SELECT toml FROM studies WHERE study_id = $study_id"
    return store.value(sql, study_id=study_id) or ""


def study(store: Store, study_id: str) -> Study | None:
    """Return a stored study, or None. Raises BadInput if this version cannot read it."""
    sql = "SELECT toml FROM studies WHERE study_id = $study_id"
    declaration = store.value(sql, study_id=study_id)
    return None if declaration is None else Study.from_toml(declaration)


def declared(store: Store, study_id: str) -> Study:
    """Return a stored study. Raises BadInput if it is missing, for example deleted."""
    store.check_readable(study_id)
    declared_study = study(store, study_id)
    if declared_study is None:
        raise BadInput(
            f"There is no study {study_id!r} here; it may have been deleted. Go back to Studies."
        )
    return declared_study


def axes_and_extractors(store: Store, study_id: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (axes, extractors), sorted, that the study declares or has readouts of."""
    declared_study = study(store, study_id)
    axes = {part.name for part in declared_study.axes} if declared_study else set()
    extractors = {part.name for part in declared_study.extractors} if declared_study else set()
    sql = "SELECT DISTINCT axis, extractor FROM readouts WHERE study_id = $study_id"
    for axis, extractor in store.rows(sql, study_id=study_id):
        axes.add(axis)
        extractors.add(extractor)
    return tuple(sorted(axes)), tuple(sorted(extractors))


def has_outputs(store: Store, study_id: str) -> bool:
    """Return whether at least one call of a study has a stored text or log-probabilities."""
    rows = store.rows(
        "SELECT 1 FROM study_calls JOIN completions c USING (call_id) WHERE study_id = $study_id "
        "AND (c.text <> '' OR c.tokens IS NOT NULL OR c.top_logprobs IS NOT NULL) LIMIT 1",
        study_id=study_id,
    )
    return bool(rows)


_ITEMS = f"""
SELECT q.*, role, position, confirmatory, family_of.family
FROM study_items i JOIN items q USING (item_id) {JOIN_CLUSTERS}
WHERE study_id = $study_id AND {OPENED}
    ORDER BY position
"""


def study_items(store: Store, study_id: str) -> pd.DataFrame:
    """Return the study's items in the order of asking; set-aside ones only once it has a lock."""
    return store.frame(_ITEMS, study_id=study_id)


_ITEM_IDS = f"SELECT i.item_id FROM study_items i WHERE i.study_id = $study_id AND {OPENED}"
_CALL_IDS = (
    "SELECT r.call_id FROM readout_sources r WHERE r.study_id = $study_id "
    f"AND r.item_id IN ({_ITEM_IDS})"
)
_NOTHING_HIDDEN = (
    f"NOT EXISTS (SELECT 1 FROM study_items i WHERE i.study_id = $study_id AND NOT {OPENED})"
)


def rows_of(store: Store, study_id: str, table: str) -> pd.DataFrame:
    """Return a study's rows of a table, with all columns. Rows on set-aside items are left out
    until the study has a lock."""
    names = tables()[table].names
    if "item_id" in names:
        visible = f"item_id IN ({_ITEM_IDS})"
    elif "call_id" in names:
        visible = f"call_id IN ({_CALL_IDS})"
    else:
        visible = "true"
    sql = (
        f"SELECT {', '.join(names)} FROM {table} WHERE study_id = $study_id AND ({visible} "
        f"OR {_NOTHING_HIDDEN}) ORDER BY ALL"
    )
    return store.frame(sql, study_id=study_id)


_STATES_SHOWN = f"""
WITH {PAIR_STATES_WITHOUT}, hidden AS ({HIDDEN})
SELECT * REPLACE (if(set_aside, '', original) AS original,
    if(set_aside, '', paraphrase) AS paraphrase)
FROM (SELECT *, item_id IN (SELECT item_id FROM hidden) AS set_aside FROM standing) ORDER BY pair_id
"""


def paraphrase_states(store: Store, without: str | None = None) -> pd.DataFrame:
    """Return the present state of each stored paraphrase, derived from all verdicts.

    - `state`: accepted, rejected or unreviewed
    - `n_reviewers`, `n_kept`: people who judged it, and who found that it passes all checks
    - `n_models`, `n_models_kept`: the same for models
    - `settled_by`, `settled_why`: who settled a disagreement and why, None without
    - `in_sample`: whether it is part of the reviewed sample of its source
    - `in_favour`: whether it counts as accepted in this sample
    - `set_aside`: whether its item is set aside; then its texts are empty

    `without` is the name of a person whose verdicts are left out.
    """
    frame = store.frame(_STATES_SHOWN, without=without)
    for column in ("settled_by", "settled_why"):
        frame[column] = frame[column].astype(object).where(frame[column].notna(), None)
    return frame


def readouts(
    store: Store,
    study_id: str,
    *,
    lock: str | None = None,
    paraphrases: str = "standing",
    everything: bool = False,
    grades_of: Sequence[str] = (),
) -> pd.DataFrame:
    """Return the study's readouts of which flips are made: answers to harmless variants.

    - `lock` is the id of a lock: then only its set-aside items are returned, with its models and
      verdicts. Without, the open items are returned. BadInput for a lock that is not valid.
    - `paraphrases` is "accepted", "standing" (not rejected) or "all", by the present verdicts.
      Other reviewed changes, such as translations or stored typos, count only if accepted.
    - `everything` adds losses, similarities, verdicts without an answer, variants with another
      right answer, and variants of harmful changes.
    - `grades_of` are scorers whose shares and grades are added, although no flips are made of them.

    The frame has `readout_rows.COLUMNS`. Texts are Categoricals with sorted categories, or plain
    text with `everything`.
    """
    scope = sight(store, study_id, lock)
    if everything:
        return as_texts(readout_rows(store, study_id, scope, paraphrases, everything=True))
    if grades_of:
        return readout_rows(
            store, study_id, scope, paraphrases, everything=False, grades_of=grades_of
        )
    frame = packed_readouts.readouts(store, study_id, scope, paraphrases)
    if frame is None:
        packing.pack_later(store, study_id)
        frame = readout_rows(store, study_id, scope, paraphrases, everything=False)
    return without_graders(store, study_id, frame)


def without_graders(store: Store, study_id: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the readouts of which flips are made without those of scorers that give grades.

    A grade of 0 or 1 looks like wrong or right, and the items that have one are no fair part of
    all.
    """
    declared_study = study(store, study_id)
    graders = scores.graders(store, study_id, declared_study.scorers) if declared_study else ()
    if not graders:
        return frame
    kept = frame[~frame["extractor"].isin(graders)].reset_index(drop=True)
    return kept.assign(extractor=kept["extractor"].cat.remove_unused_categories())


_REVIEWED = f"""
WITH {PAIR_STATES}, sources AS (SELECT DISTINCT p.dataset, p.generator, p.change FROM standing p
                              JOIN study_variants v ON v.material_id = p.pair_id
                              WHERE v.study_id = $study_id AND $axis IN ('', v.axis))
SELECT dataset, generator, count(*) FILTER (in_sample) AS n_reviewed,
       count(*) FILTER (in_sample AND in_favour) AS n_accepted,
       count(*) FILTER (state <> 'unreviewed' AND NOT in_sample) AS n_chosen, count(*) AS n_pairs
FROM standing JOIN sources USING (dataset, generator, change) GROUP BY dataset, generator
    ORDER BY ALL
"""


def reviewed(
    store: Store, study_id: str, axis: str = ""
) -> list[tuple[str, str, int, int, int, int]]:
    """Return counts of pairs for each source of paraphrases that the study asked.

    Each row is (dataset, generator, reviewed pairs, accepted ones, reviewed pairs that people chose
    and that do not count, all pairs). All stored pairs of a source count, asked or not. `axis`
    limits the sources to those asked on one axis.
    """
    return store.rows(_REVIEWED, study_id=study_id, axis=axis)


_CONSTRUCTED = """
SELECT count(*) > 0 AND count(material_id) = 0 FROM study_variants
WHERE study_id = $study_id AND axis = $axis AND key <> 'base'
"""


def rewords_by_construction(store: Store, study_id: str, axis: str = "paraphrase") -> bool:
    """Return whether all paraphrases on this axis came with their items, so none needs a review."""
    return bool(store.value(_CONSTRUCTED, study_id=study_id, axis=axis))


def asks_stored_wordings(store: Store, study_id: str, axis: str) -> bool:
    """Return whether at least one variant on this axis was made from a stored wording."""
    sql = (
        "SELECT count(material_id) > 0 FROM study_variants WHERE study_id = $study_id "
        "AND axis = $axis"
    )
    return bool(store.value(sql, study_id=study_id, axis=axis))


# The base prompt is stored under every axis, so its readout on one of them is enough.
_BASE_TOKENS = f"""
SELECT r.item_id, r.probabilities, len(q.options) AS n_options, r.is_correct,
       len((v.parts->>'$')::VARCHAR) AS n_prompt_chars
FROM readouts r JOIN study_items i USING (study_id, item_id) JOIN items q USING (item_id)
JOIN variants v USING (variant_id) JOIN study_variants s USING (study_id, item_id, axis, variant_id)
WHERE r.study_id = $study_id AND r.model = $model AND r.extractor = 'first_token' AND s.key = 'base'
    AND r.sample = 0
  AND {SIGHT_OF_MODELS}
QUALIFY row_number() OVER (PARTITION BY r.item_id ORDER BY r.axis) = 1
"""


def base_first_tokens(
    store: Store, study_id: str, model: str, *, lock: str | None = None
) -> pd.DataFrame:
    """Return facts on each item's base prompt that are known before varying it, one row per item.
    `probabilities` are the first token's shares on the options; further columns are `n_options`,
    `is_correct` and `n_prompt_chars`."""
    scope = sight(store, study_id, lock)
    frame = store.frame(_BASE_TOKENS, study_id=study_id, model=model, **scope.params_of_models)
    frame["probabilities"] = [
        [share for _, share in json.loads(text)] for text in frame["probabilities"]
    ]
    return frame


def stored_ids(store: Store, call_ids: list[str]) -> set[str]:
    """Return the ids of those calls that are answered."""
    sql = (
        "SELECT call_id FROM completions WHERE status = 'ok' "
        "AND call_id IN (SELECT unnest($call_ids))"
    )
    return {row[0] for row in store.rows(sql, call_ids=call_ids)}


def n_answers_of(store: Store, models: list[str]) -> int:
    """Count the stored answers of these models, over all studies."""
    sql = (
        "SELECT count(*) FROM completions WHERE status = 'ok' AND model IN (SELECT unnest($models))"
    )
    return store.value(sql, models=models)


def n_stored_of(store: Store, study_id: str, model: str) -> int:
    """Count the study's calls that this model answered."""
    sql = """SELECT count(*) FROM study_calls JOIN completions USING (call_id)
             WHERE study_id = $study_id AND model = $model AND status = 'ok'"""
    return store.value(sql, study_id=study_id, model=model)


def doses(store: Store, study_id: str) -> dict[str, int]:
    """Return item id -> how often it was in a model's training data, for items with `dose`."""
    return dict(
        store.rows(
            "SELECT item_id, CAST(json_extract(meta, '$.dose') AS INTEGER) FROM study_items i "
            "JOIN items USING (item_id) WHERE study_id = $study_id "
            f"AND json_extract(meta, '$.dose') IS NOT NULL AND {OPENED}",
            study_id=study_id,
        )
    )


def fresh_items(store: Store, study_id: str) -> set[str]:
    """Return ids of items with `split = "fresh"`, which are kept out of every calibration."""
    return {
        item_id
        for (item_id,) in store.rows(
            "SELECT item_id FROM study_items i JOIN items USING (item_id) "
            "WHERE study_id = $study_id AND json_extract_string(meta, '$.split') = 'fresh' "
            f"AND {OPENED}",
            study_id=study_id,
        )
    }


_UNREVIEWED = f"""
WITH {PAIR_STATES}
SELECT count(*) FROM study_variants v JOIN standing p ON p.pair_id = v.material_id
WHERE v.study_id = $study_id AND p.state = 'unreviewed'
"""


def n_unreviewed(store: Store, study_id: str) -> int:
    """Count the study's paraphrases that no reviewer has judged."""
    return store.value(_UNREVIEWED, study_id=study_id)


def delete_study(store: Store, study_id: str) -> None:
    """Delete a study's memberships and readouts. Its completions stay, and further studies reuse
    them. Raises BadInput while the study runs or is archived."""
    require(Permission.FILES)

    def delete(connection) -> None:
        sql = "SELECT state FROM studies WHERE study_id = $study_id"
        refuse_archived(archives(connection), study_id)
        if connection.execute(sql, {"study_id": study_id}).fetchall() == [("running",)]:
            raise BadInput(
                "The study is running, so it was not deleted. Cancel it first, then delete it."
            )
        for table in tables().values():
            # Purchases, locks, decisions and others have keys of their own, and stay.
            if "study_id" in table.key:
                connection.execute(
                    f"DELETE FROM {table.name} WHERE study_id = $study_id", {"study_id": study_id}
                )
        forget(connection, study_id)

    store.writer.transact(
        delete, Permission.FILES, "deleted a study", study_id, changes={study_id}
    ).result(60)
    kept_results.remove(store, study_id)
    store.touch([ALL_STUDIES])  # items that it set aside may be visible in other studies now
