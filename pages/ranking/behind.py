"""Behind a way: the items that one of two models has right and the other wrong, with both raw outputs."""

import streamlit as st

from flipcore.reports.browser_data.ranking import way_id
from flipcore.reports.ranking import RankingReport, split_items
from flipcore.stats.ranking.ways import Way
from flipcore.store.queries.inspection import inspection
from flipcore.text.answers import answer_text
from pages.common import session
from pages.common.evidence import side
from pages.common.notes import plain


def show(study_id: str, report: RankingReport) -> None:
    """The two outputs of the way in the link; nothing where there is none."""
    contest = report.contest
    ids = [way_id(one) for one in contest.order.scores.ways]
    if st.query_params.get("way") not in ids:
        return
    at = ids.index(st.query_params["way"])
    way = contest.order.scores.ways[at]
    with st.container(border=True, key="behind-way"):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            pairs = {f"{one.first} v {one.second}": (one.first, one.second) for one in report.pairs}
            pair = st.selectbox("Models", list(pairs), key="behind-pair", bind="query-params", width=360)
            items = split_items(contest, at, *pairs[pair])
            item = st.selectbox("Item on which they differ", items, key="behind-item", bind="query-params", width=300)
            st.button("Close", key="behind-close", icon=":material/close:", on_click=_close)
        if item is None:
            st.info("Under this way the two models are right and wrong on the same items.")
            return
        for column, model, is_left in zip(st.columns(2), pairs[pair], (True, False), strict=True):
            with column:
                _output(study_id, model, item, way, is_left)


def _close() -> None:
    st.query_params.pop("way", None)


def _output(study_id: str, model: str, item: str, way: Way, is_left: bool) -> None:
    """What one model was sent under the way and what was read from its answer; both were sent the same prompt."""
    axes = [way.axis, *(part.name for part in session.declared(study_id).axes)]
    views = (inspection(session.store(), study_id, model, item, name) for name in dict.fromkeys(axes))
    for view in views:
        variant = next((one for one in view.variants if one.key == way.key), None) if view else None
        if view and variant and variant.readings:
            st.caption(f"Right answer: {plain(answer_text(view.item, view.item.target))}")
            samples = [one for one in variant.readings if one.extractor == way.extractor]
            side(model, view, variant, variant, samples, as_losses=is_left)
            return
    st.info(f"Nothing of {plain(model)} has come back for this item.")
