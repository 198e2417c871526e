"""Logs of other harnesses become one study: what was recognised, each guess to correct, and the import with progress."""

from pathlib import Path

import streamlit as st

from flipcore.commands.import_outputs import are_logs, why_no_log
from flipcore.runs.harnesses.coming_back import store_survey
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_survey import Survey, preview_row, survey
from flipcore.store.uploads import keep_together
from pages.common import session
from pages.common.computing import computed
from pages.common.notes import UPLOAD_LIMIT, plain, shown_problem
from pages.common.tables import show_table
from pages.studies.correcting_logs import corrections
from pages.studies.import_progress import run_import


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
                for sentence in why_no_log(paths):
                    st.info(plain(sentence), icon=":material/table:")


def upload_folder(uploads: list) -> list[str]:
    """The uploads as one folder, names kept, because results files are found by the names of their samples."""
    folder = keep_together([(one.name, one.getvalue()) for one in uploads])
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
        if study_id := run_import(lambda *progress: store_survey(log_survey, session.store(), *progress)):
            st.switch_page("audit/page.py", query_params={"study": study_id})


@computed("Looking at every row")
@st.cache_data(show_spinner=False, max_entries=4)
def _survey(paths: tuple[str, ...], words: tuple[str, ...]) -> Survey:
    return survey(paths, corrections_of(words))
