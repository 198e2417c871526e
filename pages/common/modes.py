"""Explore, simultaneous, locked: what the intervals on a page may claim.

Each page has its own settings and its own lock.
"""

from collections.abc import Sequence

import streamlit as st

from flipcore.core.links import settings_from, settings_text
from flipcore.reports import locks as lock_reports
from flipcore.reports.browser_data.levels import fitting
from flipcore.reports.decision_record import moves_sentence
from flipcore.store.queries import decisions, locks
from pages.common import screen, session
from pages.common.header import show_badges
from pages.common.identity import name_field
from pages.common.showing import nothing_yet, plain, shown_problem

AT = "at"  # the link's parameter with the settings of the page
MODES = {"explore": "Explore", "simultaneous": "Simultaneous", "locked": "Locked"}


def mode_selector() -> str:
    """The mode, with the badge that says what its intervals are worth."""
    with st.container(horizontal=True, vertical_alignment="center", width="content"):
        mode = screen.segments("Mode", list(MODES), "mode", format_func=MODES.__getitem__)
        show_badges([("EXPLORATORY", "EXPLORATORY")] if mode == "explore" else [])
    return mode


def note(mode: str, study_id: str, band: str) -> str:
    """Return what the intervals of this mode promise; `band` is what the simultaneous one holds."""
    moves = decisions.n_moves(session.store(), study_id)
    return {
        # The badge EXPLORATORY explains itself on hover, so this says the number alone. A blank
        # keeps its place until something was moved.
        "explore": moves_sentence(moves) if moves else "\u00a0",
        "simultaneous": f"The band holds {band}: choose freely after looking.",
        "locked": "Only the items that were set aside are counted, at the settings and verdicts "
        "of the lock.",
    }[mode]


def lock_of(study_id: str, mode: str, page: str) -> dict | None:
    """Return the first lock of this page on this study, where the mode asks for one.

    The page stops where it cannot be read under that lock.
    """
    lock = locks.lock_of_page(session.store(), study_id, page) if mode == "locked" else None
    if lock and (reason := lock_reports.check(session.store(), study_id, page)):
        st.error(plain(reason), icon=":material/lock_reset:")
        # Nothing below may be drawn from a lock that does not hold.
        st.stop()
    return lock


def has_something(
    study_id: str, page: str, mode: str, lock: dict | None, start: dict, *, has_readouts: bool
) -> bool:
    """Return True where this mode has something to count; else say what is missing.

    That is a lock, which is offered with the settings of the page (from `start`), or answers.
    """
    # Without a lock nothing of what was set aside may be read.
    if mode == "locked" and lock is None:
        offer_lock(study_id, page, view_of(study_id, page, start, None))
        return False
    if not has_readouts:
        nothing_yet()
    return has_readouts


def offer_lock(study_id: str, page: str, settings: dict) -> None:
    """Offer the button and what a lock would fix, or say why there is nothing to lock."""
    if session.declared(study_id).confirmatory_share == 0:
        st.info(
            "This study set no items aside, so there is nothing to confirm on. Duplicate it with a "
            "share set aside for confirmation.",
            icon=":material/lock_open:",
        )
        return
    # The seed is part of what is locked: another one would give other intervals.
    fixed = settings | {"models": list(session.study_row(study_id)["models"]), "seed": 0}
    offer_button(study_id, page, fixed, f"lock-{page}")


def offer_button(
    record_id: str,
    page: str,
    fixed: dict,
    key: str,
    items: list[str] | None = None,
    study_ids: Sequence[str] = (),
) -> None:
    """Show the settings that would be locked, a name, and the button.

    `study_ids` are the studies of a record that is none itself.
    """
    st.markdown("**Lock your settings to see the results.** These are the ones you last used here:")
    st.json(fixed, expanded=1)
    st.caption(
        "The lock also stores the items that were set aside, the models, every verdict, gate and "
        "readout as they are now."
    )
    reviewer = name_field("Your name", key=f"lock-name-{page}")
    if st.button(
        "Lock these settings",
        key=key,
        type="primary",
        icon=":material/lock:",
        disabled=not reviewer.strip(),
    ):
        with shown_problem():
            lock_reports.keep(session.store(), record_id, page, fixed, reviewer, items, study_ids)
            st.rerun()


def show_lock(record_id: str, page: str, lock: dict) -> None:
    """Say who locked what, and show the badge where the claim may be made."""
    claim = lock_reports.locked(session.store(), record_id, page)
    if claim is None:
        return
    # The badge is a claim of its own: a lock may exist and not count.
    if claim.is_made:
        show_badges([("LOCKED", "LOCKED")])
    st.caption(
        plain(
            f"{claim.text} {claim.detail} Settings stored by {lock['reviewer']} on "
            f"{lock['created_at']:%Y-%m-%d %H:%M}, {lock['lock_id']}."
        )
    )


def view_of(study_id: str, page: str, start: dict, lock: dict | None) -> dict:
    """Return the settings of this page, which stand in the link from then on.

    They are those it was left at in this session, or those of the decision or link that opened it.
    A lock's settings cannot be changed.
    """
    if lock:
        show_lock(study_id, page, lock)
        return {key: lock["settings"].get(key, value) for key, value in start.items()}
    # Taken out of the link, so that the settings of a decision are applied once.
    if link := st.query_params.pop("decision", ""):
        st.session_state[f"view-{page}-{study_id}"] = decisions.settings_of(
            session.store(), link, study_id, page, start
        )
    else:
        # Settings of a link hold for the study that it names, not for one chosen afterwards.
        text = st.query_params.get(AT, "")
        # A link that this page wrote itself says nothing new.
        if text and text != st.session_state.get(f"link-{page}"):
            place = f"view-{page}-{study_id}"
            st.session_state[place] = st.session_state.get(place, {}) | settings_from(text, start)
    view = fitting(st.session_state.get(f"view-{page}-{study_id}", {}), start)
    # Only what differs from the start, so that links stay short.
    _put_into_link(page, {key: value for key, value in view.items() if value != start[key]})
    return start | view


def _put_into_link(page: str, settings: dict) -> None:
    text = st.session_state[f"link-{page}"] = settings_text(settings)
    if text:
        st.query_params[AT] = text
    else:
        st.query_params.pop(AT, None)


def remember(study_id: str, page: str, start: dict, moved: dict | None) -> None:
    """Keep the released position, so that table and bars follow it."""
    if moved:
        place = f"view-{page}-{study_id}"
        st.session_state[place] = st.session_state.get(place, {}) | {
            key: moved[key] for key in start if key in moved
        }
        # Once more from the top, so that table and bars follow the new position.
        st.rerun()
