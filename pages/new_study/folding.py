"""The three steps fold to a line each when they are done: what the line says, and the button that opens the next."""

from __future__ import annotations

import streamlit as st


def remember(number: int, summary: str) -> None:
    """Keeps what a step's line says; the line itself is drawn before the step, so a change draws the page once more."""
    if st.session_state.get(f"summary-{number}") != summary:
        st.session_state[f"summary-{number}"] = summary
        st.rerun()


def done_button(number: int, ready: bool) -> None:
    st.button(
        "Done with this step", key=f"done-{number}", icon=":material/check:", disabled=not ready, on_click=_fold, args=(number,)
    )


def _fold(number: int) -> None:
    st.session_state[f"step-{number}"] = False
    if number < 3:
        st.session_state[f"step-{number + 1}"] = True
