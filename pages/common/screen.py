"""Controls that stand in the link, and the button for those that are rarely changed.

A line next to the button says what they are set to.
"""

from collections.abc import Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.common.showing import plain

# Room is kept in steps, because each step needs a rule in the style of every page.
ROOM_STEP_PX, MOST_ROOM = 50, 60


def select(
    label: str, options: Sequence, key: str, *, choice: Any = None, place: Any = st, **more: Any
) -> Any:
    """Offer a list, open at `choice`, else at the first; its value stands in the link under its
    key.
    """
    start = options.index(choice) if choice in options else 0
    return place.selectbox(label, options, start, key=key, bind="query-params", **more)


def segments(
    label: str, options: Sequence, key: str, *, default: Any = None, place: Any = st, **more: Any
) -> Any:
    """Offer a few options next to each other, the first where no `default` is given.

    The choice stands in the link under its key, without its label above it unless `more` says
    otherwise.
    """
    options_set = {"bind": "query-params", "label_visibility": "collapsed"} | more
    start = options[0] if default is None else default
    return place.segmented_control(
        label, options, default=start, required=True, key=key, **options_set
    )


def room(name: str, wide_px: int, narrow_px: int) -> DeltaGenerator:
    """Return a container that keeps room for what a browser draws a moment after the rest.

    So nothing below it moves; a narrow screen needs more. The style in the document's head
    (`head_start`) knows the steps by its key.
    """
    # The key carries the steps, because the style is made before any page knows its heights.
    wide, narrow = (min(px // ROOM_STEP_PX, MOST_ROOM) for px in (wide_px, narrow_px))
    return st.container(key=f"room-{wide}-by-{narrow}-{name}")


class Controls:
    """The controls behind a page's View button.

    Widgets go to `place`, and `note` keeps what they are set to for the line.
    """

    def __init__(self) -> None:
        self.place = view_button()
        self._line = st.empty()
        self._settings: list[str] = []

    def note(self, *settings: str) -> None:
        """Add to what is said to be set."""
        self._settings += settings
        # The line is drawn anew each time, because controls come one after another.
        self._line.caption(plain(" · ".join(filter(None, self._settings))), width="content")


def view_button() -> DeltaGenerator:
    """Return the container behind "View"; `view_line` says next to it what is set."""
    return st.popover(
        "View", icon=":material/tune:", key="view-button", help="What is shown, and how"
    )


def view_line(*settings: str) -> None:
    """Say in a line what is set behind "View"; empty settings are left out."""
    st.caption(plain(" · ".join(filter(None, settings))), width="content")
