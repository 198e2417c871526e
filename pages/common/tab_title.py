"""The title of the browser's tab: studies that ended since the person last did something."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from flipcore.core.errors import FlipscopeError
from flipcore.runs.progress import window_title
from pages.common.opened import is_open, open_store_and_registry

# Keys of the session state. Studies that ended are counted from the start of the server.
_N_SEEN, _N_LAST = "endings-old", "endings-last"
_IS_AUTOMATIC, _IS_DRAWING = "drawn-by-clock", "page-is-being-drawn"


def begin() -> None:
    """Set the title and the icon of the tab before the store is open."""
    # The browser would fetch a named icon from a server of Google's on every visit.
    page_icon = Path(__file__).parents[1] / "components/icon.svg"
    st.set_page_config(page_title="Flipscope", page_icon=page_icon, layout="wide")


@contextmanager
def around_page() -> Iterator[None]:
    """Set the title around the drawing of a page."""
    # On a fresh start the page comes first, because its heading need not wait for the store.
    is_title_last = not is_open.is_set()
    if not is_title_last:
        _show()
    # Tells `draw_again` not to interrupt the page.
    st.session_state[_IS_DRAWING] = True
    try:
        yield
    finally:
        st.session_state[_IS_DRAWING] = False
    if is_title_last:
        _show()


def _show() -> None:
    """Show in the title the studies that ended.

    A study stays in the title until the person does something that draws the page again.
    """
    try:
        registry = open_store_and_registry()[1]
    except FlipscopeError:
        # The page shows this error itself.
        return
    endings = registry.endings
    n = len(endings)
    n_seen = st.session_state.setdefault(_N_SEEN, n)
    # An automatic redraw does not mean that the person has seen the title.
    is_automatic = st.session_state.pop(_IS_AUTOMATIC, False)
    if not is_automatic and st.session_state.get(_N_LAST) == n:
        n_seen = st.session_state[_N_SEEN] = n
    st.session_state[_N_LAST] = n
    st.set_page_config(
        page_title=window_title([(ending.name, ending.state) for ending in endings[n_seen:]])
    )
    # Only a running study can end.
    if registry.running():
        _watch(n)


def draw_again() -> None:
    """Draw the page again although the person did nothing, because a study changed."""
    # A rerun while the whole page is drawn would swallow the click that caused the drawing. The
    # calling fragment runs again soon and asks once more.
    if st.session_state.get(_IS_DRAWING):
        return
    st.session_state[_IS_AUTOMATIC] = True
    st.rerun()


@st.fragment(run_every=3.0)
def _watch(n_endings: int) -> None:
    if len(open_store_and_registry()[1].endings) != n_endings:
        draw_again()
