"""What a decision rests on: how many rows lay behind it and their fingerprint, so that it can be said later whether they changed.

A fingerprint is the exclusive or of the rows' MD5 hashes: it depends on no order, and one changed value changes it. It covers what
the page could read, so under a lock the items that were set aside, and otherwise the open ones.
"""

from collections.abc import Mapping
from typing import Any

from flipcore.store.connection import Store
from flipcore.store.queries.locks import lock_of_page, sight
from flipcore.store.queries.paraphrase_states import PAIR_STATES
from flipcore.store.visible import SIGHT

_VALUES = "r.model, r.item_id, r.axis, r.variant_id, r.sample, r.extractor, r.status, coalesce(r.answer, '∅'), coalesce(r.value::TEXT, '∅')"
_READOUTS = f"""
SELECT count(*), coalesce(bit_xor(md5_number_lower(concat_ws(chr(31), {_VALUES}))), 0)::TEXT
FROM readouts r JOIN study_items i ON i.study_id = r.study_id AND i.item_id = r.item_id
WHERE r.study_id = $study_id AND {SIGHT}
"""
_ITEMS = f"""
SELECT count(*), coalesce(bit_xor(md5_number_lower(concat_ws(chr(31), i.item_id, i.role))), 0)::TEXT
FROM study_items i WHERE i.study_id = $study_id AND {SIGHT}
"""
_VERDICTS = f"""
WITH {PAIR_STATES}, used AS (SELECT DISTINCT material_id AS pair_id FROM study_variants WHERE study_id = $study_id)
SELECT state, count(*) FROM standing JOIN used USING (pair_id) GROUP BY state ORDER BY state
"""
UNKNOWN = "Not known whether the data changed: an earlier release wrote this down."
WORDS = {"items": "items", "readouts": "readouts"}


def data_state(store: Store, study_id: str, locked_page: str | None = None) -> dict[str, Any]:
    """{items: [n, hash], readouts: [n, hash], verdicts: {state: n}} of a study as a page reads it; under the page's lock where
    one is named."""
    lock = lock_of_page(store, study_id, locked_page) if locked_page else None
    params = sight(store, study_id, lock["lock_id"] if lock else None).params | {"study_id": study_id}
    return {
        "items": list(store.rows(_ITEMS, **params)[0]),
        "readouts": list(store.rows(_READOUTS, **params)[0]),
        "verdicts": dict(store.rows(_VERDICTS, study_id=study_id)),
    }


def changes(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> str:
    """What changed between two states, as a sentence; "" where nothing did."""
    if not _is_data_state(before):
        return UNKNOWN
    assert before is not None
    parts = []
    for name, word in WORDS.items():
        (n, fingerprint), (n_after, fingerprint_after) = before[name], after[name]
        if n != n_after:
            parts.append(f"{n:,} {word} then, {n_after:,} now")
        elif fingerprint != fingerprint_after:
            parts.append(f"{n:,} {word}, with other content")
    verdicts = dict(before["verdicts"]), dict(after["verdicts"])
    states = [
        state for state in ("accepted", "rejected", "unreviewed") if verdicts[0].get(state, 0) != verdicts[1].get(state, 0)
    ]
    parts += [f"{verdicts[0].get(state, 0):,} {state} paraphrases then, {verdicts[1].get(state, 0):,} now" for state in states]
    return f"The data changed: {'; '.join(parts)}." if parts else ""


def _is_data_state(value: Mapping[str, Any] | None) -> bool:
    """Whether this is what `data_state` gives: a merged file may hold anything."""
    if not value or not isinstance(value.get("verdicts"), dict):
        return False
    pairs = [value.get(name) for name in WORDS]
    counts = [pair[0] for pair in pairs if isinstance(pair, list) and len(pair) == 2] + list(value["verdicts"].values())
    return len(counts) == len(pairs) + len(value["verdicts"]) and all(type(n) is int for n in counts)
