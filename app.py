"""Names the pages and runs the chosen one; nothing else."""

from pathlib import Path

import streamlit as st

# a named icon as page icon would be fetched from a server of Google's on every visit
st.set_page_config(page_title="Flipscope", page_icon=Path(__file__).parent / "pages/components/icon.svg", layout="wide")

PAGES = [
    st.Page(
        "pages/studies/page.py",
        title="Studies",
        icon=":material/science:",
        url_path="studies",
        default=True,
        help="What have we measured, and what did it say?",
    ),
    st.Page(
        "pages/new_study/page.py",
        title="New study",
        icon=":material/add_circle:",
        url_path="new_study",
        help="What do you want to know about which model?",
    ),
    st.Page(
        "pages/flip_surface/page.py",
        title="Flip surface",
        icon=":material/grid_on:",
        url_path="flip_surface",
        help="Where do answers flip, and is it the model or the readout?",
    ),
    st.Page(
        "pages/decomposition/page.py",
        title="Decomposition",
        icon=":material/stacked_bar_chart:",
        url_path="decomposition",
        help="How much of the instability is genuine?",
    ),
    st.Page(
        "pages/memorization/page.py",
        title="Memorization",
        icon=":material/memory:",
        url_path="memorization",
        help="Is the score memory?",
    ),
    st.Page(
        "pages/holdout/page.py",
        title="Holdout",
        icon=":material/join:",
        url_path="holdout",
        help="Could these have come from the same source?",
    ),
    st.Page(
        "pages/audit/page.py",
        title="Audit",
        icon=":material/fact_check:",
        url_path="audit",
        help="What does this log say, and does it hold?",
    ),
    st.Page(
        "pages/paraphrase_review/page.py",
        title="Paraphrase review",
        icon=":material/rate_review:",
        url_path="paraphrase_review",
        help="Is this the same question?",
    ),
    st.Page(
        "pages/survey/page.py",
        title="Survey",
        icon=":material/quiz:",
        url_path="survey",
        visibility="hidden",
        help="Which one comes from the second set?",
    ),
]

chosen = st.navigation(PAGES, position="top")
st.session_state["navigated"] = True
wanted = st.session_state.pop("wanted", None)
if wanted:
    st.switch_page(wanted["page"], query_params=wanted["query"])
chosen.run()
