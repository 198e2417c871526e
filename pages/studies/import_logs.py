"""Logs of other harnesses become one study: what was recognised, each guess to correct, and the import with progress."""

from __future__ import annotations

import threading
from pathlib import Path

import streamlit as st

from flipcore.core.errors import FlipscopeError
from flipcore.datasets.recorded.log_files import store_uploads
from flipcore.runs.harnesses.coming_back import store_survey
from flipcore.runs.import_command import are_logs
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import ImportProgress
from flipcore.runs.log_survey import Survey, preview_row, survey
from flipcore.store.uploads import uploads_folder
from pages.common import session
from pages.common.notes import UPLOAD_LIMIT, plain, shown_problem
from pages.common.tables import show_table
from pages.studies.correcting_logs import corrections


def section() -> None:
    """The uploader of logs and what it leads to."""
    uploads = st.file_uploader(
        f"Logs of Inspect, lm-evaluation-harness, HELM, lighteval, Every Eval Ever and others, {UPLOAD_LIMIT}",
        key="log-files",
        accept_multiple_files=True,
        help="One file, several, or a zip; results files beside their samples. Larger ones: python -m flipcore import FOLDER.",
    )
    if uploads:
        with shown_problem():
            paths = upload_folder(uploads)
            if are_logs(paths, ()):
                offer(paths)
            else:
                st.info("No known log is among these. Use the field below for a table of outputs.", icon=":material/table:")


def upload_folder(uploads: list) -> list[str]:
    """The uploads as one folder, names kept, because results files are found by the names of their samples."""
    folder = store_uploads(uploads_folder(), [(one.name, one.getvalue()) for one in uploads])
    return [str(folder)]


def offer(paths: list[str]) -> None:
    """What lies in the files, corrected as the command line does, and the button."""
    key = Path(paths[0]).name
    base = _survey(tuple(paths), ())
    words = corrections(base, key)
    log_survey = _survey(tuple(paths), tuple(words)) if words else base
    for sentence in log_survey.sentences():
        st.markdown(plain(sentence))
    if log_survey.refusals:
        with st.popover(f"Rows that were refused: {log_survey.n_refused:,}", icon=":material/warning:"):
            show_table("refused-logs", [{"why": sentence} for sentence in log_survey.refusals])
    show_table("first-of-log", [preview_row(one) for one in log_survey.first])
    if st.button("Import as a study", type="primary", key="log-import", icon=":material/download_done:"):
        _run_import(log_survey)


@st.cache_data(show_spinner="Looking at every row …", max_entries=4)
def _survey(paths: tuple[str, ...], words: tuple[str, ...]) -> Survey:
    return survey(paths, corrections_of(words))


def _run_import(log_survey: Survey) -> None:
    """The import in this run of the script: Streamlit's own Stop ends it after the batch in hand, and it goes on from there."""
    bar, stop = st.progress(0.0, "Storing …"), threading.Event()

    def on_progress(progress: ImportProgress) -> None:
        bar.progress(
            min(1.0, progress.n_done / max(1, progress.n_all)), f"{progress.n_done:,} of {progress.n_all:,} rows stored"
        )

    try:
        study_id = store_survey(log_survey, session.store(), on_progress, stop)
    except FlipscopeError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    st.switch_page("audit/page.py", query_params={"study": study_id})
