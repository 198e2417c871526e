"""Cached cells of the flip map, and the sentence above it."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from flipcore.access.acting import require
from flipcore.access.levels import Permission
from flipcore.claims.claim import Claim
from flipcore.core.records import FIRST_TOKEN
from flipcore.reports.flips import surface_claim
from flipcore.stats.flips import label_mass, surface
from flipcore.stats.flips.surface import Cells, Choices
from pages.common import cells as shared
from pages.common import gates, session
from pages.common.headline import headline


@dataclass(frozen=True)
class View:
    """What the flip map shows and how: everything that its link says. `opened` are axes whose variants stand beside them,
    `group` is "", "category", "template" or "model"."""

    study_id: str
    model: str
    field: str
    faithful: str
    titles: tuple[str, str]
    opened: tuple[str, ...] = ()
    group: str = ""
    is_difference: bool = False
    sort: str = "field"
    sort_title: str = ""
    search: str = ""
    flips_only: bool = False

    @property
    def models(self) -> tuple[str, ...]:
        """The models whose rows stand on the map: all of the study where they are the groups."""
        return tuple(use.name for use in session.declared(self.study_id).models) if self.group == "model" else (self.model,)


def leading_extractor(study_id: str) -> str:
    """The extractor of which the study's card speaks."""
    flips = headline(study_id).flips
    return flips.extractor if flips is not None else FIRST_TOKEN


def questions(study_id: str) -> dict[str, str]:
    return _column(study_id, session.store().revision(study_id), "question")


def families(study_id: str) -> dict[str, str]:
    """Item -> the template or source that it shares with others, or itself."""
    return _column(study_id, session.store().revision(study_id), "family")


def categories(study_id: str) -> dict[str, str]:
    return _column(study_id, session.store().revision(study_id), "category")


def of_model(study_id: str, revision: int, model: str) -> pd.DataFrame:
    """The study's readouts of one model."""
    require(Permission.READ)
    return _of_model(study_id, revision, model).copy(deep=False)


@st.cache_resource(show_spinner=False, max_entries=24)
def _of_model(study_id: str, revision: int, model: str) -> pd.DataFrame:
    frame = session.readouts(study_id, revision)
    return frame[frame["model"] == model]


def choices(study_id: str) -> Choices:
    """What the study's readouts offer to choose from."""
    require(Permission.READ)
    return _choices(study_id, session.store().revision(study_id))


@st.cache_resource(show_spinner=False, max_entries=24)
def _choices(study_id: str, revision: int) -> Choices:
    return surface.choices(session.readouts(study_id, revision))


@st.cache_resource(show_spinner=False, max_entries=24)
def _column(study_id: str, revision: int, name: str) -> dict[str, str]:
    items = session.study_items(study_id)
    return dict(zip(items["item_id"], items[name].fillna("").astype(str), strict=True))


@st.cache_data(show_spinner=False, max_entries=32)
def label_warnings(study_id: str, revision: int, model: str) -> list[str]:
    """Where labels cannot be read as first tokens at all."""
    return label_mass.unreadable_labels(of_model(study_id, revision, model))


def cells(study_id: str, model: str, field: str, faithful: str, axis: str | None = None) -> tuple[Cells, Cells]:
    """Both readouts' cells on the same rows and columns, computed again only when something new came: of all axes, or of the
    variants of one."""
    return _cells(study_id, session.store().revision(study_id), model, field, faithful, axis)


@st.cache_resource(show_spinner=False, max_entries=48)
def _cells(study_id: str, revision: int, model: str, field: str, faithful: str, axis: str | None) -> tuple[Cells, Cells]:
    frame = of_model(study_id, revision, model)
    order = list(frame["item_id"].unique())
    if axis is None:
        return surface.aligned(surface.surface(frame, field), surface.surface(frame, faithful), order)
    return surface.aligned(surface.opened(frame, axis, field), surface.opened(frame, axis, faithful), order)


def answer(study_id: str, model: str, field: str, faithful: str, axis: str | None) -> Claim:
    """The page's answer: which part of what flips is larger, with what qualifies it."""
    declared = session.declared(study_id)
    closed_gates = gates.closed_gates(
        study_id, (part.name for part in declared.axes), (part.name for part in declared.extractors)
    )
    revision = session.store().revision(study_id)
    return _answer(study_id, revision, model, field, faithful, axis, tuple(closed_gates.items()))


@st.cache_data(show_spinner=False, max_entries=32)
def _answer(
    study_id: str, revision: int, model: str, field: str, faithful: str, axis: str | None, closed_gates: tuple
) -> Claim:
    heat = session.temperature(study_id, model)
    estimates = shared.estimates(study_id, revision, model, faithful)
    return surface_claim(of_model(study_id, revision, model), field, faithful, axis, dict(closed_gates), heat, estimates)
