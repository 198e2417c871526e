"""What to do with a log next: read its texts again, or ask its items in other ways."""

import streamlit as st

from flipcore.extractors import EXTRACTORS
from flipcore.extractors.pattern import DEFAULT
from flipcore.runs.asking_again import asked_again
from flipcore.runs.rereading import CAN_REREAD, reread
from pages.audit import judging
from pages.common import session
from pages.common.notes import shown_problem


def buttons(study_id: str) -> None:
    """All of them, in one row under the headline."""
    with st.container(horizontal=True, vertical_alignment="center"):
        _read_again(study_id)
        judging.button(study_id)
        if st.button("Ask again", icon=":material/replay:", help="Opens New study with these items and this model."):
            with shown_problem():
                _ask_again(study_id)
        st.page_link("studies/page.py", label="All studies", icon=":material/folder_open:")


def _read_again(study_id: str) -> None:
    with st.popover("Read again", icon=":material/find_replace:"):
        st.markdown("Reads the stored texts with another extractor. No model is called, and what was read before stays.")
        name = st.selectbox("Extractor", CAN_REREAD, format_func=lambda one: EXTRACTORS[one].title, key="reread-extractor")
        params = {}
        if name == "pattern":
            params["expression"] = st.text_input("Regular expression", DEFAULT, key="reread-pattern", max_chars=500)
            params["group"] = st.text_input("Group that holds the answer", "1", key="reread-group", max_chars=40)
        if st.button("Read the stored texts", type="primary", key="reread-now"):
            with shown_problem(), st.spinner("Reading …"):
                reread(session.store(), study_id, name, params)
                st.rerun()


def _ask_again(study_id: str) -> None:
    draft = asked_again(session.store(), study_id)
    st.session_state.setdefault("offered-drafts", {})[f"again-{study_id}"] = draft.study
    st.session_state.setdefault("draft-notes", {})[f"again-{study_id}"] = draft.notes
    st.switch_page("new_study/page.py", query_params={"from_study": f"again-{study_id}"})
