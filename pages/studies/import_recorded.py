"""Outputs that were recorded elsewhere become a study: what was guessed about the columns, corrected, checked, imported."""

from dataclasses import replace
from pathlib import Path

import streamlit as st

from flipcore.core.errors import FlipscopeError
from flipcore.datasets.recorded.columns import columns_of, guessed, looked_at, unused
from flipcore.datasets.recorded.outputs import Recording
from flipcore.runs.importing import imported, preview_row, store_imported
from pages.common import session
from pages.common.computing import computed
from pages.common.notes import UPLOAD_LIMIT, plain, saved_upload, shown_problem
from pages.common.tables import show_table
from pages.studies import import_logs
from pages.studies.import_progress import run_import
from pages.studies.recorded_columns import recorded_columns, recorded_fields


def section() -> None:
    """The whole of it, folded away until somebody wants it."""
    with st.expander("Import recorded outputs", icon=":material/upload_file:"):
        import_logs.section()
        st.divider()
        st.markdown(
            "Or a table of outputs that were made elsewhere, several versions of each question: one output a row, or one question a "
            "row with its versions in numbered columns. They become a study like any other; nothing is asked "
            "again. Each output needs its prompt, and the generated text or the scores of the first token. Where there are options, "
            "a right answer, or names of item, variant and model, add them."
        )
        upload = st.file_uploader(
            f"JSONL, JSON, CSV or Parquet, {UPLOAD_LIMIT}", key="recorded-file", type=["jsonl", "json", "csv", "tsv", "parquet"]
        )
        if upload is not None:
            with shown_problem():
                _columns_step(saved_upload(upload), Path(upload.name).stem)


def _columns_step(path: Path, name: str) -> None:
    """The guessed columns to correct, what they give, and the button."""
    first = replace(guessed(str(path)), dataset=name)
    rows = looked_at(str(path))
    st.caption("Guessed from the first rows; correct what is wrong.")
    nested = st.text_input(
        "Numbered columns begin with",
        first.nested,
        key=f"recorded-nested-{path.stem}",
        help="Where one row holds all versions of a question: shuffle_0, shuffle_1. Empty: one output a row.",
    )
    columns = columns_of(rows, nested)
    recording = recorded_fields(recorded_columns(replace(first, nested=nested), columns, path.stem), columns, path.stem)
    if left_out := unused(recording, columns):
        st.caption(plain(f"Not used: {', '.join(left_out)}."))
    left, right = st.columns(2)
    if not recording.models:
        model = left.text_input("Model", recording.model, key=f"recorded-model-{path.stem}")
        recording = replace(recording, model=model or "recorded model")
    title = right.text_input("Name of the study", f"{name}, recorded", key=f"recorded-name-{path.stem}")
    _offer(path, recording, title)


@computed("Reading the outputs")
@st.cache_data(show_spinner=False, max_entries=4)
def _outputs(path: str, recording: Recording, title: str):
    """(the outputs, None) or (None, the sentence that says why not)."""
    try:
        return imported(path, recording, title), None
    except FlipscopeError as error:
        return None, str(error)


def _offer(path: Path, recording: Recording, title: str) -> None:
    outputs, problem = _outputs(str(path), recording, title)
    if problem:
        st.error(plain(problem), icon=":material/error:")
        return
    st.markdown(plain(outputs.sentence))
    if outputs.refusals:
        with st.popover(f"Rows that were refused: {outputs.n_refused:,}", icon=":material/warning:"):
            show_table("refused-outputs", [{"line": line, "why": why} for line, why in outputs.refusals])
    show_table("first-outputs", [preview_row(record, outputs.readouts) for record in outputs.first])
    if st.button("Import as a study", type="primary", key="recorded-import", icon=":material/download_done:") and run_import(
        lambda *progress: store_imported(outputs, session.store(), *progress)
    ):
        st.rerun()
