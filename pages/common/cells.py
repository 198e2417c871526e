"""What several parts of a page count from the same readouts, counted once a study revision for all who look."""

from __future__ import annotations

import streamlit as st

from flipcore.access.acting import require
from flipcore.access.levels import Permission
from flipcore.stats.flips.coded_answers import CodedAnswers, coded_answers
from flipcore.stats.flips.decomposition import Decomposition, decompositions
from pages.common import session


def answers(study_id: str, revision: int, model: str, lock: str | None = None) -> CodedAnswers:
    """The coded answers of one model, under a lock where one is named."""
    require(Permission.READ)  # what is remembered was read by somebody else
    return _answers(study_id, revision, model, lock)


def estimates(study_id: str, revision: int, model: str, reference: str) -> list[Decomposition]:
    """T, G and A of every axis and extractor, without tests, as the headline and the Flip surface read them."""
    require(Permission.READ)
    return _estimates(study_id, revision, model, reference)


@st.cache_resource(show_spinner=False, max_entries=12)
def _answers(study_id: str, revision: int, model: str, lock: str | None) -> CodedAnswers:
    frame = session.readouts(study_id, revision, lock=lock)
    return coded_answers(frame[frame["model"] == model])


@st.cache_resource(show_spinner=False, max_entries=24)
def _estimates(study_id: str, revision: int, model: str, reference: str) -> list[Decomposition]:
    return decompositions(answers(study_id, revision, model), reference, tests=False)
