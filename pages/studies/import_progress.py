"""An import in this run of the script, with its progress: Streamlit's own Stop ends it after the batch in hand, and it goes on from
there."""

import threading
from collections.abc import Callable

import streamlit as st

from flipcore.core.errors import FlipscopeError
from flipcore.runs.log_import import ImportProgress
from pages.common.notes import plain

Importer = Callable[[Callable[[ImportProgress], None], threading.Event], str]


def run_import(store: Importer) -> str:
    """The study's id, or "" where it could not be stored, after the sentence that says why."""
    bar, stop = st.progress(0.0, "Storing …"), threading.Event()

    def on_progress(progress: ImportProgress) -> None:
        bar.progress(
            min(1.0, progress.n_done / max(1, progress.n_all)), f"{progress.n_done:,} of {progress.n_all:,} rows stored"
        )

    try:
        return store(on_progress, stop)
    except FlipscopeError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return ""
