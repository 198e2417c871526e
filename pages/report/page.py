"""Report and decisions: what do I hand on?"""

import streamlit as st

from flipcore.core.command_line import command
from flipcore.reports.exports.data_files import sentences
from flipcore.reports.exports.dataset import dataset_folder
from flipcore.reports.exports.document import MAX_OUTPUTS, N_OUTPUTS, report
from flipcore.reports.exports.methods_text import methods_text
from flipcore.reports.exports.result_tables import tables
from flipcore.text.tables import FORMATS, table_text
from pages.common import gates, screen, session
from pages.common.answers import PageStudy, study_contents
from pages.common.header import page_header
from pages.common.headline import leading_sentences
from pages.common.showing import how_to_read, offer_file, plain, show_nothing_yet, shown_problem
from pages.report.decisions import show_decisions

# Format of a table -> language for syntax highlighting.
LANGUAGES = {"csv": None, "md": "markdown", "tex": "latex"}


def show_report(study_id: str) -> None:
    """Show the study's sentences, and offer to write the report as one file."""
    for sentence in (*leading_sentences(study_id), *_sentences_of_other_models(study_id)):
        st.markdown(f"## {plain(sentence)}")
    with (
        screen.reserved_space("report", 0, 150),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        n_outputs = st.number_input(
            "Raw outputs behind each claim",
            0,
            MAX_OUTPUTS,
            N_OUTPUTS,
            key="report-outputs",
            width=220,
        )
        pressed = st.button(
            "Write the report", type="primary", icon=":material/description:", key="report-write"
        )
    if pressed:
        with shown_problem():
            # Not cached, because decisions and moves of a threshold change no revision.
            with st.spinner("Writing the report …"):
                text = report(session.store(), study_id, n_outputs)
            # Charts and outputs make the file large, so show its size before the download.
            size = f"{len(text.encode()) / 1e6:.1f} MB"
            offer_file(
                f"Save the report ({size})",
                text,
                f"{study_id}.html",
                "text/html",
                key="report-file",
            )
    st.caption(
        plain(
            "One HTML file that opens without a server or a network: the claims, figures and "
            "tables, thresholds that still move, "
            f"the outputs, methods and data. On the command line: {command('report')} {study_id}"
        )
    )


@session.cached("Counting the flips", max_entries=4, revision=gates.revision_with_labels)
def _sentences_of_other_models(study_id: str) -> list[str]:
    if len(session.study_row(study_id)["models"]) < 2:
        return []
    return PageStudy(session.store(), study_id).sentences_of_other_models()


@session.cached("Counting every way", max_entries=4, revision=gates.revision_with_labels)
def _sentences(study_id: str) -> list[str]:
    return sentences(study_contents(study_id))


def show_sentences(study_id: str) -> None:
    """Show every claim with its numbers, each with a button that copies it."""
    with shown_problem():
        for sentence in _sentences(study_id):
            st.code(sentence, language=None, wrap_lines=True)


def show_methods(study_id: str) -> None:
    """Show the methods paragraph and its BibTeX, each with a button that copies it."""
    with shown_problem():
        methods = methods_text(study_contents(study_id))
        st.code(methods.text, language=None, wrap_lines=True)
        with st.container(height=260, border=False):
            st.code(methods.bibtex, language="latex")
        offer_file("Save the BibTeX", methods.bibtex, f"{study_id}.bib", key="bibtex-file")


def show_tables(study_id: str) -> None:
    """Show one table of results, as CSV, Markdown or LaTeX for a paper."""
    with shown_problem():
        tables_by_title = {table.title: table for table in tables(study_contents(study_id))}
        if not tables_by_title:
            show_nothing_yet()
            return
        with st.container(horizontal=True, vertical_alignment="bottom"):
            title = st.selectbox(
                "Table",
                list(tables_by_title),
                key="report-table",
                bind="query-params",
                width=320,
                format_func=plain,
            )
            format = screen.segments(
                "Format",
                list(FORMATS),
                "report-format",
                default="csv",
                label_visibility="visible",
                format_func=FORMATS.__getitem__,
            )
            table = tables_by_title[title]
            text = table_text(table.rows, format, table.caption)
            offer_file("Save", text, f"{study_id}-{table.name}.{format}", key="report-save")
        with st.container(height=420, border=False):
            st.code(text, language=LANGUAGES[format])
        st.caption(plain(table.caption))


def show_dataset(study_id: str) -> None:
    """Offer the study as a zip that holds a dataset for the Hugging Face hub."""
    st.markdown(
        "Readouts, items and completions as Parquet with a card: `datasets.load_dataset` loads "
        "the folder. Nobody is named. Items "
        "whose licence is not known are left out, unless you may publish them and name it."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        license = st.text_input(
            "Licence of your own items",
            max_chars=40,
            key="report-license",
            placeholder="cc-by-4.0",
            width=220,
        )
        language = st.text_input("Language", "en", max_chars=12, key="report-language", width=90)
        pressed = st.button(
            "Pack the dataset", type="primary", icon=":material/folder_zip:", key="report-pack"
        )
    if pressed:
        with shown_problem():
            with st.spinner("Packing the answers …"):
                folder = dataset_folder(
                    session.store(), study_id, license.strip(), language.strip()
                )
            st.markdown(plain(folder.sentence))
            offer_file(
                "Save the dataset",
                folder.zipped(),
                f"{study_id}-dataset.zip",
                "application/zip",
                key="dataset-file",
            )
    st.caption(plain(f"On the command line: {command('publish')} {study_id} --folder FOLDER"))


PARTS = {
    "Report": show_report,
    "Sentences": show_sentences,
    "Methods": show_methods,
    "Tables": show_tables,
    "Dataset": show_dataset,
}
# This part shows the decisions of all studies, including deleted ones.
DECISIONS = "Decisions"

# The header needs a selector of studies unless the part is Decisions, and the control that chooses
# the part stands below the header. So reserve the place of the header first.
header = st.container()
with st.container(horizontal=True, vertical_alignment="center", key="view-line"):
    part = screen.segments("Part", [*PARTS, DECISIONS], "part")
with header:
    study_id = page_header("report", choose=part != DECISIONS)
if part == DECISIONS:
    show_decisions()
else:
    if study_id is not None:
        PARTS[part](study_id)
    how_to_read(
        "The **report** says what the pages say, behind the same gates and locks. The same study "
        "gives the same file, letter by letter. **Methods** name every interval with its n, level "
        "and seed, and the papers. A **table** comes as CSV, Markdown or LaTeX with booktabs. The "
        "**dataset** leaves out what may not be passed on, and says how much that is."
    )
