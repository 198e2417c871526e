"""Report: what do I hand on?"""

import streamlit as st

from pages.common.header import page_header
from pages.common.notes import how_to_read
from pages.report.parts import show_dataset, show_methods, show_report, show_sentences, show_tables

PARTS = {
    "Report": show_report,
    "Sentences": show_sentences,
    "Methods": show_methods,
    "Tables": show_tables,
    "Dataset": show_dataset,
}

study_id = page_header("Report", "What do I hand on?")
if study_id is not None:
    part = st.segmented_control(
        "Part", list(PARTS), default="Report", key="part", bind="query-params", required=True, label_visibility="collapsed"
    )
    PARTS[part](study_id)
how_to_read(
    "The **report** says what the pages say, behind the same gates and locks. The same study gives the same file, letter by letter. "
    "**Methods** name every interval with its n, level and seed, and the papers. A **table** comes as CSV, Markdown or LaTeX with "
    "booktabs. The **dataset** leaves out what may not be passed on, and says how much that is."
)
