"""Cached reports of the Ranking page."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from flipcore.boards import ranking as boards
from flipcore.reports.by_model import FlipPanels, ModelFlips, flip_panels, flips_by_model
from flipcore.reports.memory import MemoryTest
from flipcore.reports.ranking import RankingReport, ranking_report, roles_of
from flipcore.reports.whole_study import whole_study
from pages.common import gates, session
from pages.common.computing import computed


@dataclass(frozen=True)
class View:
    """What the page shows: `lock` is the id of a lock or None, `closed_gates` what gates withhold."""

    study_id: str
    lock: str | None
    reference: str
    role: str
    closed_gates: tuple[tuple[str, str], ...]
    revision: int

    def readouts(self):
        return session.readouts(self.study_id, self.revision, lock=self.lock)


def view_of(study_id: str, lock: str | None, reference: str, role: str) -> View:
    """With the gates as they are now."""
    declared = session.declared(study_id)
    closed_gates = gates.closed_gates(study_id, (one.name for one in declared.axes), (one.name for one in declared.extractors))
    return View(study_id, lock, reference, role, tuple(closed_gates.items()), session.store().revision(study_id))


def roles(study_id: str, lock: str | None) -> list[str]:
    return roles_of(session.readouts(study_id, lock=lock))


@computed("Comparing the models")
@st.cache_resource(show_spinner=False, max_entries=16)
def report(view: View, level: float) -> RankingReport | None:
    return ranking_report(view.readouts(), view.reference, dict(view.closed_gates), view.role or None, level)


@st.cache_resource(show_spinner=False, max_entries=16)
def board(view: View, level: float) -> dict:
    one = report(view, level)
    return boards.board(one, level) if one else {}


@st.cache_resource(show_spinner=False, max_entries=16)
def panels(view: View, extractor: str) -> FlipPanels:
    return flip_panels(view.readouts(), extractor)


@computed("Splitting the flips")
@st.cache_resource(show_spinner=False, max_entries=16)
def flips(view: View) -> list[ModelFlips]:
    heat = {use.name: use.temperature for use in session.declared(view.study_id).models}
    return flips_by_model(view.readouts(), view.reference, dict(view.closed_gates), heat)


@computed("Testing for memory")
@st.cache_resource(show_spinner=False, max_entries=8)
def memory(study_id: str, revision: int) -> dict[str, list[MemoryTest]]:
    return whole_study(session.store(), study_id).report.memory
