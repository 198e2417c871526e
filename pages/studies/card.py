"""One study as a card: headline, state, provenance, and what can be done with it."""

import streamlit as st

from flipcore.charts.split_bar import split_bar
from flipcore.charts.theme import colours
from flipcore.store.queries import studies
from pages.common import repeats, session
from pages.common.headline import harness_headline, headline, memory_headline, ranking_headline
from pages.common.notes import plain, shown_problem
from pages.studies.changing import budget_button, delete_button
from pages.studies.other_harness import harness_button
from pages.studies.provenance import provenance
from pages.studies.state import live, state


def card(row: dict, running: bool) -> None:
    """`running` was read before the row, so that one that ended meanwhile is drawn again."""
    if row["problem"]:
        unreadable(row)
        return
    study_id = row["study_id"]
    with st.container(border=True, key=f"card-{study_id}"):
        left, right = st.columns([3, 1])
        with left:
            st.subheader(plain(row["name"]), anchor=False)
            _summary(study_id)
        with right:
            if running:
                live(study_id)
            else:
                state(row)
        _actions(row, running)


@st.fragment(parallel=True)
def _summary(study_id: str) -> None:
    """The study's sentences and its bar, which no other card waits for; of a running study as of the last tenth of its calls."""
    summary = headline(study_id)
    if memory := memory_headline(study_id) if _compares(study_id) else "":
        st.markdown(plain(f"{memory[0].upper()}{memory[1:]}"))
    first, accuracies = ranking_headline(study_id)
    if first:
        st.markdown(plain(first))
        st.caption(plain(accuracies))
    st.markdown(plain(summary.sentence))
    for detail in filter(None, (claim.detail for claim in summary.claims)):
        st.caption(plain(detail))
    repeats.in_small_type(study_id)
    if rotated := harness_headline(study_id):
        st.markdown(plain(rotated))
    if summary.flips is not None and not summary.flips.is_reference:
        figure = split_bar(summary.flips, colours(st.context.theme.type))
        st.plotly_chart(figure, key=f"bar-{study_id}", theme=None, config={"displayModeBar": False})


def _roles(study_id: str) -> set[str]:
    return {source.role for source in session.declared(study_id).items}


def _compares(study_id: str) -> bool:
    return len(_roles(study_id)) > 1


def _actions(row: dict, running: bool) -> None:
    study_id = row["study_id"]
    with st.container(horizontal=True, vertical_alignment="center"):
        _links(study_id)
        if running and st.button("Cancel", key=f"cancel-{study_id}", icon=":material/stop:"):
            session.registry().cancel(study_id)
            st.rerun()
        if (
            not running
            and row["state"] != "done"
            and st.button(
                "Start" if row["state"] == "planned" else "Resume", key=f"resume-{study_id}", icon=":material/play_arrow:"
            )
        ):
            with shown_problem():
                session.registry().start(session.declared(study_id))
                st.rerun()
        declared = session.declared(study_id)
        if declared.budget_usd is not None or row["state"] == "over_budget":
            budget_button(study_id, declared)
        if not declared.is_recorded:
            harness_button(study_id, declared)
            st.page_link(
                "new_study/page.py", label="Duplicate", icon=":material/content_copy:", query_params={"from_study": study_id}
            )
        provenance(row)
        delete_button(study_id, running)


def _links(study_id: str) -> None:
    st.page_link("flip_surface/page.py", label="Flip surface", icon=":material/grid_on:", query_params={"study": study_id})
    st.page_link(
        "decomposition/page.py", label="Decomposition", icon=":material/stacked_bar_chart:", query_params={"study": study_id}
    )
    st.page_link("report/page.py", label="Report", icon=":material/description:", query_params={"study": study_id})
    if _compares(study_id):
        st.page_link("memorization/page.py", label="Memorization", icon=":material/memory:", query_params={"study": study_id})
    if {"target", "retro"} <= _roles(study_id):
        st.page_link(
            "holdout/page.py",
            label="Holdout",
            icon=":material/join:",
            query_params={"sets": f"study:{study_id}", "part": "Inflation"},
        )


def unreadable(row: dict) -> None:
    """A study whose declaration this version cannot read: what is known of it, its text, and Delete."""
    with st.container(border=True, key=f"card-{row['study_id']}"):
        st.subheader(plain(row["name"]), anchor=False)
        st.warning(plain(row["problem"]), icon=":material/unknown_document:")
        with st.container(horizontal=True, vertical_alignment="center"):
            with st.popover("Provenance", icon=":material/receipt_long:"):
                st.caption(f"Declared {row['created_at']:%Y-%m-%d %H:%M} · flipscope {plain(row['code_version'])}")
                st.code(studies.toml(session.store(), row["study_id"]), language="toml")
            delete_button(row["study_id"], running=False)
