"""Cached statistics of the Memory page, all from one frame.

The drop gap, the loss test, PEARL, and the verdicts of all detectors.
"""

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from flipcore import detectors
from flipcore.claims.memory_sets import any_cutoff_claim
from flipcore.core.records import WRITTEN_ANSWER
from flipcore.extractors import VALUES
from flipcore.models import model_cards
from flipcore.reports import memory
from flipcore.stats.memory import frames
from flipcore.stats.memory.drop_gap_analysis import DropGap as Gap
from flipcore.stats.memory.gap_power import GapDesign, design_of, detectable_gap
from flipcore.stats.memory.loss_analysis import DEFAULT_RULE, LossTest
from flipcore.stats.memory.loss_test import FEWEST_CONTROLS
from flipcore.stats.memory.members import Members
from flipcore.stats.memory.pearl_alpha import Setting
from flipcore.stats.memory.pearl_analysis import Pearl
from flipcore.store.queries import pairs as pair_queries
from pages.common import gates, modes, record, session
from pages.common.answers import measurements
from pages.common.showing import plain


@dataclass(frozen=True)
class View:
    """The settings of the page: hashable, so that every statistic is computed once for them."""

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
        return _of_kind(self, self.lock).copy(deep=False)

    @property
    def all_kinds(self) -> pd.DataFrame:
        study = session.declared(self.study_id)
        rows = frames.with_reference(
            session.readouts(self.study_id, lock=self.lock, everything=True), study
        )
        return frames.compared_sets(rows[rows["model"] == self.model], study)

    @property
    def item_roles(self) -> tuple[str, ...]:
        return tuple(frames.roles_of(self.frame)[0])

    @property
    def control_roles(self) -> tuple[str, ...]:
        return tuple(frames.roles_of(self.frame)[1])


@session.cached(max_entries=8)
def _of_kind(view: View, lock: str | None) -> pd.DataFrame:
    # The lock is part of the key: the view says only whether there is one.
    rows = view.all_kinds
    return rows[rows["kind"] == view.kind]


def readouts_of(view: View) -> list[str]:
    """Return the extractors of answers, the reference first."""
    # The reference first, because it is what opens.
    return sorted(
        set(view.frame["extractor"].unique()) - set(VALUES),
        key=lambda name: (name != WRITTEN_ANSWER, name),
    )


def gaps_of(view: View) -> dict[str, detectors.DropGap]:
    return {detector.axis: detector for detector in detectors.drop_gaps_in(view.frame)}


def lines_of(view: View) -> dict[str, detectors.ScoreDetector]:
    """Return the detectors with one score per item that this study has, by name."""
    return {
        detector.name: detector
        for detector in detectors.lines_in(view.frame)
        if detectors.has_scores(detector, view.frame, view.item_roles)
    }


def members(view: View) -> Members:
    """Return facts about the study's items.

    Options, templates, stored pairs, and what the controls are declared to be.
    """
    study, items = session.declared(view.study_id), session.study_items(view.study_id)
    return memory.members_of(
        study,
        items,
        pair_queries.control_pairs(session.store(), view.study_id, view.lock),
        view.model,
    )


def _analysis(view: View, detector: detectors.Detector, **settings):
    """Return what a detector's line is drawn from, at the settings of the page."""
    settings |= memory.settings_of(detector, session.declared(view.study_id), view.model)
    return detectors.analysis_of(
        detector, view.frame, view.item_roles, view.control_roles, members(view), **settings
    )


@session.cached("Resampling the items", 32)
def gap(view: View, operator: str, extractor: str, margin: float) -> Gap:
    return _analysis(view, gaps_of(view)[operator], extractor=extractor, margin=margin)


@session.cached(max_entries=32)
def losses(view: View, name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return one row per judged and per compared item, as that detector scores it."""
    detector, frame = detectors.DETECTORS[name], view.frame
    return detectors.item_scores(detector, frame, view.item_roles), detectors.item_scores(
        detector, frame, view.control_roles
    )


@session.cached(max_entries=32)
def loss(view: View, measure: str) -> LossTest:
    return _analysis(view, detectors.DETECTORS[measure])


@session.cached("Comparing the continuations", 32)
def sensitivities(view: View, detector: detectors.Pearl, rule: str, fpr: float) -> Pearl:
    """Return PEARL on the judged texts, its alpha from the compared ones."""
    return _analysis(view, detector, rule=rule, fpr=fpr)


def setting_of(view: View, metric: str, axis: str) -> Setting:
    """Return everything that alpha depends on, as the study declares it."""
    return memory.pearl_setting(session.declared(view.study_id), view.model, metric, axis)


def flags(view: View, settings: dict) -> dict[str, dict[str, bool]]:
    """Detector -> item -> flagged, of the judged items.

    A detector that cannot be computed on this study is left out.
    """
    by_detector: dict[str, dict[str, bool]] = {}
    for name, detector in lines_of(view).items():
        if len(losses(view, name)[1]) >= FEWEST_CONTROLS:
            test = loss(view, name)
            by_detector[detector.title] = dict(
                zip(test.item_ids, test.flagged[DEFAULT_RULE].tolist(), strict=True)
            )
    for pearls in detectors.pearls_in(view.frame):
        scores = sensitivities(view, pearls, settings["rule"], settings["fpr"])
        by_detector[pearls.title] = dict(zip(scores.item_ids, scores.flagged.tolist(), strict=True))
    for drop in detectors.drop_gaps_in(view.frame):
        # One extractor, the reference, because an item is flagged once per detector.
        for readout in readouts_of(view)[:1]:
            rows = drop.scores(view.frame, view.item_roles, readout)
            # An item that was wrong before cannot break.
            right = rows[rows["before"] == 1]
            by_detector[drop.title] = dict(
                zip(right["item_id"], (right["drop"] > 0).tolist(), strict=True)
            )
    return by_detector


def scores(view: View) -> dict[str, dict[str, float]]:
    """Detector -> item -> score, large where memory is suspected.

    Judged and compared items are together.
    """
    roles = (*view.item_roles, *view.control_roles)
    by_detector = {
        detector.title: detectors.item_scores(detector, view.frame, roles)
        for detector in (*lines_of(view).values(), *detectors.pearls_in(view.frame))
    }
    for drop in detectors.drop_gaps_in(view.frame):
        for name in readouts_of(view)[:1]:
            by_detector[drop.title] = drop.scores(view.frame, roles, name)
    return {
        title: dict(zip(rows["item_id"], rows["d"], strict=True))
        for title, rows in by_detector.items()
        if len(rows)
    }


# All detectors of a model as one family, and what the study could find at all.


@session.cached("Simulating what this study could find", 32)
def detectable(view: View, operator: str, extractor: str, margin: float) -> tuple[GapDesign, float]:
    """Return the study's design and the smallest gap that its rule finds four times in five."""
    design = design_of(gap(view, operator, extractor, margin).sides, members(view).control)
    return design, detectable_gap(design, n_runs=100)


def tests(
    view: View, margin: float, operator: str = "", extractor: str = WRITTEN_ANSWER
) -> list[memory.MemoryTest]:
    """Return the verdicts on the model in view, within the family of all models.

    With an `operator` its gap is read by `extractor` and comes first.
    """
    # Verdicts are corrected over all models, so all are computed.
    return family(view, margin, operator, extractor)[view.model]


def family(
    view: View, margin: float, operator: str = "", extractor: str = WRITTEN_ANSWER
) -> dict[str, list[memory.MemoryTest]]:
    # A copy: what is remembered stays as it is.
    by_model = dict(measurements(view.study_id, view.lock))
    # Only the gap depends on the extractor that was chosen, so the others stay as they were cached.
    if operator:
        decided = gap(view, operator, extractor, margin).decided
        by_model[view.model] = memory.with_gap(by_model[view.model], view.kind, operator, decided)
    axes: set[str] = set()
    for model_measurements in by_model.values():
        axes |= {measurement.axis for measurement in model_measurements}
    closed_gates = gates.closed_gates(view.study_id, axes, (), view.lock)
    return memory.family_tests(
        by_model, session.declared(view.study_id).control, closed_gates, margin
    )


def verdict(view: View, margin: float, name: str) -> memory.MemoryTest | None:
    for memory_test in tests(view, margin):
        measurement = memory_test.measurement
        if measurement and measurement.kind == view.kind and measurement.name == name:
            return memory_test
    return None


# `_test` is not hashed: the key names the view, the detector and the items that it came from.
@session.computed("Testing every cut-off")
@st.cache_data(show_spinner=False, max_entries=32)
def _any_cutoff_p(key: tuple, _test: LossTest | Pearl) -> float:
    return _test.any_cutoff_p()


def say_dragged(
    test: memory.MemoryTest | None, view: View, scores: LossTest | Pearl, margin: float
) -> list[str]:
    """Say what every cut-off together shows; return it for the record."""
    if test is None or test.measurement is None:
        return []
    # After a drag the declared cut-off no longer decides.
    p = memory.moved_p(
        family(view, margin), test, _any_cutoff_p((view, test.detector, test.items), scores)
    )
    claim = any_cutoff_claim(
        p, session.declared(view.study_id).control, test.claim.withheld, test.n_family
    )
    st.markdown(plain(claim.text))
    return [claim.text]


def keep_dragged(
    view: View,
    mode: str,
    name: str,
    start: dict,
    sentences: list[str],
    moved: dict | None,
    decision: dict | None,
    about: dict,
) -> None:
    """Keep and log a move on a line whose place is the setting `name`, or offer a decision.

    A decision comes with what the page says and what is looked at (`about`).
    """
    record.log_move(view.study_id, moved)
    if decision:
        said_here = {
            "sentences": [*sentences, *decision["sentences"]],
            name: decision.get("cutoff"),
        }
        decision = decision | {"model": view.model} | about | said_here
    record.offer(view.study_id, "memorization", mode, decision)
    modes.remember(
        view.study_id, "memorization", start, moved and about | {name: moved.get("cutoff")}
    )


def warn_without_fresh_controls(view: View, control_ids) -> None:
    """Warn next to a verdict if too few of its controls are known to be unseen."""
    card = model_cards().get(view.model)
    warning = memory.fresh_control_warning(
        session.study_items(view.study_id),
        list(control_ids),
        session.doses(view.study_id),
        card.cutoff if card else None,
    )
    if warning:
        st.warning(plain(warning), icon=":material/new_releases:")


def say(test: memory.MemoryTest | None, *more: str) -> list[str]:
    """Show a verdict, its further claims, and their small print; return the sentences to record."""
    claims = [] if test is None else [test.claim, *test.further]
    # The verdict is the headline; what more is claimed stands below it.
    for i, claim in enumerate(claims):
        st.markdown(f"{'' if i else '## '}{plain(claim.text)}")
    st.caption(plain(" ".join([*(claim.detail for claim in claims), *more])))
    return [claim.text for claim in claims]
