"""A lock on two sets: margins, embedding, classifier and seed are stored before the entries that were set aside are read."""

import streamlit as st

from flipcore.reports.holdout_sets import Sets
from flipcore.store.queries import locks
from pages.common import modes, session


def offer_lock(sets: Sets, settings: dict) -> None:
    """What a lock would fix, and the button; or why there is nothing to lock."""
    if sets.share_aside == 0:
        how = (
            "Duplicate the study with a share set aside for confirmation."
            if sets.is_of_study
            else "Choose a share to set aside under View: it counts nowhere until you lock. What you saw of it before stays seen."
        )
        st.info(f"No entries were set aside, so there is nothing to confirm on. {how}", icon=":material/lock_open:")
        return
    n_target, n_retro = n_aside(sets)
    st.caption(f"{n_target:,} target and {n_retro:,} retro entries were set aside.")
    fixed = settings | {"sets": sets.name, "n_target": n_target, "n_retro": n_retro, "share_aside": sets.share_aside}
    own = None if sets.is_of_study else [item.item_id for item in (*sets.target, *sets.retro)]
    modes.offer_button(sets.record_id, "holdout", fixed, "lock-holdout", own)


def n_aside(sets: Sets) -> tuple[int, int]:
    """How many target and retro entries were set aside; a study's are counted without being read."""
    if not sets.is_of_study:
        return len(sets.target), len(sets.retro)
    target, retro = (locks.n_set_aside(session.store(), sets.record_id, role) for role in ("target", "retro"))
    return target, retro
