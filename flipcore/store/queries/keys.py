"""What people say of the keys of items: the verdicts that stand, and what is added."""

from collections.abc import Sequence

from flipcore.store.connection import Store
from flipcore.store.visible import HIDDEN

_VERDICTS = f"""
SELECT v.verdict_id, v.item_id, v.reviewer, v.verdict, v.answer, v.item_hash, v.rule_version, v.by_choice,
       strftime(v.created_at AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M:%S') AS created FROM key_verdicts v
WHERE v.undoes IS NULL AND NOT EXISTS (SELECT 1 FROM key_verdicts u WHERE u.undoes = v.verdict_id) AND v.item_id NOT IN ({HIDDEN})
QUALIFY row_number() OVER (PARTITION BY v.item_id, v.reviewer ORDER BY v.created_at DESC, v.verdict_id) = 1
ORDER BY v.created_at, v.verdict_id
"""


def key_verdicts(store: Store) -> list[dict]:
    """The verdicts that stand, oldest first; none on an item that is set aside."""
    return store.rows_of(_VERDICTS)


def keep_key_verdicts(store: Store, rows: Sequence[dict]) -> None:
    """Adds verdicts and waits until they are safe."""
    store.writer.add("key_verdicts", list(rows)).result(30)
