"""The lock of a page: its claim, how it is stored, and why it may be refused."""

from collections.abc import Mapping, Sequence
from typing import Any

from flipcore.annotation.gates import CLOSED_GATES, reasons
from flipcore.claims.claim import Claim
from flipcore.claims.locks import locked_claim
from flipcore.core.errors import BadInput
from flipcore.core.locks import STATE
from flipcore.extractors import title_of
from flipcore.reports.choices import STORED
from flipcore.stats.base.estimate import level_text
from flipcore.store.connection import Store
from flipcore.store.queries import locks as lock_queries
from flipcore.text.counts import in_a_row

# The names that pages gave to the setting of an extractor.
EXTRACTOR_SETTINGS = ("reference", "reader", "readout")


def settings_words(settings: Mapping[str, Any]) -> str:
    """Return settings as words: "level 95%, extractor written answer, models a and b". Settings
    without a value are left out."""
    words = []
    for name, value in settings.items():
        if value in (None, "", []):
            continue
        # Choices are many nested options, which the page itself shows.
        if name == STORED:
            words.append("choices as offered")
            continue
        if name == "level":
            words.append(f"level {level_text(value)}")
        elif name in EXTRACTOR_SETTINGS:
            words.append(f"extractor {title_of(value).lower()}")
        elif isinstance(value, list):
            words.append(f"{name} {in_a_row([str(part) for part in value])}")
        else:
            words.append(f"{name} {value}".replace("_", " "))
    return ", ".join(words)


def locked(store: Store, record_id: str, page: str) -> Claim | None:
    """Return the claim of the lock of a study's page; None without a lock."""
    all_locks = lock_queries.locks(store, record_id)
    lock = lock_queries.lock_of_page(store, record_id, page)
    return None if lock is None else claim_of(store, lock, all_locks)


def claim_of(
    store: Store, lock: Mapping[str, Any], all_locks: Sequence[Mapping[str, Any]]
) -> Claim:
    """Return the claim of one lock, which also says what changed since it was stored."""
    is_first = lock_queries.is_before_answers(lock["settings"].get(STATE) or {})
    return locked_claim(
        lock,
        all_locks,
        lock_queries.n_verdicts_changed(store, lock),
        lock_queries.late_readouts_sentence(store, lock),
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
    """Store the first lock of a page with its settings and the gates that are closed now.

    `study_ids` are the studies that the page reads; by default the record is one study. Returns the
    lock's id as `queries.locks.keep_lock` does.
    """
    # The gates are stored, so that one that opens later changes nothing under the lock.
    closed_gates: dict[str, str] = {}
    for study_id in study_ids or (record_id,):
        closed_gates |= reasons(store, study_id)
    locked_settings = {**settings, CLOSED_GATES: closed_gates}
    return lock_queries.keep_lock(store, record_id, page, locked_settings, reviewer, items)


def check(store: Store, record_id: str, page: str) -> str:
    """Say why nothing can be read under a page's lock; "" if its state can be recomputed."""
    lock = lock_queries.lock_of_page(store, record_id, page)
    try:
        lock_queries.sight(store, record_id, lock["lock_id"] if lock else "")
    except BadInput as error:
        return str(error)
    return ""
