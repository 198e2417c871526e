"""Present and follow on every page, and the projector view."""

import streamlit as st

from pages.components.meeting import meeting
from pages.components.screen import screen_style

VIEWS = ("screen", "projector")


def style() -> None:
    """The page's style. `?view=projector` holds in this tab until `?view=screen` comes."""
    view = st.query_params.get("view", "")
    if view in VIEWS:
        st.session_state["view"] = view
    screen_style(st.session_state.get("view", VIEWS[0]))


def offer() -> None:
    """The control of the meeting, for whoever may read."""
    meeting(base=st.get_option("server.baseUrlPath") or "", projector=st.session_state.get("view") == "projector")
