"""The log of acts with its filter, and a number in the place of a name."""

from __future__ import annotations

import streamlit as st

from flipcore.store.backup import back_up
from flipcore.store.queries import invitations
from pages.common import session
from pages.common.notes import plain, shown_problem
from pages.common.tables import show_table


def show() -> None:
    """Who did what, newest first."""
    store = session.store()
    st.subheader("Who did what", anchor=False)
    names = invitations.names(store)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        who = st.multiselect("People", names, key="acts-who", width=320)
        words = st.text_input("Find", key="acts-words", placeholder="act, study, pair", width=240)
    acts = invitations.acts(store, who, words)
    if acts.empty:
        st.caption("The log has no row yet, or none that fits the filter.")
    else:
        show_table("acts", acts, column_config={"n_rows": "rows", "created_at": "when (UTC)", "target": "on"})
    others = invitations.acts(store, who, words, elsewhere=True)
    if not others.empty:
        with st.expander(f"Said by merged files of other places: {len(others):,}", icon=":material/merge:"):
            show_table("acts-elsewhere", others, column_config={"n_rows": "rows", "created_at": "when (UTC)", "target": "on"})
    with st.container(horizontal=True):
        _replacing(names)
        if st.button("Back up the database", icon=":material/save:", help="one file beside the database, while it runs"):
            with shown_problem():
                st.success(f"Everything is in {plain(back_up(store))}.", icon=":material/check:")


def _replacing(names: list[str]) -> None:
    with st.popover("Replace a name by a number", icon=":material/person_off:"):
        st.markdown("On request of the person. It cannot be taken back, and their invitations end.")
        name = st.selectbox("Name", names, index=None, key="replace-name")
        if st.button("Replace it everywhere", type="primary", disabled=name is None) and name is not None:
            with shown_problem():
                number = invitations.replace_name(session.store(), name)
                st.success(f"It is {plain(number)} from now on.", icon=":material/check:")
