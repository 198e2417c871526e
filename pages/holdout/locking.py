"""A lock on two sets: margins, embedding, classifier and seed are stored before the entries that were set aside are read."""

from __future__ import annotations

import streamlit as st

from flipcore.core.records import digest
from flipcore.store.rows import now
from pages.common import session
from pages.holdout.sets import Sets


def offer_lock(sets: Sets, settings: dict) -> None:
    """What a lock would fix, and the button; or why there is nothing to lock."""
    if sets.share_aside == 0:
        how = (
            "Duplicate the study with a share set aside for confirmation."
            if sets.is_of_study
            else "Choose a share to set aside under Settings before looking at the result."
        )
        st.info(f"No entries were set aside, so there is nothing to confirm on. {how}", icon=":material/lock_open:")
        return
    fixed = settings | {
        "page": "holdout",
        "sets": sets.sets_id,
        "n_target": len(sets.target),
        "n_retro": len(sets.retro),
        "share_aside": sets.share_aside,
    }
    st.markdown(
        f"**Nothing is shown here until settings are stored.** {len(sets.target):,} target and {len(sets.retro):,} "
        "retro entries were set aside. The settings will be the ones that this page was left at:"
    )
    st.json(fixed, expanded=1)
    who = st.text_input("Your name", key="lock-name-holdout")
    if st.button("Lock these settings", key="lock-holdout", type="primary", icon=":material/lock:", disabled=not who.strip()):
        row = {
            "lock_id": digest(fixed, sets.record_id),
            "study_id": sets.record_id,
            "settings": fixed,
            "reviewer": who.strip(),
            "created_at": now(),
        }
        session.store().writer.add("locks", [row]).result(10)
        st.rerun()
