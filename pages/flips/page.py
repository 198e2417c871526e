"""Flips: where do answers flip, and is it the model or the extractor?"""

import streamlit as st

from flipcore.reports.flips import asked_once, why_nothing_was_read
from pages.common import screen, session
from pages.common.header import page_header
from pages.common.showing import plain
from pages.flips import map, parts

PARTS = {"Map": map.show, "Parts": parts.show}

study_id = page_header("flips", fits=lambda study: study.changes_prompts)
if study_id is not None and (reason := why_nothing_was_read(session.readouts(study_id))):
    st.markdown(f"## {plain(reason)}")
    st.caption("Under Studies, Resume asks only the calls that failed.")
elif study_id is not None and asked_once(session.readouts(study_id)):
    map.show_asked_once(study_id)
elif study_id is not None:
    line = st.container(horizontal=True, vertical_alignment="center", gap="small", key="view-line")
    part = screen.segments("Show", list(PARTS), "show", place=line)
    PARTS[part](study_id, line)
