"""A study's headline, computed again only when something new was committed."""

from __future__ import annotations

import streamlit as st

from flipcore.reports.flips import Headline, claimed_headline
from flipcore.reports.memory import memory_headline as memory_computed
from flipcore.stats.memory.rewritten import harness_accuracy
from flipcore.store.queries import pairs as pair_queries
from pages.common import gates, session


def headline(study_id: str) -> Headline:
    """What may be claimed of a study; what has not passed its gate is left out, and named."""
    study = session.declared(study_id)
    closed = gates.closed(study_id, (part.name for part in study.axes), (part.name for part in study.extractors))
    revision, models = session.store().revision(study_id), session.study_row(study_id)["models"]
    return _headline(study_id, revision, len(models), tuple(closed), session.temperature(study_id, models[0]))


@st.cache_data(show_spinner=False, max_entries=64)
def _headline(study_id: str, revision: int, n_models: int, closed: tuple[str, ...], heat: float | None) -> Headline:
    return claimed_headline(session.readouts(study_id, revision), closed, n_models, heat)


def memory_headline(study_id: str) -> str:
    """What the detectors see, of a study that compares items with controls; else empty."""
    study = session.declared(study_id)
    closed = gates.closed(study_id, (part.name for part in study.axes), ())
    return _memory_headline(study_id, session.store().revision(study_id), tuple(closed.items()))


@st.cache_data(show_spinner=False, max_entries=64)
def _memory_headline(study_id: str, revision: int, closed: tuple[tuple[str, str], ...]) -> str:
    frame, items = session.readouts(study_id, revision, everything=True), session.study_items(study_id)
    pairs = pair_queries.control_pairs(session.store())
    claim = memory_computed(frame, session.declared(study_id), items, dict(closed), pairs)
    return claim.text if claim else ""


def harness_headline(study_id: str) -> str:
    """What rotation adds to a single vote, of the first model of a study that was asked so; else empty."""
    if session.declared(study_id).protocol.name != "rotation":
        return ""
    return _harness_headline(study_id, session.store().revision(study_id))


@st.cache_data(show_spinner=False, max_entries=64)
def _harness_headline(study_id: str, revision: int) -> str:
    frame = session.readouts(study_id, revision, everything=True)
    accuracy = harness_accuracy(frame[frame["model"] == frame["model"].iloc[0]]) if len(frame) else None
    return accuracy.sentence() if accuracy else ""
