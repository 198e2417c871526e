"""The questions of a study side by side for all of its models."""

import streamlit as st

from flipcore.charts.bars import decomposition_bars
from flipcore.charts.by_model import flip_panels
from flipcore.charts.inflation import Inflated, inflation_figure
from flipcore.charts.theme import colours
from flipcore.extractors import title_of
from flipcore.reports.by_model import flip_rows, memory_rows
from flipcore.reports.holdout import inflation_of
from flipcore.stats.holdout.difficulty import conditions
from flipcore.store.queries import holdout
from pages.common import session
from pages.common.contents import study_contents
from pages.common.notes import plain
from pages.common.tables import show_table
from pages.ranking import cached
from pages.ranking.cached import View

NO_BAR = {"displayModeBar": False}


def flip_surfaces(view: View) -> None:
    """Small multiples of the flip surface, on the same rows and one scale."""
    names = list(view.readouts()["extractor"].unique())
    st.subheader("Where each model flips", anchor=False)
    extractor = st.segmented_control(
        "Extractor",
        names,
        default=names[0],
        required=True,
        key="panels-of",
        bind="query-params",
        format_func=title_of,
        label_visibility="collapsed",
    )
    panels = cached.panels(view, extractor)
    if not panels.columns:
        st.caption("Nothing was changed, so there is no flip rate.")
        return
    rows = "items, most flips first" if panels.items_a_row == 1 else f"items, {panels.items_a_row} a row, most flips first"
    figure = flip_panels(panels.rates, panels.columns, colours(st.context.theme.type), rows)
    st.plotly_chart(figure, key="panels", theme=None, config=NO_BAR)


def decomposition(view: View) -> None:
    """A row a model and extractor over all axes."""
    flips = cached.flips(view)
    if not flips:
        return
    st.subheader("What flips, model by model", anchor=False)
    cells = [one.cell for one in flips]
    st.plotly_chart(
        decomposition_bars(cells, title_of, colours(st.context.theme.type)), key="by-model", theme=None, config=NO_BAR
    )
    show_table("flips-by-model", flip_rows(flips))


def memory_and_inflation(view: View) -> None:
    """Detectors and inflation of every model, where the study has them. Nothing of what was set aside is in them."""
    sets = conditions(holdout.accuracies(session.store(), view.study_id))
    if sets:
        here, claim = inflation_of(sets, dict(view.closed_gates))
        st.subheader("Inflation, model by model", anchor=False)
        st.markdown(plain(claim.text))
        bars = [Inflated(one.model, *one.accuracies, one.inflation()) for one in here]
        st.plotly_chart(inflation_figure(bars, colours(st.context.theme.type)), key="inflated", theme=None, config=NO_BAR)
    if not _tests_memory(view.study_id):
        return
    st.subheader("Memory, model by model", anchor=False)
    if st.toggle("Compute", key="memory-by-model", bind="query-params"):
        show_table("memory-by-model", memory_rows(study_contents(view.study_id).report.memory))


def _tests_memory(study_id: str) -> bool:
    return "control" in session.declared(study_id).roles
