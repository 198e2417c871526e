"""A fault of ours on a page: said in a sentence and written to the server's log, never shown as a traceback."""

import logging

import streamlit as st

from flipcore.core.errors import AccessDenied
from pages.common.notes import plain

LOG = logging.getLogger("flipscope")


def tell(error: Exception) -> bool:
    """Shows the sentence in the place of the traceback; True tells Streamlit that the error has been shown. What the person may not
    do is no fault of ours."""
    if isinstance(error, AccessDenied):
        st.error(plain(error), icon=":material/lock:")
        return True
    LOG.error("A page failed", exc_info=error)
    st.error(
        f"This page met a fault of Flipscope's own ({type(error).__name__}). Nothing that was stored is lost. Reload the page, or "
        "choose another study; the details are in the terminal in which the dashboard was started.",
        icon=":material/bug_report:",
    )
    return True
