"""Flips: where do answers flip, and is it the model or the extractor?"""

import streamlit as st

from pages.common import every_choice, screen
from pages.common.header import page_header
from pages.common.showing import plain
from pages.flips import map, map_data, parts

PARTS = {"Map": map.show, "Parts": parts.show, every_choice.TITLE: every_choice.show_flips}

study_id = page_header("flips", fits=lambda study: study.changes_prompts)
if study_id is not None and (reason := map_data.why_nothing_was_read(study_id)):
    st.markdown(f"## {plain(reason)}")
    st.caption("Under Studies, Resume asks only the calls that failed.")
elif study_id is not None and map_data.asked_once(study_id):
    map.show_asked_once(study_id)
elif study_id is not None:
    line = st.container(horizontal=True, vertical_alignment="center", gap="small", key="view-line")
    part = screen.segments("Show", list(PARTS), "show", place=line)
    PARTS[part](study_id, line)
