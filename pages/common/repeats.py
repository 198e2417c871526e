"""Where items repeat a template that nobody declared: claims take them as independent, on whichever page they stand."""

from __future__ import annotations

import streamlit as st

from flipcore.text.templates import repeated_templates
from pages.common import session
from pages.common.notes import plain


def show(study_id: str) -> None:
    """A warning where there are such items."""
    if warning := _warning(study_id, session.store().revision(study_id)):
        st.warning(plain(warning), icon=":material/content_copy:")


@st.cache_data(show_spinner=False, max_entries=24)
def _warning(study_id: str, revision: int) -> str:
    items = session.study_items(study_id)
    return repeated_templates(list(items["question"]), list(items["family"]))
