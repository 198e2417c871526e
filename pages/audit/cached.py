"""The audit of a study, computed again only when something new was committed."""

from __future__ import annotations

import streamlit as st

from flipcore.reports.audit import Audit
from flipcore.reports.audit import audit as computed
from pages.common import session


def audit(study_id: str) -> Audit:
    return _audit(study_id, session.store().revision(study_id))


@st.cache_data(show_spinner="Looking at every row …", max_entries=8)
def _audit(study_id: str, revision: int) -> Audit:
    return computed(session.store(), study_id)
