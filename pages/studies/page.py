"""Studies: what have we measured, and what did it say?"""

import streamlit as st

from flipcore.annotation.paraphrases.from_elsewhere import merge_files
from flipcore.datasets.reading.rows import MAX_UPLOAD_MB
from flipcore.reports.study import matches
from pages.common import session
from pages.common.header import page_header
from pages.common.notes import how_to_read, plain, saved_upload, shown_problem
from pages.studies import card, import_outputs, questions, queue


def merge_button() -> None:
    """Merge database files from other machines into this one; ids are hashes, so it is a union."""
    with st.popover("Merge results", icon=":material/merge:"):
        st.markdown(
            "Database files that other machines wrote. What is already here is kept once. Larger ones: "
            "`python -m flipcore merge FILE` while the dashboard is closed."
        )
        uploads = st.file_uploader(
            f"DuckDB files, at most {MAX_UPLOAD_MB} MB each", type=["duckdb"], accept_multiple_files=True, key="merge-files"
        )
        if uploads and st.button("Merge", type="primary", key="merge-now"):
            with shown_problem():
                for sentence in merge_files([saved_upload(upload) for upload in uploads], session.store()):
                    st.markdown(plain(sentence))


page_header("studies", choose=False)

with st.container(horizontal=True, vertical_alignment="center"):
    st.page_link("new_study/page.py", label="New study", icon=":material/add_circle:")
    merge_button()
    words = st.text_input(
        "Find", key="find", bind="query-params", placeholder="name or model", label_visibility="collapsed", width=260
    )
look = st.container()
import_outputs.section()
queue.section()


# what runs is read before the rows: a study that ends between the two is drawn again, not called stopped
running = set(session.registry().running())
rows = session.all_studies().to_dict("records")
hits = [row for row in rows if matches(row, words)]
if not rows:
    st.info("Nothing has been measured yet. Declare a study to begin.", icon=":material/science:")
elif not hits:
    st.info(f"None of the {len(rows):,} studies has that in its name or models.", icon=":material/search_off:")
with st.container(key="cards"):
    for row in hits:
        card.card(row, row["study_id"] in running)
how_to_read(
    "Each card is one study. Its headline says whether more of what flips is artifact (under the compared extractor alone) "
    "or genuine (under the reference extractor). The bar shows pairs that flip under the compared extractor alone, under "
    "both, and under the reference alone, over all axes. Noise floors are a line, the reference's a diamond. Intervals are "
    "95 %; items are resampled. *Partial* studies are unbiased, because items are asked in random order."
)
with look:
    questions.strip(rows, running)
