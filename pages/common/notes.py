"""Words and files from outside, safe to show and to keep; and how to read what is shown."""

import logging
import re
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from flipcore.core.errors import AccessDenied, FlipscopeError
from flipcore.datasets.reading.rows import MAX_UPLOAD_MB
from flipcore.store.uploads import keep_upload

# Streamlit's own refusal of a larger file is an icon, so the limit stands where a file is chosen
UPLOAD_LIMIT = f"at most {MAX_UPLOAD_MB} MB (split a larger file)"
RETRO = "Send items of a retro set, too"  # the label of the box
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~$:])")
_ADDRESS = re.compile(r"(?i)(https?:|www(?=\.)|@(?=[\w-]+\.))")
_P_VALUE = re.compile(r"\bp ([=<>]) (?=\.\d)")  # no line ends inside one


def plain(text: object) -> str:
    """Text from data, escaped so that Markdown shows it letter by letter; a p-value stays on one line, and an address is no link:
    Markdown makes links of bare ones after it took escapes away, so that a joiner without width stands inside of them."""
    return _SPECIAL.sub(r"\\\1", _ADDRESS.sub("\\1\u2060", _P_VALUE.sub("p\u00a0\\1\u00a0", str(text))))


@contextmanager
def shown_problem():
    """A mistake that a user can mend becomes its sentence on the page; nothing else is swallowed."""
    try:
        yield
    except FlipscopeError as error:
        st.error(plain(error), icon=":material/error:")


def saved_upload(upload) -> Path:
    """An upload kept beside the database."""
    return keep_upload(upload.name, upload.getvalue())


def how_to_read(text: str, *, example: str = "", title: str = "How to read this") -> None:
    """`text` is Markdown of the page's own, a test counts its words; `example` puts the page's numbers into it."""
    with st.expander(title, icon=":material/menu_book:"):
        st.markdown(text)
        if example:
            st.markdown(f"**Here:** {plain(example)}")
        st.markdown("[Glossary: terms, formulas and papers](glossary)")


LOG = logging.getLogger("flipscope")


def tell(error: Exception) -> bool:
    """A fault of ours on a page: shows a sentence in the place of the traceback, which goes to the server's log; True tells Streamlit
    that the error has been shown. What the person may not do is no fault of ours."""
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
