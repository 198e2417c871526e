"""Outputs that were recorded elsewhere become a study: what was recognised, each guess to correct, and the import with progress."""

from pathlib import Path

import streamlit as st

from flipcore.claims.memory_gap import CONTROL_TITLES
from flipcore.core.study import CONTROLS, OTHER_CONTROL
from flipcore.datasets.reading.log_files import Source
from flipcore.runs.harnesses.coming_back import store_survey
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_survey import Survey, preview_row, survey, tables_in
from flipcore.store.uploads import keep_together
from pages.common import session
from pages.common.computing import computed
from pages.common.notes import UPLOAD_LIMIT, plain, shown_problem
from pages.common.tables import show_table
from pages.studies.correcting_logs import corrections
from pages.studies.import_progress import run_import
from pages.studies.recorded_columns import column_words


def section() -> None:
    """The whole of it, folded away until somebody wants it."""
    with st.expander("Import recorded outputs", icon=":material/upload_file:"):
        st.markdown(
            "Logs of Inspect, lm-evaluation-harness, HELM, lighteval, Every Eval Ever and others, or tables of outputs (JSONL, JSON, CSV, "
            "Parquet): one output a row, or one question a row with its versions in numbered columns. They become a study like any "
            "other; nothing is asked again. Of a table, each output needs its prompt, and the generated text or the scores of the first "
            "token. Where there are options, a right answer, or names of item, variant and model, add them."
        )
        uploads = st.file_uploader(
            f"Logs or tables, {UPLOAD_LIMIT}",
            key="log-files",
            accept_multiple_files=True,
            help="One file, several, or a zip; results files beside their samples. Larger ones: python -m flipcore import FOLDER.",
        )
        if uploads:
            with shown_problem():
                offer(upload_folder(uploads))


def upload_folder(uploads: list) -> list[str]:
    """The uploads as one folder, names kept, because results files are found by the names of their samples."""
    folder = keep_together([(one.name, one.getvalue()) for one in uploads])
    return [str(folder)]


def offer(paths: list[str]) -> None:
    """What lies in the files, corrected as the command line does, and the button."""
    key = Path(paths[0]).name
    if tables := _tables(tuple(paths)):
        log_survey = _survey(tuple(paths), (*column_words(tables[0], key), *_control(key)), True)
    else:
        base = _survey(tuple(paths), (), False)
        words = [*corrections(base, key), *_control(key)]
        log_survey = _survey(tuple(paths), tuple(words), False) if words else base
    for sentence in log_survey.sentences():
        st.markdown(plain(sentence))
    if log_survey.refusals:
        with st.popover(f"Rows that were refused: {log_survey.n_refused:,}", icon=":material/warning:"):
            show_table("refused-logs", [{"why": sentence} for sentence in log_survey.refusals])
    show_table("first-of-log", [preview_row(one) for one in log_survey.first])
    if st.button("Import as a study", type="primary", key="log-import", icon=":material/download_done:"):
        if study_id := run_import(lambda *progress: store_survey(log_survey, session.store(), *progress)):
            st.switch_page("audit/page.py", query_params={"study": study_id})


def _control(key: str) -> list[str]:
    """What the controls are, which decides what may be said of memory; the word that `--map` takes."""
    control = st.selectbox(
        "The controls are",
        CONTROLS,
        CONTROLS.index(OTHER_CONTROL),
        key=f"log-control-{key}",
        format_func=CONTROL_TITLES.__getitem__,
        help="For Memorization, where items have the roles benchmark and control. Only a random split of the benchmark's own source, or "
        "pairs, allow the word memory.",
    )
    return [f"control={control}"] if control != OTHER_CONTROL else []


@st.cache_data(show_spinner=False, max_entries=4)
def _tables(paths: tuple[str, ...]) -> list[Source]:
    return [one for one in tables_in(paths) if one.size]


@computed("Looking at every row")
@st.cache_data(show_spinner=False, max_entries=4)
def _survey(paths: tuple[str, ...], words: tuple[str, ...], of_tables: bool) -> Survey:
    return survey(paths, corrections_of(words, of_tables))
