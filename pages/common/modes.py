"""Explore, simultaneous, locked: what the intervals on a page may claim. Each page has its own settings and its own lock."""

from __future__ import annotations

import streamlit as st

from flipcore.core.records import digest
from flipcore.store.queries import studies
from flipcore.store.rows import now
from pages.common import session
from pages.common.header import show_badges
from pages.common.notes import plain

WIDTH = 440  # of the control and its badge, px: below it the row wraps
MODES = {"explore": "Explore", "simultaneous": "Simultaneous", "locked": "Locked"}


def chosen(key: str = "mode") -> str:
    """The mode, with the badge that says what its intervals are worth."""
    with st.container(horizontal=True, vertical_alignment="center", width=WIDTH):
        mode = st.segmented_control(
            "Mode",
            list(MODES),
            default="explore",
            key=key,
            bind="query-params",
            required=True,
            format_func=MODES.get,
            label_visibility="collapsed",
        )
        badge = {"explore": "EXPLORATORY", "locked": "LOCKED"}.get(mode)
        show_badges([(badge, badge)] if badge else [])
    return mode


def note(mode: str, study_id: str, band: str) -> str:
    """What this mode's intervals promise; `band` says for what the simultaneous one holds."""
    moves = studies.n_moves(session.store(), study_id)
    return {
        "explore": f"EXPLORATORY: these intervals hold for settings chosen beforehand. {moves:,} "
        f"{'move of a threshold was' if moves == 1 else 'moves of a threshold were'} logged on this study.",
        "simultaneous": f"The band holds {band}: choose freely after looking.",
        "locked": "LOCKED: computed on the items that were set aside, at the settings that were stored before they were read.",
    }[mode]


def lock_of(study_id: str, mode: str, page: str) -> dict | None:
    """The first lock of this page on this study, where the mode asks for one."""
    found = studies.locks(session.store(), study_id) if mode == "locked" else []
    return next((lock for lock in found if lock["settings"].get("page", "decomposition") == page), None)


def offer_lock(study_id: str, page: str, settings: dict) -> None:
    """What a lock would fix, and the button; or why there is nothing to lock."""
    if studies.study(session.store(), study_id).confirmatory_share == 0:
        st.info(
            "This study set no items aside, so there is nothing to confirm on. Duplicate it with a share set aside for "
            "confirmation.",
            icon=":material/lock_open:",
        )
        return
    fixed = settings | {
        "page": page,
        "study": study_id,
        "models": list(session.study_row(study_id)["models"]),
        "seed": 0,
        "verdicts": studies.verdict_state(session.store()),
    }
    st.markdown("**Nothing is shown here until settings are stored.** They will be the ones that this page was left at:")
    st.json(fixed, expanded=1)
    who = st.text_input("Your name", key=f"lock-name-{page}")
    if st.button("Lock these settings", key=f"lock-{page}", type="primary", icon=":material/lock:", disabled=not who.strip()):
        row = {"lock_id": digest(fixed), "study_id": study_id, "settings": fixed, "reviewer": who.strip(), "created_at": now()}
        session.store().writer.add("locks", [row]).result(10)
        st.rerun()


def view_of(study_id: str, page: str, start: dict, lock: dict | None) -> dict:
    """The settings that this page was left at in this session; a lock's settings cannot be changed."""
    if lock:
        st.caption(plain(f"Locked by {lock['reviewer']} on {lock['created_at']:%Y-%m-%d %H:%M}, {lock['lock_id']}."))
        return {key: lock["settings"].get(key, value) for key, value in start.items()}
    return start | st.session_state.get(f"view-{page}-{study_id}", {})


def remember(study_id: str, page: str, start: dict, moved: dict | None) -> None:
    """Keeps the released position, so that table and bars follow it."""
    if moved:
        place = f"view-{page}-{study_id}"
        st.session_state[place] = st.session_state.get(place, {}) | {key: moved[key] for key in start}
        st.rerun()
