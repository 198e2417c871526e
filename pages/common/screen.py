"""The button behind which a page's rarely changed controls lie, and the line that says what they are set to."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from pages.common.notes import plain


class Controls:
    """What lies behind a page's View button: widgets go to `place`, and `note` keeps what they are set to for the line."""

    def __init__(self) -> None:
        self.place = st.popover("View", icon=":material/tune:", key="view-button", help="What is shown, and how")
        self._line = st.empty()
        self._settings: list[str] = []

    def note(self, *settings: str) -> None:
        """Adds to what is said to be set."""
        self._settings += settings
        self._line.caption(plain(" · ".join(filter(None, self._settings))), width="content")


@contextmanager
def view_button() -> Iterator[None]:
    """What is written inside lies behind "View"; `view_line` says beside it what is set."""
    with st.popover("View", icon=":material/tune:", key="view-button", help="What is shown, and how"):
        yield


def view_line(*settings: str) -> None:
    """What is set behind "View", in a line; empty settings are left out."""
    st.caption(plain(" · ".join(filter(None, settings))), width="content")
