"""A study's headline, computed again only when something new was committed."""

from __future__ import annotations

import streamlit as st

from flipcore.stats.headline import Headline
from flipcore.stats.headline import headline as computed
from pages.common import session


def headline(study_id: str) -> Headline:
    return _headline(study_id, session.store().revision(study_id), len(session.study_row(study_id)["models"]))


@st.cache_data(show_spinner=False, max_entries=64)
def _headline(study_id: str, revision: int, n_models: int) -> Headline:
    return computed(session.readouts(study_id, revision), n_models)
