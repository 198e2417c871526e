"""Queries of the review: pairs, the verdicts that stand, labels of judged texts, what
people say of keys; and what it adds."""

from collections.abc import Mapping, Sequence

from duckdb import DuckDBPyConnection

from flipcore.access.acting import EVERY, Permission, Person, opened_to
from flipcore.core.records import Item, digest
from flipcore.core.wordings import PARAPHRASE, REVIEW_AXES
from flipcore.store.connection import Store
from flipcore.store.queries.paraphrase_states import PAIR_STATES
from flipcore.store.rows import item_of, item_row, now
from flipcore.store.visible import HIDDEN, OPEN

FROM_ELSEWHERE = (
    "A file cannot show how its pairs were drawn: its verdicts count for their source where they"
    " begin their reviewer's random order without a gap, or once all pairs are reviewed."
)
_PAIRS = f"""
SELECT p.pair_id, p.dataset, p.generator, p.item_id, p.original, p.paraphrase,
    coalesce(p.change, 'paraphrase') AS change,
       i.kind, i.options, i.target
FROM paraphrases p LEFT JOIN items i USING (item_id)
WHERE ($ids IS NULL OR p.pair_id IN (SELECT unnest($ids))) AND p.item_id NOT IN ({HIDDEN})
    ORDER BY p.pair_id
"""


def pairs(store: Store, pair_ids: list[str] | None = None) -> list[dict]:
    """Stored paraphrases with what is known of their item (kind, options and target are None where
    it is not stored); none of an item that is set aside."""
    with opened_to(Permission.JUDGE) as person:
        return _of_source(store.rows_of(_PAIRS, ids=pair_ids), person)


def _of_source(rows: list[dict], person: Person) -> list[dict]:
    """Those of the one source that a reviewer was invited to; for anybody else all."""
    return [
        row for row in rows if person.source in (EVERY, f"{row['dataset']} · {row['generator']}")
    ]


def strata(store: Store) -> list[dict]:
    """pair_id, dataset and generator of every paraphrase that may be shown: what a queue is made
    of."""
    sql = (
        f"SELECT pair_id, dataset, generator FROM paraphrases WHERE item_id NOT IN ({HIDDEN}) "
        "ORDER BY pair_id"
    )
    with opened_to(Permission.JUDGE) as person:
        return _of_source(store.rows_of(sql), person)


def n_pairs(store: Store) -> int:
    """Count the stored paraphrases; they are never taken out."""
    with opened_to(Permission.JUDGE):
        return store.rows("SELECT count(*) FROM paraphrases")[0][0]


# A reviewer's latest verdict that was not taken back.
_VERDICTS = f"""
SELECT v.verdict_id, v.pair_id, v.reviewer, v.reviewer_kind, v.by_choice, v.meaning, v.difficulty,
    v.solution_path, v.note, v.original_hash,
       v.paraphrase_hash, v.rule_version, strftime(v.created_at AT TIME ZONE 'UTC',
           '%Y-%m-%d %H:%M:%S.%f') AS created
FROM verdicts v
WHERE v.undoes IS NULL AND NOT EXISTS (SELECT 1 FROM verdicts u WHERE u.undoes = v.verdict_id)
  AND v.pair_id NOT IN (SELECT pair_id FROM paraphrases WHERE item_id IN ({HIDDEN}))
  AND ($reviewer IS NULL OR v.reviewer = $reviewer AND v.reviewer_kind = 'person')
QUALIFY row_number() OVER (PARTITION BY v.pair_id, v.reviewer, v.reviewer_kind
    ORDER BY v.created_at DESC, v.verdict_id) = 1
ORDER BY v.created_at, v.verdict_id
"""


def verdicts(store: Store, reviewer: str | None = None) -> list[dict]:
    """The verdicts that stand, oldest first: of one person, or of all people and models. A reviewer
    gets their own alone."""
    with opened_to(Permission.JUDGE, reviewer or ""):
        return store.rows_of(_VERDICTS, reviewer=reviewer)


_JUDGED_BY_OTHERS = f"""
WITH {PAIR_STATES}
SELECT DISTINCT g.pair_id FROM given g
WHERE g.reviewer <> $reviewer AND g.reviewer_kind = 'person'
  AND (NOT $at_random OR g.pair_id IN (SELECT pair_id FROM standing WHERE in_sample))
"""


def judged_by_others(store: Store, reviewer: str, *, at_random: bool = False) -> set[str]:
    """Pairs on which another person's verdict stands; a model's leaves a pair to people. With
    `at_random` only those that stand for their source: what somebody chose comes up at random all
    the same, or what is left would be a choice too.
    """
    with opened_to(Permission.JUDGE):
        return {
            pair
            for (pair,) in store.rows(_JUDGED_BY_OTHERS, reviewer=reviewer, at_random=at_random)
        }


def keep_verdicts(store: Store, rows: Sequence[dict]) -> None:
    """Add verdicts and waits until they are safe. A verdict_id that is there already stays as it
    is."""
    store.writer.add("verdicts", list(rows)).result(30)


def count_as_random(store: Store, verdict_ids: Sequence[str]) -> None:
    """Mark verdicts on chosen pairs that a random order has reached since: what was said stays as
    it is."""
    if not verdict_ids:
        return
    sql = "UPDATE verdicts SET by_choice = false WHERE verdict_id IN (SELECT unnest($ids))"

    def mark(connection: DuckDBPyConnection) -> None:
        connection.execute(sql, {"ids": list(verdict_ids)})

    store.writer.transact(mark, Permission.JUDGE, changes=()).result(30)


def keep_pairs(store: Store, rows: Sequence[dict], items: Sequence[Item] = ()) -> None:
    """Add paraphrases and the items that they belong to, and waits until they are safe."""
    store.writer.add("items", [item_row(item) for item in items])
    store.writer.add("paraphrases", [row | {"created_at": now()} for row in rows]).result(60)


def items(store: Store, item_ids: list[str]) -> dict[str, Item]:
    """The stored items of these ids; none that is set aside."""
    rows = store.rows_of(
        "SELECT * REPLACE (CAST(published AS VARCHAR) AS published) FROM items "
        f"WHERE item_id IN (SELECT unnest($ids)) AND item_id NOT IN ({HIDDEN})",
        ids=item_ids,
    )
    return {row["item_id"]: item_of(row) for row in rows}


def studies_with_rewordings(store: Store) -> list[dict]:
    """Studies that asked stored paraphrases, newest first: study_id, name, n_rewordings."""
    return store.rows_of(
        "SELECT s.study_id, s.name, count(DISTINCT v.material_id) AS n_rewordings FROM studies s "
        "JOIN study_variants v USING (study_id) WHERE v.material_id IS NOT NULL "
        "GROUP BY s.study_id, s.name, s.created_at ORDER BY s.created_at DESC, s.study_id"
    )


def materials(store: Store, study_id: str, axis: str = PARAPHRASE) -> dict[tuple[str, str], str]:
    """(item, variant's name on the axis) -> the stored wording that it was made from."""
    return materials_by_axis(store, study_id).get(axis, {})


def materials_by_axis(store: Store, study_id: str) -> dict[str, dict[tuple[str, str], str]]:
    """Axis -> (item, variant's name there) -> the stored wording that it was made from; axes in the
    order of `REVIEW_AXES`."""
    by_axis: dict[str, dict[tuple[str, str], str]] = {}
    for axis, item, key, pair in store.rows(
        "SELECT v.axis, v.item_id, v.key, v.material_id FROM study_variants v JOIN study_items i "
        "USING (study_id, item_id) WHERE v.study_id = $study_id AND list_contains($axes, v.axis) "
        f"AND v.material_id IS NOT NULL AND {OPEN} "
        "ORDER BY list_position($axes, v.axis), v.item_id, v.position",
        study_id=study_id,
        axes=list(REVIEW_AXES),
    ):
        by_axis.setdefault(axis, {})[item, key] = pair
    return by_axis


def n_reworded_readouts(store: Store, study_id: str) -> int:
    """Readouts of the study's paraphrases, typos and translations so far: what an order by risk
    depends on."""
    sql = "SELECT count(*) FROM readouts WHERE study_id = $study_id AND list_contains($axes, axis)"
    return store.rows(sql, study_id=study_id, axes=list(REVIEW_AXES))[0][0]


_FLIP_MARKS = f"""
SELECT item_id || '|' || variant_id || '|' || other_variant_id AS flip, reviewer, verdict
FROM flip_verdicts JOIN study_items i USING (study_id, item_id)
WHERE study_id = $study_id AND {OPEN} AND model = $model AND axis = $axis AND extractor = $extractor
ORDER BY created_at, flip_verdict_id
"""


def flip_marks(store: Store, study_id: str, model: str, axis: str, extractor: str) -> list[dict]:
    """Return what people said of the flips of one axis under one readout, oldest first: {flip,
    reviewer, verdict}."""
    return store.rows_of(
        _FLIP_MARKS, study_id=study_id, model=model, axis=axis, extractor=extractor
    )


def keep_flip_mark(store: Store, mark: Mapping[str, str]) -> None:
    """Append what a reviewer said of one flip, and waits until it is safe."""
    row = {**mark, "created_at": now()}
    store.writer.add(
        "flip_verdicts", [row | {"flip_verdict_id": digest(*map(str, row.values()))}]
    ).result(10)


def sources_of_pairs(store: Store) -> dict[str, str]:
    """Pair -> dataset and generator."""
    return {row["pair_id"]: f"{row['dataset']} · {row['generator']}" for row in strata(store)}


def verdicts_of(store: Store, source: str = EVERY) -> list[dict]:
    """The verdicts on the pairs of one source as `sources_of_pairs` names them, or of every one."""
    sources = sources_of_pairs(store)
    return [
        row
        for row in verdicts(store)
        if row["pair_id"] in sources and source in (EVERY, sources[row["pair_id"]])
    ]


_KEY_VERDICTS = f"""
SELECT v.verdict_id, v.item_id, v.reviewer, v.verdict, v.answer, v.item_hash, v.rule_version,
    v.by_choice,
       strftime(v.created_at AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M:%S') AS created FROM key_verdicts v
WHERE v.undoes IS NULL AND NOT EXISTS (SELECT 1 FROM key_verdicts u WHERE u.undoes = v.verdict_id)
    AND v.item_id NOT IN ({HIDDEN})
QUALIFY row_number() OVER (PARTITION BY v.item_id, v.reviewer
    ORDER BY v.created_at DESC, v.verdict_id) = 1
ORDER BY v.created_at, v.verdict_id
"""


def key_verdicts(store: Store) -> list[dict]:
    """The verdicts that stand, oldest first; none on an item that is set aside."""
    return store.rows_of(_KEY_VERDICTS)


def keep_key_verdicts(store: Store, rows: Sequence[dict]) -> None:
    """Add verdicts and waits until they are safe."""
    store.writer.add("key_verdicts", list(rows)).result(30)
