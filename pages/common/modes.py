"""The modes explore, simultaneous and locked, which decide what a page's intervals may claim.

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
from pages.common.showing import plain, show_nothing_yet, shown_problem

SETTINGS_PARAMETER = "at"  # of the link
MODES = {"explore": "Explore", "simultaneous": "Simultaneous", "locked": "Locked"}


def mode_selector() -> str:
    """Draw the selector of modes, with the badge of explore; return the chosen key of `MODES`."""
    with st.container(horizontal=True, vertical_alignment="center", width="content"):
        mode = screen.segments("Mode", list(MODES), "mode", format_func=MODES.__getitem__)
        show_badges([("EXPLORATORY", "EXPLORATORY")] if mode == "explore" else [])
    return mode


def note_text(mode: str, study_id: str, band: str) -> str:
    """Return what the intervals of this mode promise.

    `band` names what the simultaneous intervals hold for.
    """
    moves = decisions.n_moves(session.store(), study_id)
    return {
        # The badge EXPLORATORY has its own explanation, so the number of moves is enough here.
        # A blank line reserves the space while there are none.
        "explore": moves_sentence(moves) if moves else "\u00a0",
        "simultaneous": f"The band holds {band}: choose freely after looking.",
        "locked": "Only the items that were set aside are counted, at the settings and verdicts "
        "of the lock, which cannot be changed. Under Explore settings move, on the other items.",
    }[mode]


def lock_of(study_id: str, mode: str, page: str) -> dict | None:
    """Return the row of the page's lock on this study; None without a lock or in another mode.

    Where the lock has become invalid, show the reason and stop the page.
    """
    lock = locks.lock_of_page(session.store(), study_id, page) if mode == "locked" else None
    if lock and (reason := lock_reports.check(session.store(), study_id, page)):
        st.error(plain(reason), icon=":material/lock_reset:")
        # Nothing below may be drawn from a lock that does not hold.
        st.stop()
    return lock


def can_show(
    study_id: str, page: str, mode: str, lock: dict | None, start: dict, *, has_readouts: bool
) -> bool:
    """Return True if the page has readouts to show in this mode; else show what is missing.

    In the locked mode without a lock, offer to lock the page's settings. `start` holds the
    settings that the page starts with.
    """
    # Without a lock, the items that were set aside may not be read.
    if mode == "locked" and lock is None:
        offer_lock(study_id, page, view_of(study_id, page, start, None))
        return False
    if not has_readouts:
        show_nothing_yet(is_recorded=session.declared(study_id).is_recorded)
    return has_readouts


def offer_lock(study_id: str, page: str, settings: dict) -> None:
    """Offer to lock these settings, or say that the study set no items aside."""
    if session.declared(study_id).confirmatory_share == 0:
        st.info(
            "This study set no items aside, so there is nothing to confirm on.",
            icon=":material/lock_open:",
        )
        # Recorded outputs cannot be asked again.
        if not session.declared(study_id).is_recorded:
            st.caption(
                "Duplicate it, and under How it is asked set a share aside for confirmation."
            )
            st.page_link(
                "new_study/page.py",
                label="Duplicate",
                icon=":material/content_copy:",
                query_params={"from_study": study_id},
            )
        return
    # The seed is locked, too, because another seed would give other intervals.
    locked_settings = settings | {"models": list(session.study_row(study_id)["models"]), "seed": 0}
    offer_lock_button(study_id, page, locked_settings, f"lock-{page}")


def offer_lock_button(
    record_id: str,
    page: str,
    settings: dict,
    key: str,
    items: list[str] | None = None,
    study_ids: Sequence[str] = (),
) -> None:
    """Show the settings, a field for a name, and the button that locks the settings.

    `record_id` is a study's id, or the id of two sets whose studies are `study_ids`. `items` are
    the ids of the items that were set aside; None takes those of the study.
    """
    st.markdown(
        "**Lock your settings to see the results.** These are the ones you last used here: "
        f"{plain(lock_reports.settings_words(settings))}."
    )
    st.caption(
        "The lock also stores the items that were set aside, the models, every verdict, gate and "
        "readout as they are now. It cannot be changed or removed."
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
            lock_reports.keep(
                session.store(), record_id, page, settings, reviewer, items, study_ids
            )
            st.rerun()


def show_lock(record_id: str, page: str, lock: dict) -> None:
    """Show who locked the settings and when, with the badge LOCKED if the claim may be made."""
    claim = lock_reports.locked(session.store(), record_id, page)
    if claim is None:
        return
    # A lock that does not allow the claim gets no badge.
    if claim.is_made:
        show_badges([("LOCKED", "LOCKED")])
    st.caption(
        plain(
            f"{claim.text} {claim.detail} Settings stored by {lock['reviewer']} on "
            f"{lock['created_at']:%Y-%m-%d %H:%M}, {lock['lock_id']}."
        )
    )


def view_of(study_id: str, page: str, start: dict, lock: dict | None) -> dict:
    """Return the settings of this page and write them into the link.

    They come from the lock, else from the decision or link that opened the page, else from the
    last visit in this session, else from `start`.
    """
    if lock:
        show_lock(study_id, page, lock)
        return {key: lock["settings"].get(key, value) for key, value in start.items()}
    # Removed from the link, so that the settings of a decision are applied only once.
    if decision_id := st.query_params.pop("decision", ""):
        st.session_state[f"view-{page}-{study_id}"] = decisions.settings_of(
            session.store(), decision_id, study_id, page, start
        )
    else:
        # The page applies the settings of a link once, to the study that the link names.
        text = st.query_params.get(SETTINGS_PARAMETER, "")
        # If the page wrote the link itself, it has these settings already.
        if text and text != st.session_state.get(f"link-{page}"):
            key = f"view-{page}-{study_id}"
            st.session_state[key] = st.session_state.get(key, {}) | settings_from(text, start)
    view = fitting(st.session_state.get(f"view-{page}-{study_id}", {}), start)
    # Only settings that differ from the start are written, so that links stay short.
    changed = {key: value for key, value in view.items() if value != start[key]}
    text = st.session_state[f"link-{page}"] = settings_text(changed)
    if text:
        st.query_params[SETTINGS_PARAMETER] = text
    else:
        st.query_params.pop(SETTINGS_PARAMETER, None)
    return start | view


def remember(study_id: str, page: str, start: dict, moved: dict | None) -> None:
    """Store the settings of a control that was moved and draw the page again; None is no move."""
    if moved:
        key = f"view-{page}-{study_id}"
        settings = {name: moved[name] for name in start if name in moved}
        st.session_state[key] = st.session_state.get(key, {}) | settings
        # Table and bars above must follow the new position.
        st.rerun()
