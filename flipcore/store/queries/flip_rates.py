"""T, G and A of every item, counted inside DuckDB: rows go out an item, axis and extractor, never a readout.

What `stats.flips.decomposition.item_rates` does with an array of codes is done here with counts. Of variants j < k with shares
p_j(a) of the answer a among their samples, the share of sample pairs that agree is sum_a p_j(a) p_k(a), so that over all pairs of
variants it is sum_a (S_a^2 - Q_a) / 2 with S_a = sum_j p_j(a) and Q_a = sum_j p_j(a)^2: no pair is ever formed. With one sample a
variant all of these are whole numbers, and the rates are equal to the arrays' to the last digit.

The rules are those of the arrays under the null policy own_class: an unreadable answer is a class of its own, a missing or cut
one is in no pair, a pair counts where both extractors have it, on `identity` every sample is a variant, and an item without any
readable answer is undefined.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from flipcore.core.records import CONTINUATION, IDENTITY
from flipcore.extractors import VALUES
from flipcore.protocols import rotation
from flipcore.store.connection import Store
from flipcore.store.harmless import HARMLESS, harmless_params
from flipcore.store.queries.locks import sight
from flipcore.store.queries.standing import STANDING
from flipcore.store.visible import SIGHT, Sight

MEGABYTES = 4_000  # that DuckDB may hold at once meanwhile
STATES = {"accepted": ["accepted"], "standing": ["accepted", "unreviewed"], "all": ["accepted", "unreviewed", "rejected"]}

# Variants that may be compared, a row each: those of `queries.studies.readouts`. Names become numbers here, once: joining and grouping
# ten million texts takes several times as long. A cell is an item, axis, model and extractor; a unit is a variant of an item and axis
# under a model, on `identity` a sample of it.
_VARIANTS = f"""
{STANDING},
numbers AS (
    SELECT axis, row_number() OVER (ORDER BY axis) - 1 AS n
    FROM (SELECT DISTINCT axis FROM study_variants WHERE study_id = $study_id)),
places AS MATERIALIZED (
    SELECT i.item_id, i.position, i.role, coalesce(q.source_id, i.item_id) AS family, q.target, row_number() OVER () AS item
    FROM study_items i JOIN items q USING (item_id) WHERE i.study_id = $study_id AND {SIGHT}),
ways AS MATERIALIZED (
    SELECT v.item_id, v.axis, v.variant_id, v.key = $base AS is_base, i.item * $n_axes + a.n AS place,
           row_number() OVER () AS way
    FROM places i JOIN study_variants v USING (item_id) JOIN numbers a USING (axis)
    JOIN variants w USING (variant_id) LEFT JOIN standing p ON p.pair_id = v.material_id
    WHERE v.study_id = $study_id AND w.target IS NOT DISTINCT FROM i.target AND w.layout <> $continuation AND {HARMLESS}
      AND (v.material_id IS NULL OR if($pairs_given, v.material_id IN (SELECT unnest($pairs)),
                                       coalesce(p.state, 'unreviewed') IN (SELECT unnest($states))))
      AND (v.material_id IS NULL OR coalesce(p.change, 'paraphrase') = 'paraphrase'
           OR if($pairs_given, v.material_id IN (SELECT unnest($accepted)), p.state = 'accepted'))),
reads AS MATERIALIZED (
    SELECT (w.place * $n_models + list_position($models, r.model) - 1) * $n_extractors
           + list_position($extractors, r.extractor) - 1 AS cell,
           (w.way * $n_models + list_position($models, r.model) - 1) * $n_samples + if(r.axis = $identity, r.sample, 0) AS unit,
           if(r.axis = $identity, 0, r.sample) AS sample, r.extractor = $reference AS is_reference, w.is_base,
           r.status, r.answer, r.is_correct, r.status IN ('ok', 'unreadable') AS is_there
    FROM readouts r JOIN ways w USING (item_id, axis, variant_id)
    WHERE r.study_id = $study_id AND NOT (r.status = 'ok' AND r.answer IS NULL)
      AND r.extractor NOT IN (SELECT unnest($values)) AND (NOT $locked OR r.model IN (SELECT unnest($locked_models))))
"""
# what a cell's number stands for; divided before the join, which would else look at every pair of a cell and an item
_NAMES = """
SELECT c.*, p.item_id, p.position, p.role, p.family, a.axis, $models[cell_model + 1] AS model,
       $extractors[cell_extractor + 1] AS extractor
FROM (SELECT *, cell % $n_extractors AS cell_extractor, (cell // $n_extractors) % $n_models AS cell_model,
             (cell // ($n_extractors * $n_models)) % $n_axes AS cell_axis, cell // ($n_extractors * $n_models * $n_axes) AS cell_item
      FROM {}) c
JOIN places p ON p.item = c.cell_item JOIN numbers a ON a.n = c.cell_axis
"""

# every extractor alone: what the flip surface shows, and the noise floor
_ALONE = """
own AS (SELECT cell, unit, answer, count(*) AS c FROM reads WHERE is_there GROUP BY ALL),
own_units AS (
    SELECT cell, unit, sum(c) AS n, sum(c * (c - 1)) AS agree, max(answer IS NOT NULL) AS readable FROM own GROUP BY ALL),
own_classes AS (
    SELECT cell, answer, sum(c / n) AS s, sum((c / n) * (c / n)) AS q
    FROM own JOIN own_units USING (cell, unit) GROUP BY ALL),
own_pairs AS (SELECT cell, sum(s * s - q) / 2 AS agree FROM own_classes GROUP BY ALL),
alone AS (
    SELECT cell, count(*) AS v, bool_or(readable) AS readable, count(*) FILTER (n > 1) AS v_again,
           sum(1 - agree / (n * (n - 1))) FILTER (n > 1) AS differ_again
    FROM own_units GROUP BY ALL)
"""

# an extractor beside the reference, on what both have
_BESIDE = """
beside AS (
    SELECT e.cell, e.unit, e.answer AS a, f.answer AS b, count(*) AS c
    FROM reads e JOIN reads f ON f.unit = e.unit AND f.sample = e.sample
    WHERE e.is_there AND f.is_there AND f.is_reference GROUP BY ALL),
units AS (SELECT cell, unit, sum(c) AS n FROM beside GROUP BY ALL),
shares AS (SELECT cell, unit, a, b, c / n AS p FROM beside JOIN units USING (cell, unit)),
of_a AS (SELECT cell, sum(s * s - q) / 2 AS agree, bool_or(a IS NOT NULL) AS readable FROM (
    SELECT cell, a, sum(p) AS s, sum(p * p) AS q FROM (SELECT cell, unit, a, sum(p) AS p FROM shares GROUP BY ALL) GROUP BY ALL)
    GROUP BY ALL),
of_b AS (SELECT cell, sum(s * s - q) / 2 AS agree, bool_or(b IS NOT NULL) AS readable FROM (
    SELECT cell, b, sum(p) AS s, sum(p * p) AS q FROM (SELECT cell, unit, b, sum(p) AS p FROM shares GROUP BY ALL) GROUP BY ALL)
    GROUP BY ALL),
of_both AS (SELECT cell, sum(s * s - q) / 2 AS agree FROM (
    SELECT cell, a, b, sum(p) AS s, sum(p * p) AS q FROM shares GROUP BY ALL) GROUP BY ALL),
n_units AS (SELECT cell, count(*) AS v FROM units GROUP BY ALL),
pairs AS (
    SELECT cell, v * (v - 1) / 2 AS n, n - x.agree AS e, n - y.agree AS f, n - x.agree - y.agree + z.agree AS both,
           n > 0 AND x.readable AND y.readable AS is_defined
    FROM n_units JOIN of_a x USING (cell) JOIN of_b y USING (cell) JOIN of_both z USING (cell))
"""

# with one sample a variant every share is 1, and answers are counted without looking at variants one by one
_ALONE_ONCE = """
own_classes AS (SELECT cell, answer, count(*) AS s FROM reads WHERE is_there GROUP BY ALL),
own_pairs AS (SELECT cell, sum(s * (s - 1)) / 2 AS agree FROM own_classes GROUP BY ALL),
alone AS (
    SELECT cell, sum(s) AS v, bool_or(answer IS NOT NULL) AS readable, 0 AS v_again, NULL::DOUBLE AS differ_again
    FROM own_classes GROUP BY ALL)
"""
_BESIDE_ONCE = """
classes AS (
    SELECT e.cell, e.answer AS a, f.answer AS b, count(*) AS s FROM reads e JOIN reads f ON f.unit = e.unit
    WHERE e.is_there AND f.is_there AND f.is_reference GROUP BY ALL),
of_a AS (SELECT cell, sum(s * (s - 1)) / 2 AS agree, bool_or(a IS NOT NULL) AS readable FROM (
    SELECT cell, a, sum(s) AS s FROM classes GROUP BY ALL) GROUP BY ALL),
of_b AS (SELECT cell, sum(s * (s - 1)) / 2 AS agree, bool_or(b IS NOT NULL) AS readable FROM (
    SELECT cell, b, sum(s) AS s FROM classes GROUP BY ALL) GROUP BY ALL),
of_both AS (SELECT cell, sum(s) AS v, sum(s * (s - 1)) / 2 AS agree FROM classes GROUP BY ALL),
pairs AS (
    SELECT cell, z.v * (z.v - 1) / 2 AS n, n - x.agree AS e, n - y.agree AS f, n - x.agree - y.agree + z.agree AS both,
           n > 0 AND x.readable AND y.readable AS is_defined
    FROM of_both z JOIN of_a x USING (cell) JOIN of_b y USING (cell))
"""

_RATES = f"""
counts AS (
    SELECT cell, count(*) FILTER (is_there) AS n_there, count(*) FILTER (status = 'unreadable') AS n_null,
           count(*) FILTER (status = 'cut') AS n_cut, count(*) FILTER (status = 'absent') AS n_absent,
           count(*) FILTER (is_there AND is_base) AS n_base, count(*) FILTER (status = 'unreadable' AND is_base) AS n_base_null,
           count(*) FILTER (is_correct) AS n_right
    FROM reads GROUP BY ALL),
rates AS (
    SELECT model, item_id, axis, extractor, c.position, c.role, c.family, c.n_there, c.n_null, c.n_cut, c.n_absent, c.n_base,
           c.n_base_null, c.n_right,
           if(a.v > 1 AND a.readable, (a.v * (a.v - 1) / 2 - o.agree) / (a.v * (a.v - 1) / 2), NULL) AS alone,
           if(a.v_again > 0 AND a.readable, a.differ_again / a.v_again, NULL) AS again,
           if(p.is_defined, p.e / p.n, NULL) AS T, if(p.is_defined, p.f / p.n, NULL) AS G,
           if(p.is_defined, (p.e - p.both) / p.n, NULL) AS A_plus, if(p.is_defined, (p.f - p.both) / p.n, NULL) AS A_minus,
           if(p.is_defined, p.both / p.n, NULL) AS "both"
    FROM ({_NAMES.format("counts")}) c
    LEFT JOIN alone a USING (cell) LEFT JOIN own_pairs o USING (cell) LEFT JOIN pairs p USING (cell))
"""

_BY_ITEM = "SELECT * FROM rates ORDER BY model, position, axis, extractor"

# a family's mean is one value, as in `stats.base.clusters.by_family`
_MEANS = f"""
SELECT model, axis, extractor, sum(n_items)::BIGINT AS n_items, count(*) AS n, avg(T) AS T, avg(G) AS G, avg(A) AS A,
       stddev_samp(T) AS sd_T, stddev_samp(G) AS sd_G, stddev_samp(A) AS sd_A
FROM (SELECT model, axis, extractor, family, count(*) AS n_items, avg(e / n) AS T, avg(f / n) AS G, avg(e / n - f / n) AS A
      FROM ({_NAMES.format("pairs")}) WHERE is_defined AND axis <> $identity GROUP BY ALL)
GROUP BY ALL ORDER BY model, axis, extractor
"""


def item_flip_rates(
    store: Store, study_id: str, reference: str, *, lock: str | None = None, paraphrases: str = "standing"
) -> pd.DataFrame:
    """One row a model, item, axis and extractor, in the study's order: T, G, A_plus, A_minus and both beside the `reference`
    extractor, NaN where undefined; `alone`, the flip rate of the extractor by itself, and `again`, that of samples of one variant;
    counts of readouts that are there, unreadable, cut, absent, right. Items that were set aside come under a `lock` alone."""
    return _answer(store, study_id, reference, _BY_ITEM, lock, paraphrases)


def mean_flip_rates(
    store: Store, study_id: str, reference: str, *, lock: str | None = None, paraphrases: str = "standing"
) -> pd.DataFrame:
    """One row a model, axis and extractor: means of T, G and A over families with their standard deviations; nothing else leaves
    the database."""
    return _answer(store, study_id, reference, _MEANS, lock, paraphrases)


def _answer(store: Store, study_id: str, reference: str, what: str, lock: str | None, paraphrases: str) -> pd.DataFrame:
    scope, names = sight(store, study_id, lock), _names(store, study_id)
    once = names.pop("is_once")
    beside = _BESIDE_ONCE if once else _BESIDE
    parts = (_VARIANTS, beside, _ALONE_ONCE if once else _ALONE, _RATES) if what == _BY_ITEM else (_VARIANTS, beside)
    params = _params(study_id, reference, scope, paraphrases) | names
    with store.memory_bound(MEGABYTES):
        return store.frame(f"WITH {', '.join(parts)} {what}", **params)


def _names(store: Store, study_id: str) -> dict[str, Any]:
    """The study's models and extractors, which are counted by their place in these lists; the most samples of a variant; and whether
    no variant but the base prompt of the noise floor was asked twice."""
    sql = """SELECT list(DISTINCT model), list(DISTINCT extractor), coalesce(max(sample), 0) + 1,
                    coalesce(max(sample) FILTER (axis <> $identity), 0) = 0
             FROM readouts WHERE study_id = $study_id"""
    models, extractors, n_samples, is_once = store.rows(sql, study_id=study_id, identity=IDENTITY)[0]
    models, extractors = sorted(models or [""]), sorted(extractors or [""])
    axes = store.rows("SELECT count(DISTINCT axis) FROM study_variants WHERE study_id = $study_id", study_id=study_id)
    counts = {"n_models": len(models), "n_extractors": len(extractors), "n_samples": n_samples, "n_axes": max(1, axes[0][0])}
    return {"models": models, "extractors": extractors, "is_once": is_once, **counts}


def _params(study_id: str, reference: str, scope: Sight, paraphrases: str) -> dict[str, Any]:
    stands = STATES[paraphrases]
    pairs = None if scope.verdicts is None else [pair for pair, state in scope.verdicts.items() if state in stands]
    return {
        "study_id": study_id,
        "reference": reference,
        "identity": IDENTITY,
        "continuation": CONTINUATION,
        "values": sorted([*VALUES, *rotation.READOUTS]),
        "states": stands,
        "pairs_given": pairs is not None,
        "pairs": pairs or [""],
        "accepted": [pair for pair, state in (scope.verdicts or {}).items() if state == "accepted"] or [""],
        **scope.params_of_models,
        **harmless_params(),
    }
