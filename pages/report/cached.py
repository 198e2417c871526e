"""What the Report page hands on, made again only when something new was committed."""

from __future__ import annotations

import streamlit as st

from flipcore.handouts.contents import Contents, contents
from flipcore.handouts.dataset import DatasetFolder, dataset_folder
from flipcore.handouts.document import report
from pages.common import session


def report_file(study_id: str, n_outputs: int) -> str:
    """The report as HTML."""
    return _report_file(study_id, n_outputs, session.store().revision(study_id))


@st.cache_resource(show_spinner="Writing the report …", max_entries=2)
def _report_file(study_id: str, n_outputs: int, revision: int) -> str:
    return report(session.store(), study_id, n_outputs)


def study_contents(study_id: str) -> Contents:
    """The numbers and claims that methods and tables are made of."""
    return _study_contents(study_id, session.store().revision(study_id))


@st.cache_resource(show_spinner="Computing every estimate …", max_entries=2)
def _study_contents(study_id: str, revision: int) -> Contents:
    return contents(session.store(), study_id, 0)


def dataset(study_id: str, license: str, language: str) -> DatasetFolder:
    """The study as a dataset's files."""
    return _dataset(study_id, license, language, session.store().revision(study_id))


@st.cache_resource(show_spinner="Packing the answers …", max_entries=2)
def _dataset(study_id: str, license: str, language: str, revision: int) -> DatasetFolder:
    return dataset_folder(session.store(), study_id, license, language)
