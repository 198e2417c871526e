"""A study's headline, computed again only when something new was committed."""

from __future__ import annotations

import streamlit as st

from flipcore.stats.headline import Headline
from flipcore.stats.headline import headline as computed
from flipcore.stats.memory_headline import memory_headline as memory_computed
from pages.common import session


def headline(study_id: str) -> Headline:
    return _headline(study_id, session.store().revision(study_id), len(session.study_row(study_id)["models"]))


@st.cache_data(show_spinner=False, max_entries=64)
def _headline(study_id: str, revision: int, n_models: int) -> Headline:
    return computed(session.readouts(study_id, revision), n_models)


def memory_headline(study_id: str) -> str:
    """What the detectors flag, of a study that compares items with controls; else empty."""
    return _memory_headline(study_id, session.store().revision(study_id))


@st.cache_data(show_spinner=False, max_entries=64)
def _memory_headline(study_id: str, revision: int) -> str:
    return memory_computed(session.readouts(study_id, revision, everything=True))
