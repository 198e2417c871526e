"""The lock of a page: what it claims, and why nothing can be read under it."""

from collections.abc import Mapping, Sequence
from typing import Any

from flipcore.annotation.gates import CLOSED_GATES, reasons
from flipcore.claims.claim import Claim
from flipcore.claims.locks import locked_claim
from flipcore.core.errors import BadInput
from flipcore.core.locks import STATE
from flipcore.store.connection import Store
from flipcore.store.queries import locks as lock_queries


def locked(store: Store, record_id: str, page: str) -> Claim | None:
    """The claim of the lock that holds for a page of a study; None without one."""
    all_locks = lock_queries.locks(store, record_id)
    lock = lock_queries.lock_of_page(store, record_id, page)
    return None if lock is None else claim_of(store, lock, all_locks)


def claim_of(
    store: Store, lock: Mapping[str, Any], all_locks: Sequence[Mapping[str, Any]]
) -> Claim:
    """The claim of one lock of a record, with what changed since."""
    is_first = lock_queries.is_before_answers(lock["settings"].get(STATE) or {})
    return locked_claim(
        lock,
        all_locks,
        lock_queries.n_verdicts_changed(store, lock),
        lock_queries.came_after(store, lock),
        is_first=is_first,
        n_elsewhere=lock_queries.n_answered_before(store, lock) if is_first else 0,
    )


def keep(
    store: Store,
    record_id: str,
    page: str,
    settings: Mapping[str, Any],
    reviewer: str,
    items: Sequence[str] | None = None,
    study_ids: Sequence[str] = (),
) -> str:
    """Store the first lock of a page (`queries.locks.keep_lock`) with the gates of the studies
    that it reads as they stand now; without `study_ids` the record is the one study."""
    # A gate that opens later changes nothing under the lock.
    shut: dict[str, str] = {}
    for study_id in study_ids or (record_id,):
        shut |= reasons(store, study_id)
    return lock_queries.keep_lock(
        store, record_id, page, {**settings, CLOSED_GATES: shut}, reviewer, items
    )


def check(store: Store, record_id: str, page: str) -> str:
    """Say why nothing can be read under this page's lock; "" if its state can be recomputed."""
    lock = lock_queries.lock_of_page(store, record_id, page)
    try:
        lock_queries.sight(store, record_id, lock["lock_id"] if lock else "")
    except BadInput as error:
        return str(error)
    return ""
