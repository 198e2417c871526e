"""Controls whose values are in the link, and the View button for controls that change rarely.

A line next to the View button shows their values.
"""

from collections.abc import Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.common.showing import plain

# Heights are rounded to steps, because each step needs a rule in the style of every page.
STEP_PX, MAX_STEPS = 50, 60


def select(
    label: str, options: Sequence, key: str, *, choice: Any = None, place: Any = st, **extra: Any
) -> Any:
    """Draw a select box that starts at `choice`, or at the first option; return its value.

    The value is in the link under `key`. `extra` goes to `st.selectbox`.
    """
    start = options.index(choice) if choice in options else 0
    return place.selectbox(label, options, start, key=key, bind="query-params", **extra)


def segments(
    label: str, options: Sequence, key: str, *, default: Any = None, place: Any = st, **extra: Any
) -> Any:
    """Draw options side by side, starting at `default` or at the first; return the chosen one.

    The value is in the link under `key`. `extra` goes to `st.segmented_control`;
    unless it says otherwise, the label is hidden.
    """
    # Several pages have a control called `key`; a value of another page would get into the link.
    if st.session_state.get(key, options[0]) not in options:
        del st.session_state[key]
    control_options = {"bind": "query-params", "label_visibility": "collapsed"} | extra
    start = options[0] if default is None else default
    return place.segmented_control(
        label, options, default=start, required=True, key=key, **control_options
    )


def reserved_space(name: str, wide_px: int, narrow_px: int) -> DeltaGenerator:
    """Return a container that reserves height for content that the browser draws late.

    So nothing below it moves. `wide_px` is the height on wide screens, `narrow_px` on narrow ones.
    """
    # The style in the document's head (`head_start`) is written before any page knows its heights.
    # It has a rule per step, and the key of the container selects the rule.
    wide, narrow = (min(px // STEP_PX, MAX_STEPS) for px in (wide_px, narrow_px))
    return st.container(key=f"room-{wide}-by-{narrow}-{name}")


class Controls:
    """The controls behind a page's View button.

    Draw widgets in `place`, and pass their values to `note`, which shows them next to the button.
    """

    def __init__(self) -> None:
        self.place = view_button()
        self._line = st.empty()
        self._settings: list[str] = []

    def note(self, *settings: str) -> None:
        """Add settings to the line next to the button; empty ones are left out."""
        self._settings += settings
        # Drawn again at each call, because no call knows whether it is the last.
        self._line.caption(plain(" · ".join(filter(None, self._settings))), width="content")


def view_button() -> DeltaGenerator:
    """Return the container behind the View button."""
    return st.popover(
        "View", icon=":material/tune:", key="view-button", help="What is shown, and how"
    )


def view_line(*settings: str) -> None:
    """Show the settings behind the View button in a line; empty ones are left out."""
    st.caption(plain(" · ".join(filter(None, settings))), width="content")
