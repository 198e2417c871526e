"""Queries for the review: pairs, their items and studies, and new pairs."""

from collections.abc import Mapping, Sequence

from duckdb import DuckDBPyConnection

from flipcore.access.acting import ALL_SOURCES, Permission, Person, opened_to
from flipcore.core.records import Item
from flipcore.core.wordings import PARAPHRASE, REVIEW_AXES
from flipcore.store.connection import ALL_STUDIES, Store
from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.queries.judgements import standing
from flipcore.store.queries.paraphrase_states import PAIR_STATES
from flipcore.store.rows import item_of, item_row, now
from flipcore.store.visible import HIDDEN, OPEN

IMPORT_NOTE = (
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
    """Return stored paraphrases, all or those with these ids, without those of set-aside items.
    kind, options and target are None if the item is not stored."""
    with opened_to(Permission.JUDGE) as person:
        return _only_own_source(store.rows_of(_PAIRS, ids=pair_ids), person)


def _only_own_source(rows: list[dict], person: Person) -> list[dict]:
    """Return only the rows of the source that a reviewer was invited for; all for others."""
    return [row for row in rows if person.source in (ALL_SOURCES, source_of(row))]


def source_of(pair: Mapping) -> str:
    """Return the name of a pair's source, as shown to people and stored in invitations."""
    return f"{pair['dataset']} · {pair['generator']}"


def pairs_with_source(store: Store) -> list[dict]:
    """Return pair_id, dataset and generator of every paraphrase that may be shown."""
    sql = (
        f"SELECT pair_id, dataset, generator FROM paraphrases WHERE item_id NOT IN ({HIDDEN}) "
        "ORDER BY pair_id"
    )
    with opened_to(Permission.JUDGE) as person:
        return _only_own_source(store.rows_of(sql), person)


def n_pairs(store: Store) -> int:
    """Count the stored paraphrases, which are never deleted."""
    with opened_to(Permission.JUDGE):
        return store.value("SELECT count(*) FROM paraphrases")


_JUDGED_BY_OTHERS = f"""
WITH {PAIR_STATES}
SELECT DISTINCT g.pair_id FROM given g
WHERE g.reviewer <> $reviewer AND g.reviewer_kind = 'person'
  AND (NOT $at_random OR g.pair_id IN (SELECT pair_id FROM standing WHERE in_sample))
"""


def judged_by_others(store: Store, reviewer: str, *, at_random: bool = False) -> set[str]:
    """Return ids of pairs with a valid verdict by another person; models do not count. With
    `at_random`, only pairs that are part of their source's sample count. Pairs that somebody chose
    stay in the random order, because without them the other pairs would be no random sample."""
    with opened_to(Permission.JUDGE):
        return {
            pair_id
            for (pair_id,) in store.rows(_JUDGED_BY_OTHERS, reviewer=reviewer, at_random=at_random)
        }


def mark_as_random(store: Store, verdict_ids: Sequence[str]) -> None:
    """Mark verdicts on pairs that were chosen and have come up at random since."""
    if not verdict_ids:
        return
    sql = "UPDATE verdicts SET by_choice = false WHERE verdict_id IN (SELECT unnest($ids))"

    def mark(connection: DuckDBPyConnection) -> None:
        connection.execute(sql, {"ids": list(verdict_ids)})

    # No readout changes, but the paraphrase gate of every study counts these verdicts.
    store.writer.transact(mark, Permission.JUDGE, changes=()).result(30)
    store.touch([ALL_STUDIES])


def keep_pairs(store: Store, rows: Sequence[dict], items: Sequence[Item] = ()) -> None:
    """Add paraphrases and their items, and wait until they are stored."""
    store.writer.add("items", [item_row(item) for item in items])
    store.writer.add("paraphrases", [row | {"created_at": now()} for row in rows]).result(60)


def items(store: Store, item_ids: list[str]) -> dict[str, Item]:
    """Return id -> item for the stored items of these ids, without set-aside ones."""
    # `item_of` takes the date as text.
    rows = store.rows_of(
        "SELECT * REPLACE (CAST(published AS VARCHAR) AS published) FROM items "
        f"WHERE item_id IN (SELECT unnest($ids)) AND item_id NOT IN ({HIDDEN})",
        ids=item_ids,
    )
    return {row["item_id"]: item_of(row) for row in rows}


def studies_with_paraphrases(store: Store) -> list[dict]:
    """Return studies that asked stored paraphrases, newest first: study_id, name, n_paraphrases."""
    return store.rows_of(
        "SELECT s.study_id, s.name, count(DISTINCT v.material_id) AS n_paraphrases FROM studies s "
        "JOIN study_variants v USING (study_id) WHERE v.material_id IS NOT NULL "
        "GROUP BY s.study_id, s.name, s.created_at ORDER BY s.created_at DESC, s.study_id"
    )


def materials(store: Store, study_id: str, axis: str = PARAPHRASE) -> dict[tuple[str, str], str]:
    """Return (item, variant's key) -> id of the pair that it was made from, for one axis."""
    return materials_by_axis(store, study_id).get(axis, {})


def materials_by_axis(store: Store, study_id: str) -> dict[str, dict[tuple[str, str], str]]:
    """Return axis -> (item, variant's key) -> id of the pair that it was made from. Axes are in the
    order of `REVIEW_AXES`."""
    by_axis: dict[str, dict[tuple[str, str], str]] = {}
    for axis, item_id, key, pair_id in store.rows(
        "SELECT v.axis, v.item_id, v.key, v.material_id FROM study_variants v JOIN study_items i "
        "USING (study_id, item_id) WHERE v.study_id = $study_id AND list_contains($axes, v.axis) "
        f"AND v.material_id IS NOT NULL AND {OPEN} "
        "ORDER BY list_position($axes, v.axis), v.item_id, v.position",
        study_id=study_id,
        axes=list(REVIEW_AXES),
    ):
        by_axis.setdefault(axis, {})[item_id, key] = pair_id
    return by_axis


def n_readouts_on_review_axes(store: Store, study_id: str) -> int:
    """Count the readouts of the study's paraphrases, typos and translations. The order of review by
    risk depends on them."""
    sql = "SELECT count(*) FROM readouts WHERE study_id = $study_id AND list_contains($axes, axis)"
    return store.value(sql, study_id=study_id, axes=list(REVIEW_AXES))


def sources_of_pairs(store: Store) -> dict[str, str]:
    """Return pair id -> name of its source."""
    return {row["pair_id"]: source_of(row) for row in pairs_with_source(store)}


def verdicts_of(store: Store, source: str = ALL_SOURCES) -> list[dict]:
    """Return the valid verdicts on the pairs of one source, named by `source_of`, or of all."""
    sources = sources_of_pairs(store)
    pair_ids = [pair_id for pair_id, name in sources.items() if source in (ALL_SOURCES, name)]
    return standing(store, PAIR_VERDICTS, among=pair_ids)
