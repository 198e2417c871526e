"""Cached verdicts of the Memory page: all detectors of a model as one family, and what the study could find at all."""

import streamlit as st

from flipcore.claims.memory_sets import any_cutoff_claim
from flipcore.core.records import WRITTEN_ANSWER
from flipcore.models import model_cards
from flipcore.reports.memory import (
    Measurement,
    MemoryTest,
    detector_measurements,
    family_tests,
    fresh_control_warning,
    members_of,
    moved_p,
    with_gap,
)
from flipcore.stats.memory import frames
from flipcore.stats.memory.gap_power import GapDesign, design_of, detectable_gap
from flipcore.stats.memory.loss_analysis import LossTest
from flipcore.stats.memory.pearl_analysis import Pearl
from flipcore.store.queries import pairs as pair_queries
from pages.common import gates, session
from pages.common.showing import plain
from pages.memorization.cached import View, gap, members


@session.cached("Simulating what this study could find", 32)
def detectable(view: View, operator: str, extractor: str, margin: float) -> tuple[GapDesign, float]:
    """The study's design and the smallest gap that its rule finds four times in five."""
    design = design_of(gap(view, operator, extractor, margin).sides, members(view).control)
    return design, detectable_gap(design, n_runs=100)


@session.cached("Testing every detector", 16)
def detectors(study_id: str, model: str, lock: str | None) -> list[Measurement]:
    """Every detector of one model on every kind of item."""
    frame = frames.with_reference(session.readouts(study_id, lock=lock, everything=True), session.declared(study_id))
    study, items = session.declared(study_id), session.study_items(study_id)
    pairs = pair_queries.control_pairs(session.store(), study_id, lock)
    frame = frames.compared_sets(frame[frame["model"] == model], study)
    return detector_measurements(frame, members_of(study, items, pairs, model), study.detectors)


def tests(view: View, margin: float, operator: str = "", extractor: str = WRITTEN_ANSWER) -> list[MemoryTest]:
    """The verdicts on the model in view, within the family of all models; with an `operator` its gap is read by `extractor` and
    comes first."""
    return family(view, margin, operator, extractor)[view.model]


def family(view: View, margin: float, operator: str = "", extractor: str = WRITTEN_ANSWER) -> dict[str, list[MemoryTest]]:
    """Those on every model."""
    models = session.readouts(view.study_id, lock=view.lock, everything=True)["model"].unique()
    by_model = {model: detectors(view.study_id, model, view.lock) for model in models}
    if operator:
        decided = gap(view, operator, extractor, margin).decided
        by_model[view.model] = with_gap(by_model[view.model], view.kind, operator, decided)
    axes = {one.axis for measurements in by_model.values() for one in measurements}
    closed_gates = gates.closed_gates(view.study_id, axes, (), view.lock)
    return family_tests(by_model, session.declared(view.study_id).control, closed_gates, margin)


def verdict(view: View, margin: float, name: str) -> MemoryTest | None:
    """One detector's verdict within the family."""
    for one in tests(view, margin):
        measurement = one.measurement
        if measurement and measurement.kind == view.kind and measurement.name == name:
            return one
    return None


@session.computed("Testing every cut-off")
@st.cache_data(show_spinner=False, max_entries=32)
def _any_cutoff_p(key: tuple, _test: LossTest | Pearl) -> float:
    return _test.any_cutoff_p()


def say_dragged(test: MemoryTest | None, view: View, scores: LossTest | Pearl, margin: float) -> list[str]:
    """After a drag the declared cut-off no longer decides: what every cut-off together shows; returns it for the record."""
    if test is None or test.measurement is None:
        return []
    p = moved_p(family(view, margin), test, _any_cutoff_p((view, test.detector, test.items), scores))
    claim = any_cutoff_claim(p, session.declared(view.study_id).control, test.claim.withheld, test.n_family)
    st.markdown(plain(claim.text))
    return [claim.text]


def warn_without_fresh_controls(view: View, control_ids) -> None:
    """Where too few controls are known to be unseen, beside the verdict that rests on them."""
    card = model_cards().get(view.model)
    warning = fresh_control_warning(
        session.study_items(view.study_id), list(control_ids), session.doses(view.study_id), card.cutoff if card else None
    )
    if warning:
        st.warning(plain(warning), icon=":material/new_releases:")


def say(test: MemoryTest | None, *more: str) -> list[str]:
    """Shows a verdict, what more is claimed, and their small print; returns the sentences for the record."""
    claims = [] if test is None else [test.claim, *test.further]
    for i, claim in enumerate(claims):
        st.markdown(f"{'' if i else '## '}{plain(claim.text)}")
    st.caption(plain(" ".join([*(claim.detail for claim in claims), *more])))
    return [claim.text for claim in claims]
