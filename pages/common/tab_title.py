"""The title of the browser's tab: studies that ended since somebody last did something."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from flipcore.core.errors import FlipscopeError
from flipcore.runs.progress import window_title
from pages.common.opened import is_open, opened

_OLD, _LAST, _CLOCK, _WHOLE = "endings-old", "endings-last", "drawn-by-clock", "page-is-being-drawn"


def begin() -> None:
    """The title and the icon before anything is known."""
    # A named icon as page icon would be fetched from a server of Google's on every visit.
    page_icon = Path(__file__).parents[1] / "components/icon.svg"
    st.set_page_config(page_title="Flipscope", page_icon=page_icon, layout="wide")


@contextmanager
def around_page() -> Iterator[None]:
    """Set the title and draw the page within."""
    # On a fresh start the page comes first: its heading need not wait for the store.
    late = not is_open.is_set()
    if not late:
        _show()
    # `draw_again` must not interrupt it.
    st.session_state[_WHOLE] = True
    try:
        yield
    finally:
        st.session_state[_WHOLE] = False
    if late:
        _show()


def _show() -> None:
    """Show in the title the studies that ended.

    An ending stands there until the page is drawn again because of what somebody did.
    """
    try:
        registry = opened()[1]
    except FlipscopeError:
        # The page that needs the store says why.
        return
    endings = registry.endings
    n = len(endings)
    n_old = st.session_state.setdefault(_OLD, n)
    # A page that was drawn by the clock shows nothing that somebody has seen.
    by_clock = st.session_state.pop(_CLOCK, False)
    if not by_clock and st.session_state.get(_LAST) == n:
        n_old = st.session_state[_OLD] = n
    st.session_state[_LAST] = n
    st.set_page_config(
        page_title=window_title([(ending.name, ending.state) for ending in endings[n_old:]])
    )
    # Without a running study no ending can come.
    if registry.running():
        _watch(n)


def draw_again() -> None:
    """Draw the page again because something happened, not because somebody did something."""
    # A new beginning while the page is drawn as a whole would swallow the click for which it is
    # drawn. The part that asks is drawn again by itself soon.
    if st.session_state.get(_WHOLE):
        return
    st.session_state[_CLOCK] = True
    st.rerun()


@st.fragment(run_every=3.0)
def _watch(n_endings: int) -> None:
    if len(opened()[1].endings) != n_endings:
        draw_again()
