"""What lies around every page: its style, how a chart is saved, the projector view, and the control that opens a meeting, joins one and
keeps everybody where the presenter is."""

import streamlit as st

from flipcore.charts.theme import colours
from flipcore.core.version import __version__
from pages.components import component

VIEWS = ("screen", "projector")
_screen = component("screen", "listening.js", "saving.js", isolate_styles=False)
_meeting = component("meeting")


def style() -> None:
    """What the page's style (`head_start`) hangs on, to be called before anything is drawn. `?view=projector` holds in this tab until
    `?view=screen` comes."""
    view = st.query_params.get("view", "")
    if view in VIEWS:
        st.session_state["view"] = view
    theme = colours(st.context.theme.type)
    own = {"page": theme.page, "line": theme.grid, "muted": theme.muted}
    data = own | {"view": st.session_state.get("view", VIEWS[0]), "version": __version__}
    _screen(data=data, key="screen-style", height=0, on_theme_change=lambda: None)


def offer() -> None:
    """The control of the meeting, for whoever may read."""
    base = st.get_option("server.baseUrlPath") or ""
    projector = st.session_state.get("view") == "projector"
    _meeting(data={"base": base.strip("/"), "projector": projector}, key="meeting", height=0)
