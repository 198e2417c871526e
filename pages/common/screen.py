"""Controls that stand in the link; the button behind which a page's rarely changed ones lie, and the line that says what they are set
to."""

from collections.abc import Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.common.showing import plain

ROOM_STEP_PX, MOST_ROOM = 50, 60  # a step of the room that is kept, and how many there are


def select(label: str, options: Sequence, key: str, *, choice: Any = None, place: Any = st, **more: Any) -> Any:
    """One of a list, which opens at `choice`, else at the first, and stands in the link under its key."""
    at = options.index(choice) if choice in options else 0
    return place.selectbox(label, options, at, key=key, bind="query-params", **more)


def segments(label: str, options: Sequence, key: str, *, default: Any = None, place: Any = st, **more: Any) -> Any:
    """One of a few side by side, the first where no `default` is given; it stands in the link under its key, without its label above it
    unless `more` says otherwise."""
    own = {"bind": "query-params", "label_visibility": "collapsed"} | more
    start = options[0] if default is None else default
    return place.segmented_control(label, options, default=start, required=True, key=key, **own)


def room(name: str, wide_px: int, narrow_px: int) -> DeltaGenerator:
    """A container that keeps room for what a browser draws a moment after the rest, so that nothing below it moves; a narrow screen
    needs more. The style in the document's head (`head_start`) knows the steps by its key."""
    wide, narrow = (min(px // ROOM_STEP_PX, MOST_ROOM) for px in (wide_px, narrow_px))
    return st.container(key=f"room-{wide}-by-{narrow}-{name}")


class Controls:
    """What lies behind a page's View button: widgets go to `place`, and `note` keeps what they are set to for the line."""

    def __init__(self) -> None:
        self.place = view_button()
        self._line = st.empty()
        self._settings: list[str] = []

    def note(self, *settings: str) -> None:
        """Adds to what is said to be set."""
        self._settings += settings
        self._line.caption(plain(" · ".join(filter(None, self._settings))), width="content")


def view_button() -> DeltaGenerator:
    """What is written inside lies behind "View"; `view_line` says beside it what is set."""
    return st.popover("View", icon=":material/tune:", key="view-button", help="What is shown, and how")


def view_line(*settings: str) -> None:
    """What is set behind "View", in a line; empty settings are left out."""
    st.caption(plain(" · ".join(filter(None, settings))), width="content")
