"""Cached cells of the flip map, and the sentence above it."""

from __future__ import annotations

import streamlit as st

from flipcore.claims.claim import Claim
from flipcore.reports.flips import surface_claim
from flipcore.stats.flips import surface
from flipcore.stats.flips.surface import Cells
from pages.common import gates, session
from pages.common.headline import headline


def index_of(names: list[str], name: str, otherwise: int) -> int:
    return names.index(name) if name in names else otherwise % len(names)


def leading_extractor(study_id: str) -> str:
    """The extractor of which the study's card speaks."""
    flips = headline(study_id).flips
    return flips.extractor if flips is not None else "first_token"


def questions(study_id: str) -> dict[str, str]:
    items = session.study_items(study_id)
    return dict(zip(items["item_id"], items["question"], strict=True))


def families(study_id: str) -> dict[str, str]:
    """Item -> the template or source that it shares with others, or itself."""
    items = session.study_items(study_id)
    return dict(zip(items["item_id"], items["family"], strict=True))


def cells(study_id: str, model: str, field: str, faithful: str, axis: str | None) -> tuple[Cells, Cells]:
    """Both readouts' cells on the same rows and columns, computed again only when something new came."""
    return _cells(study_id, session.store().revision(study_id), model, field, faithful, axis)


@st.cache_resource(show_spinner=False, max_entries=16)
def _cells(study_id: str, revision: int, model: str, field: str, faithful: str, axis: str | None) -> tuple[Cells, Cells]:
    frame = session.readouts(study_id, revision)
    frame = frame[frame["model"] == model]
    order = list(dict.fromkeys(frame["item_id"]))
    if axis is None:
        return surface.aligned(surface.surface(frame, field), surface.surface(frame, faithful), order)
    return surface.aligned(surface.opened(frame, axis, field), surface.opened(frame, axis, faithful), order)


def answer(study_id: str, model: str, field: str, faithful: str, axis: str | None) -> Claim:
    """The page's answer: which part of what flips is larger, with what qualifies it."""
    declared = session.declared(study_id)
    closed = gates.closed(study_id, (part.name for part in declared.axes), (part.name for part in declared.extractors))
    revision = session.store().revision(study_id)
    return _answer(study_id, revision, model, field, faithful, axis, tuple(closed.items()))


@st.cache_data(show_spinner=False, max_entries=32)
def _answer(study_id: str, revision: int, model: str, field: str, faithful: str, axis: str | None, closed: tuple) -> Claim:
    frame = session.readouts(study_id, revision)
    heat = session.temperature(study_id, model)
    return surface_claim(frame[frame["model"] == model], field, faithful, axis, dict(closed), heat)
