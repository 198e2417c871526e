"""Drafts of studies that other pages hand over to New study."""

import streamlit as st

from flipcore.runs.asking_again import Draft


def offer_draft(key: str, draft: Draft) -> dict[str, str]:
    """Keep a draft under `key`, and return the parameters of the link that opens it."""
    drafts = st.session_state.setdefault("offered-drafts", {})
    # New study keeps the changes to the draft that it shows, unless another draft takes its key.
    if drafts.get(key) != draft and st.session_state.get("draft-of") == key:
        del st.session_state["draft-of"]
    drafts[key] = draft
    return {"from_study": key}


def open_draft(key: str, draft: Draft) -> None:
    """Open New study with a draft."""
    st.switch_page("new_study/page.py", query_params=offer_draft(key, draft))


def offered_draft(key: str) -> Draft | None:
    """Return the draft that a page has kept under `key`; None without one."""
    return st.session_state.get("offered-drafts", {}).get(key)
