"""Studies: what have we measured, and what did it say?"""

import streamlit as st

from flipcore.store.queries import studies
from pages.common import session
from pages.common.header import page_header
from pages.studies import card, files, import_recorded

page_header("Studies", "What have we measured, and what did it say?", choose=False)

with st.container(horizontal=True, vertical_alignment="center"):
    st.page_link("new_study/page.py", label="New study", icon=":material/add_circle:")
    files.merge_button()
    words = st.text_input(
        "Find", key="find", bind="query-params", placeholder="name or model", label_visibility="collapsed", width=260
    )
import_recorded.section()


@st.fragment(run_every=2.0 if session.registry().running() else None)
def cards() -> None:
    """All studies, newest first; while one runs, this part alone is drawn again every two seconds."""
    rows = studies.studies(session.store()).to_dict("records")
    matches = [row for row in rows if card.matches(row, words)]
    if not rows:
        st.info("Nothing has been measured yet. Declare a study to begin.", icon=":material/science:")
    elif not matches:
        st.info(f"None of the {len(rows):,} studies has that in its name or models.", icon=":material/search_off:")
    for row in matches:
        card.card(row)


cards()

with st.expander("How to read this"):
    st.markdown(
        "Each card is one declared study. The first sentence is its headline: is more of what flips between harmless versions "
        "of an item artifact (under the compared extractor alone) or genuine (under the reference extractor)? The bar shows "
        "the pairs that flip under the compared extractor alone, under both, and under the reference alone, "
        "averaged over axes. Intervals are 95 %, items are the unit of resampling. *Partial* studies are shown as they come: items "
        "are asked in random order, so the part that is there is unbiased."
    )
