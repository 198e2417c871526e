"""One finding: its sentence, what qualifies it, and the way to the items behind it."""

from __future__ import annotations

import streamlit as st

from flipcore.claims.audit_input import Finding
from pages.common.inspector import open_item
from pages.common.notes import plain


def card(number: int, one: Finding) -> None:
    with st.container(border=True):
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.markdown(f"**{number}. {plain(one.claim.text)}**")
        if one.claim.detail:
            left.caption(plain(one.claim.detail))
        if one.items:
            right.button(
                f"Look at {len(one.items):,}",
                key=f"look-{number}",
                icon=":material/search:",
                on_click=_open,
                args=(number, one),
                help="Opens the first of the items behind this finding; j and k step through them.",
            )


def _open(number: int, one: Finding) -> None:
    open_item(one.items[0], axis=one.axis, readout=one.extractor, finding=str(number), on=one.model)
