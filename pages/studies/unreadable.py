"""A study that a newer version wrote, or whose declaration broke: shown as such, and it hurts nothing else."""

from __future__ import annotations

import streamlit as st

from flipcore.store.queries import studies
from pages.common import session
from pages.common.notes import plain
from pages.studies.changing import delete_button


def unreadable(row: dict) -> None:
    """A study whose declaration this version cannot read: what is known of it, its text, and Delete."""
    with st.container(border=True, key=f"card-{row['study_id']}"):
        st.subheader(plain(row["name"]), anchor=False)
        st.warning(plain(row["problem"]), icon=":material/unknown_document:")
        with st.container(horizontal=True, vertical_alignment="center"):
            with st.popover("Provenance", icon=":material/receipt_long:"):
                st.caption(f"Declared {row['created_at']:%Y-%m-%d %H:%M} · flipscope {plain(row['code_version'])}")
                st.code(studies.toml(session.store(), row["study_id"]), language="toml")
            delete_button(row["study_id"], running=False)
