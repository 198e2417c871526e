"""Merging results that were made elsewhere."""

from __future__ import annotations

import streamlit as st

from flipcore.datasets.reading.rows import MAX_UPLOAD_MB
from flipcore.store.merge import merge
from pages.common import session
from pages.common.notes import plain, saved_upload, shown_problem


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
                for sentence in merge([saved_upload(upload) for upload in uploads], session.store()).sentences():
                    st.markdown(plain(sentence))
