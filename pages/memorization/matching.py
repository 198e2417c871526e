"""Match controls: pairs of benchmark items and controls that are alike, how alike they are, and the study that declares them."""

import streamlit as st

from flipcore.annotation.control_matching import (
    control_sources,
    matched_from_set,
    matched_in_study,
    paired_study,
    reference_models,
    store_matching,
)
from flipcore.charts.balance import balance_figure
from flipcore.charts.theme import colours
from flipcore.core.study import PAIRED_CONTROL
from flipcore.stats.base.estimate import number_text
from flipcore.stats.memory.drop_gap_analysis import DropGap
from flipcore.stats.memory.matching import CALIPER, TITLES, TRAITS, WORST, Matching
from pages.common import session
from pages.common.identity import name_field
from pages.common.notes import plain, shown_problem
from pages.common.tables import show_table
from pages.memorization.cached import View, members

OWN = "this study's controls"


def show(view: View, estimate: DropGap) -> None:
    """The pairs that are stored, and behind a switch how to match others."""
    pairs = members(view).pairs
    if estimate.gap_matched is not None:
        decides = session.declared(view.study_id).control == PAIRED_CONTROL
        st.markdown(
            plain(
                f"Within {len(pairs.control_of):,} stored pairs the gap is {estimate.gap_matched.text_pp()}. {pairs.note()}"
                + ("" if decides else " It decides nothing here: this study declares another control.")
            )
        )
    if st.toggle("Match controls", key=f"match-{view.study_id}", bind="query-params"):
        with st.container(border=True), shown_problem():
            _match(view)


def _match(view: View) -> None:
    study, store = session.declared(view.study_id), session.store()
    sources, models = control_sources(store), reference_models(store, study)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        origin = st.selectbox("Controls from", [OWN, *sources], key="match-from", bind="query-params", width=280)
        by = st.multiselect(
            "Match by", TRAITS, TRAITS, key="match-by", bind="query-params", format_func=TITLES.__getitem__, width=420
        )
        caliper = st.number_input(
            "Largest difference in a pair, SD", 0.05, 3.0, CALIPER, 0.05, key="match-caliper", bind="query-params", width=220
        )
    references = st.multiselect("Reference models", models, models, key="match-models", bind="query-params") if models else []
    source = sources.get(origin)
    if source is None:
        matching = matched_in_study(store, view.study_id, by, caliper, references)
    else:
        matching = matched_from_set(store, view.study_id, source, by, caliper, references)
    _balance(matching)
    _keep(view, matching, source)


def _balance(matching: Matching) -> None:
    st.markdown(f"**{plain(matching.sentence())}**")
    if matching.unknown:
        names = ", ".join(TITLES[name] for name in matching.unknown)
        st.caption(plain(f"Not matched on {names}: one of the two sets does not hold it."))
    left, right = st.columns([3, 2])
    left.plotly_chart(
        balance_figure(matching.balance, colours(st.context.theme.type)),
        key="balance",
        theme=None,
        config={"displayModeBar": False},
    )
    show_table(
        "balance",
        place=right,
        rows=[
            {
                "trait": one.title,
                "before, SD": number_text(one.before, sign=True),
                "after, SD": number_text(one.after, sign=True),
                "variance ratio after": number_text(one.ratio_after),
                "matched": "yes" if one.trait in matching.by else "no",
            }
            for one in matching.balance
        ],
    )
    st.caption(
        f"Differences of means in standard deviations. A paired claim needs at most {WORST:g} after matching. Models under test "
        "cannot be reference models."
    )


def _keep(view: View, matching: Matching, source) -> None:
    store, study = session.store(), session.declared(view.study_id)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        who = name_field("Your name", key="match-name", width=240)
        if st.button("Store these pairs", key="match-store", type="primary", disabled=not (who.strip() and matching.pairs)):
            store_matching(store, matching, who)
            st.rerun()
        if matching.pairs and (source is not None or study.control != PAIRED_CONTROL):
            if st.button("New study with paired controls", key="match-study", disabled=study.is_recorded):
                place = f"paired-{view.study_id}"
                st.session_state.setdefault("offered-drafts", {})[place] = paired_study(study, matching, source)
                st.switch_page("new_study/page.py", query_params={"from_study": place})
