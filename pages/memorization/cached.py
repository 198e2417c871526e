"""Cached statistics of the Memory page: drop gap, loss test, PEARL and verdicts.

"Judged" items may have been trained on; they are compared with controls.
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
from flipcore.stats.memory.drop_gap_analysis import DropGap as DropGapAnalysis
from flipcore.stats.memory.gap_power import GapDesign, design_of, detectable_gap
from flipcore.stats.memory.loss_analysis import DEFAULT_RULE, LossTest
from flipcore.stats.memory.loss_test import MIN_CONTROLS
from flipcore.stats.memory.members import Members
from flipcore.stats.memory.pearl_alpha import Setting
from flipcore.stats.memory.pearl_analysis import Pearl
from flipcore.store.queries import pairs as pair_queries
from pages.common import gates, modes, record, session
from pages.common.answers import measurements
from pages.common.showing import plain


@dataclass(frozen=True)
class View:
    """The settings of the page, hashable, because they are the key of the caches.

    `kind` is the kind of items, or the task of a recording. `confirmatory` is True in locked mode,
    which reads the items that were set aside.
    """

    study_id: str
    revision: int
    model: str
    kind: str
    confirmatory: bool

    @property
    def lock(self) -> str | None:
        """Return the id of the page's lock ("" without one); None unless in locked mode."""
        return session.lock_id(self.study_id, "memorization") if self.confirmatory else None

    @property
    def frame(self) -> pd.DataFrame:
        """Return the model's readouts of items of this kind."""
        return _of_kind(self, self.lock).copy(deep=False)

    @property
    def all_kinds(self) -> pd.DataFrame:
        """Return the model's readouts of items of all kinds."""
        study = session.declared(self.study_id)
        readouts = session.readouts(self.study_id, lock=self.lock, everything=True)
        rows = frames.with_reference(readouts, study)
        return frames.compared_sets(rows[rows["model"] == self.model], study)

    @property
    def item_roles(self) -> tuple[str, ...]:
        """Return the roles of the judged items."""
        return tuple(frames.roles_of(self.frame)[0])

    @property
    def control_roles(self) -> tuple[str, ...]:
        """Return the roles of the controls."""
        return tuple(frames.roles_of(self.frame)[1])


@session.cached(max_entries=8)
def _of_kind(view: View, lock: str | None) -> pd.DataFrame:
    # `lock` is part of the cache's key, because the view only says whether there is one.
    rows = view.all_kinds
    return rows[rows["kind"] == view.kind]


def answer_extractors(view: View) -> list[str]:
    """Return the extractors of answers, the default (the written answer) first."""
    return sorted(
        set(view.frame["extractor"].unique()) - set(VALUES),
        key=lambda name: (name != WRITTEN_ANSWER, name),
    )


def drop_gaps(view: View) -> dict[str, detectors.DropGap]:
    """Return axis -> detector, of the rewriting axes that this study has."""
    return {detector.axis: detector for detector in detectors.drop_gaps_in(view.frame)}


def score_detectors(view: View) -> dict[str, detectors.ScoreDetector]:
    """Return name -> detector, of the detectors with one score per item that this study has."""
    return {
        detector.name: detector
        for detector in detectors.score_detectors_in(view.frame)
        if detectors.has_scores(detector, view.frame, view.item_roles)
    }


def members(view: View) -> Members:
    """Return facts about the items: options, templates, stored pairs and the kind of controls."""
    study, items = session.declared(view.study_id), session.study_items(view.study_id)
    pairs = pair_queries.control_pairs(session.store(), view.study_id, view.lock)
    return memory.members_of(study, items, pairs, view.model)


def _analysis(view: View, detector: detectors.Detector, **settings):
    """Return the detector's analysis at the settings of the page and of the study."""
    settings |= memory.settings_of(detector, session.declared(view.study_id), view.model)
    return detectors.analysis_of(
        detector, view.frame, view.item_roles, view.control_roles, members(view), **settings
    )


@session.cached("Resampling the items", max_entries=32)
def gap_analysis(view: View, operator: str, extractor: str, margin: float) -> DropGapAnalysis:
    """Return the drop gap of a rewriting axis (`operator`); `margin` is a share."""
    return _analysis(view, drop_gaps(view)[operator], extractor=extractor, margin=margin)


@session.cached(max_entries=32)
def losses(view: View, name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return one row per judged item and one row per control, with that detector's scores."""
    detector, frame = detectors.DETECTORS[name], view.frame
    item_rows = detectors.item_scores(detector, frame, view.item_roles)
    control_rows = detectors.item_scores(detector, frame, view.control_roles)
    return item_rows, control_rows


@session.cached(max_entries=32)
def loss(view: View, measure: str) -> LossTest:
    """Return the test of a detector with one score per item; `measure` is its name."""
    return _analysis(view, detectors.DETECTORS[measure])


@session.cached("Comparing the continuations", max_entries=32)
def sensitivities(view: View, detector: detectors.Pearl, rule: str, fpr: float) -> Pearl:
    """Return PEARL on the judged texts, with its cut-off alpha from the controls."""
    return _analysis(view, detector, rule=rule, fpr=fpr)


def setting_of(view: View, metric: str, axis: str) -> Setting:
    """Return the study's settings on which alpha depends."""
    return memory.pearl_setting(session.declared(view.study_id), view.model, metric, axis)


def flags(view: View, settings: dict) -> dict[str, dict[str, bool]]:
    """Return detector -> judged item -> whether it is flagged.

    Detectors that this study cannot use are left out.
    """
    by_detector: dict[str, dict[str, bool]] = {}
    for name, detector in score_detectors(view).items():
        if len(losses(view, name)[1]) >= MIN_CONTROLS:
            test = loss(view, name)
            by_detector[detector.title] = dict(
                zip(test.item_ids, test.flagged[DEFAULT_RULE].tolist(), strict=True)
            )
    for pearls in detectors.pearls_in(view.frame):
        scores = sensitivities(view, pearls, settings["rule"], settings["fpr"])
        by_detector[pearls.title] = dict(zip(scores.item_ids, scores.flagged.tolist(), strict=True))
    for drop in detectors.drop_gaps_in(view.frame):
        # One extractor only, because a detector flags an item once.
        for extractor in answer_extractors(view)[:1]:
            rows = drop.scores(view.frame, view.item_roles, extractor)
            # An item that was wrong before cannot break.
            right_before = rows[rows["before"] == 1]
            is_broken = (right_before["drop"] > 0).tolist()
            by_detector[drop.title] = dict(zip(right_before["item_id"], is_broken, strict=True))
    return by_detector


def scores(view: View) -> dict[str, dict[str, float]]:
    """Return detector -> item -> score, for judged items and controls.

    Large scores suggest memory.
    """
    roles = (*view.item_roles, *view.control_roles)
    by_detector = {
        detector.title: detectors.item_scores(detector, view.frame, roles)
        for detector in (*score_detectors(view).values(), *detectors.pearls_in(view.frame))
    }
    for drop in detectors.drop_gaps_in(view.frame):
        for extractor in answer_extractors(view)[:1]:
            by_detector[drop.title] = drop.scores(view.frame, roles, extractor)
    return {
        title: dict(zip(rows["item_id"], rows["d"], strict=True))
        for title, rows in by_detector.items()
        if len(rows)
    }


@session.cached("Simulating what this study could find", max_entries=32)
def detectable(view: View, operator: str, extractor: str, margin: float) -> tuple[GapDesign, float]:
    """Return the study's design and the smallest gap that it finds with a power of 80%."""
    design = design_of(gap_analysis(view, operator, extractor, margin).sides, members(view).control)
    return design, detectable_gap(design, n_runs=100)


def tests(
    view: View, margin: float, operator: str = "", extractor: str = WRITTEN_ANSWER
) -> list[memory.MemoryTest]:
    """Return the verdicts on the view's model, corrected over all models.

    With an `operator`, the gap of that axis is computed from `extractor` and comes first.
    """
    return family(view, margin, operator, extractor)[view.model]


def family(
    view: View, margin: float, operator: str = "", extractor: str = WRITTEN_ANSWER
) -> dict[str, list[memory.MemoryTest]]:
    """Return model -> verdicts, corrected over all models; arguments as for `tests`."""
    # Copied, because the cached dictionary must not change.
    by_model = dict(measurements(view.study_id, view.lock))
    # Only the gap depends on the chosen extractor. The other measurements come from the cache.
    if operator:
        decided = gap_analysis(view, operator, extractor, margin).decided
        by_model[view.model] = memory.with_gap(by_model[view.model], view.kind, operator, decided)
    axes: set[str] = set()
    for model_measurements in by_model.values():
        axes |= {measurement.axis for measurement in model_measurements}
    closed_gates = gates.closed_gates(view.study_id, axes, (), view.lock)
    return memory.family_tests(
        by_model, session.declared(view.study_id).control, closed_gates, margin
    )


def verdict(view: View, margin: float, name: str) -> memory.MemoryTest | None:
    """Return a detector's verdict on the view's model and kind; None if it was not tested."""
    for memory_test in tests(view, margin):
        measurement = memory_test.measurement
        if measurement and measurement.kind == view.kind and measurement.detector_name == name:
            return memory_test
    return None


# Streamlit does not hash `_test`; the key has the view, the detector and the items of the test.
@session.computed("Testing every cut-off")
@st.cache_data(show_spinner=False, max_entries=32)
def _any_cutoff_p(key: tuple, _test: LossTest | Pearl) -> float:
    return _test.any_cutoff_p()


def show_any_cutoff(
    test: memory.MemoryTest | None, view: View, scores: LossTest | Pearl, margin: float
) -> list[str]:
    """Show the claim that holds at every cut-off, for one that was moved; return its sentence."""
    if test is None or test.measurement is None:
        return []
    uncorrected_p = _any_cutoff_p((view, test.detector, test.items), scores)
    p = memory.moved_p(family(view, margin), test, uncorrected_p)
    control = session.declared(view.study_id).control
    claim = any_cutoff_claim(p, control, test.claim.withheld, test.n_family)
    st.markdown(plain(claim.text))
    return [claim.text]


def handle_move(
    view: View,
    mode: str,
    *,
    setting: str,
    start: dict,
    sentences: list[str],
    moved: dict | None,
    decision: dict | None,
    about: dict,
) -> None:
    """Log and remember the move of a cut-off, or offer to store a decision.

    `setting` names the one that holds the cut-off; `start` holds the settings at the start.
    `moved` and `decision` are messages of the board, None without one. A decision may rest on the
    `sentences`. `about` holds further settings, stored with the move or the decision.
    """
    record.log_move(view.study_id, moved)
    if decision:
        decision_settings = {"model": view.model} | about | {setting: decision.get("cutoff")}
        all_sentences = [*sentences, *decision["sentences"]]
        decision = decision | decision_settings | {"sentences": all_sentences}
    record.offer_decision(view.study_id, "memorization", mode, decision)
    modes.remember(
        view.study_id, "memorization", start, moved and about | {setting: moved.get("cutoff")}
    )


def warn_without_fresh_controls(view: View, control_ids) -> None:
    """Warn if too few of a verdict's controls are known to be unseen."""
    card = model_cards().get(view.model)
    warning = memory.fresh_control_warning(
        session.study_items(view.study_id),
        list(control_ids),
        session.doses(view.study_id),
        card.cutoff if card else None,
    )
    if warning:
        st.warning(plain(warning), icon=":material/new_releases:")


def show_verdict(
    test: memory.MemoryTest | None, *notes: str, has_headline: bool = True
) -> list[str]:
    """Show a verdict as headline, its further claims and notes; return the claims' sentences.

    Without `has_headline` a board shows the verdict, and only the rest is drawn.
    """
    claims = [] if test is None else [test.claim, *test.further]
    if claims and has_headline:
        st.markdown(f"## {plain(claims[0].text)}")
    for claim in claims[1:]:
        st.markdown(plain(claim.text))
    st.caption(plain(" ".join([*(claim.detail for claim in claims), *notes])))
    return [claim.text for claim in claims]
