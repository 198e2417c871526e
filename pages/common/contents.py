"""The numbers that methods and tables are made of, computed again only when something new was committed."""

from __future__ import annotations

import streamlit as st

from flipcore.reports.whole_study import WholeStudy, whole_study
from flipcore.store.queries import judges
from pages.common import session
from pages.common.computing import computed


def study_contents(study_id: str) -> WholeStudy:
    """The numbers and claims that methods and tables are made of."""
    store = session.store()
    return _study_contents(study_id, store.revision(study_id), judges.n_label_rows(store))


@computed("Computing every estimate")
@st.cache_resource(show_spinner=False, max_entries=2)
def _study_contents(study_id: str, revision: int, n_labels: int) -> WholeStudy:
    return whole_study(session.store(), study_id)
