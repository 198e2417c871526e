"""Cached statistics of the Memorization page: one frame, and from it the drop gap, the loss test and PEARL."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from flipcore.extractors import VALUES, title_of
from flipcore.reports.memory import members_of, pearl_setting
from flipcore.stats.memory import frames
from flipcore.stats.memory.cut_gap import gap_of_frame
from flipcore.stats.memory.drop_gap_analysis import DropGap
from flipcore.stats.memory.loss_analysis import DEFAULT_RULE, LossTest, loss_test
from flipcore.stats.memory.loss_test import FEWEST_CONTROLS
from flipcore.stats.memory.members import Members
from flipcore.stats.memory.pearl_alpha import Setting
from flipcore.stats.memory.pearl_analysis import Pearl, pearl
from flipcore.stats.memory.pearl_analysis import sensitivities as pearl_sensitivities
from flipcore.store.queries import pairs as pair_queries
from pages.common import session
from pages.memorization.titles import NAMES, SIMILAR


@dataclass(frozen=True)
class View:
    """What is looked at: hashable, so that every statistic is computed once for it."""

    study_id: str
    revision: int
    model: str
    kind: str
    confirmatory: bool

    @property
    def lock(self) -> str | None:
        return session.lock_id(self.study_id, "memorization") if self.confirmatory else None

    @property
    def frame(self) -> pd.DataFrame:
        rows = self.all_kinds
        return rows[rows["kind"] == self.kind]

    @property
    def all_kinds(self) -> pd.DataFrame:
        """What the model answered on every kind of items."""
        rows = session.readouts(self.study_id, self.revision, lock=self.lock, everything=True)
        return rows[rows["model"] == self.model]

    @property
    def judged(self) -> tuple[str, ...]:
        return tuple(frames.roles_of(self.frame)[0])

    @property
    def compared(self) -> tuple[str, ...]:
        return tuple(frames.roles_of(self.frame)[1])


def readouts_of(view: View) -> list[str]:
    """Readouts of answers, the reference first."""
    return sorted(set(view.frame["extractor"]) - set(VALUES), key=lambda name: (name != "regex", name))


def measures_of(view: View, among: tuple[str, ...]) -> list[str]:
    return [name for name in among if name in set(view.frame["extractor"])]


def members(view: View) -> Members:
    """What is known of the study's items: options, templates, stored pairs, and what the controls are declared to be."""
    study, items = session.declared(view.study_id), session.study_items(view.study_id)
    return members_of(study, items, pair_queries.control_pairs(session.store(), view.study_id, view.lock))


@st.cache_resource(show_spinner="Resampling the items …", max_entries=32)
def gap(view: View, operator: str, extractor: str, margin: float) -> DropGap:
    return gap_of_frame(view.frame, operator, extractor, view.judged, view.compared, members(view), margin)


@st.cache_resource(show_spinner=False, max_entries=32)
def losses(view: View, measure: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One row an item of the judged and of the compared."""
    return frames.losses(view.frame, measure, view.judged), frames.losses(view.frame, measure, view.compared)


@st.cache_resource(show_spinner=False, max_entries=32)
def loss(view: View, measure: str, alpha: float = 0.05) -> LossTest:
    judged, compared = losses(view, measure)
    return loss_test(judged["item_id"].tolist(), judged["d"], compared["d"], alpha)


@st.cache_resource(show_spinner="Comparing the continuations …", max_entries=32)
def sensitivities(view: View, metric: str, rule: str, fpr: float, axis: str = "bit_flip") -> tuple[Pearl, int]:
    """PEARL on the judged texts, its alpha from the compared ones; and how many texts are not complete yet."""
    frame = view.frame
    scores, left_out = frames.pearl_scores(frame, metric, view.judged, axis)
    control_scores, control_left_out = frames.pearl_scores(frame, metric, view.compared, axis)
    return pearl(scores, control_scores, setting_of(view, metric, axis), fpr, rule), left_out + control_left_out


def setting_of(view: View, metric: str, axis: str) -> Setting:
    """Everything that alpha depends on, as the study declares it."""
    return pearl_setting(session.declared(view.study_id), view.model, metric, axis)


def pearls_of(view: View) -> list[tuple[str, str, str]]:
    """(axis, metric, title) of every PEARL that was asked."""
    return [
        (axis, metric, f"PEARL{'' if axis == 'bit_flip' else ', summaries'}, {SIMILAR.get(metric, metric)}")
        for axis in frames.tasks(view.frame)
        for metric in measures_of(view, frames.SIMILARITIES)
    ]


def flags(view: View, settings: dict) -> dict[str, dict[str, bool]]:
    """Detector -> item -> flagged, of the judged items; a detector that cannot be computed on this study is left out."""
    by_detector: dict[str, dict[str, bool]] = {}
    for measure in measures_of(view, frames.LOSSES):
        if len(losses(view, measure)[0]) and len(losses(view, measure)[1]) >= FEWEST_CONTROLS:
            test = loss(view, measure)
            by_detector[title_of(measure)] = dict(zip(test.item_ids, test.flagged[DEFAULT_RULE].tolist(), strict=True))
    for axis, metric, title in pearls_of(view):
        judged = sensitivities(view, metric, settings["rule"], settings["fpr"], axis)[0]
        by_detector[title] = dict(zip(judged.item_ids, judged.flagged.tolist(), strict=True))
    for operator in frames.operators(view.frame):
        for readout in readouts_of(view)[:1]:
            rows = frames.drop_rows(frames.rewritten(view.frame, operator, readout, view.judged))
            right = rows[rows["before"] == 1]
            by_detector[f"Broke when {NAMES[operator]}"] = dict(
                zip(right["item_id"], (right["drop"] > 0).tolist(), strict=True)
            )
    return by_detector


def scores(view: View) -> dict[str, dict[str, float]]:
    """Detector -> item -> score, large where memory is suspected, of judged and compared items together."""
    by_detector: dict[str, dict[str, float]] = {}
    for measure in measures_of(view, frames.LOSSES):
        both = pd.concat(losses(view, measure))
        if len(both):
            by_detector[title_of(measure)] = dict(zip(both["item_id"], both["d"], strict=True))
    for axis, metric, title in pearls_of(view):
        mine, _ = frames.pearl_scores(view.frame, metric, (*view.judged, *view.compared), axis)
        by_detector[title] = dict(zip(mine, pearl_sensitivities(mine).tolist(), strict=True))
    for operator in frames.operators(view.frame):
        for readout in readouts_of(view)[:1]:
            rows = frames.drop_rows(frames.rewritten(view.frame, operator, readout, (*view.judged, *view.compared)))
            by_detector[f"Drop, {NAMES[operator]}"] = dict(zip(rows["item_id"], rows["drop"], strict=True))
    return by_detector
