"""One decision: its sentence, who and when, whether it still holds, and what it was made from."""

from urllib.parse import parse_qsl

import streamlit as st

from flipcore.reports.decision_record import Entry
from pages.common.notes import plain

VIEWS = {"flip_surface", "decomposition", "ranking", "memorization", "holdout"}  # a row from another file may name anything


def card(one: Entry) -> None:
    with st.container(border=True, key=f"decision-{one.decision_id}"):
        st.markdown(f"**{plain(one.sentence)}**")
        if one.before:
            st.caption(plain(f"Instead of: {one.before}"))
        st.caption(plain(f"{one.moment} · {one.reviewer} · {one.of} · {one.page.replace('_', ' ')} · {one.mode}"))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if one.is_replaced:
                st.badge("REPLACED", color="gray", help="A later decision of the same page stands.")
            if one.is_current:
                st.badge("AS IT WAS", color="green", help=one.since)
            else:
                st.badge(
                    "CHANGED" if one.is_changed else "UNKNOWN",
                    color="orange" if one.is_changed else "gray",
                    help="Read the page again before you rely on this.",
                )
                st.caption(plain(one.since), width="content")
            if one.page in VIEWS:
                st.page_link(
                    f"{one.page}/page.py",
                    label="Open the view",
                    icon=":material/arrow_forward:",
                    query_params=dict(parse_qsl(one.query)) | {"decision": one.decision_id},
                )
            with st.popover("Made from", type="tertiary"):
                st.markdown(plain(f"Settings: {one.settings_text or 'none'}"))
                st.markdown(plain(f"Paraphrases: {one.verdicts_text}"))
                st.markdown(plain(f"Outputs looked at: {one.outputs or 'none was open'}"))
