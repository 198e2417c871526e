"""The studies that wait for their turn: in which order, whose they are, and what can be done about it."""

import streamlit as st

from flipcore.access.acting import acting
from flipcore.access.levels import Permission
from flipcore.runs.queue import MOST_RUNNING
from pages.common import session
from pages.common.notes import plain, shown_problem


def section() -> None:
    """Nothing where nothing waits; else a part of the page that is drawn again by itself."""
    if session.registry().queue():
        _live()


@st.fragment(run_every=2.0)
def _live() -> None:
    turns = session.registry().queue()
    if not turns:
        st.rerun()
    with st.container(border=True, key="queue"):
        st.subheader(f"Queue: {len(turns)} waiting", anchor=False)
        for place, turn in enumerate(turns, 1):
            _line(place, turn, is_alone=len(turns) == 1)
        n = session.registry().at_once()
        st.caption(f"Each person has {n} stud{'y' if n == 1 else 'ies'} running at a time. People take turns.")
        if acting().may(Permission.ACCESS):
            _at_once(n)


def _line(place: int, turn, *, is_alone: bool) -> None:
    """One waiting study with its buttons."""
    registry, study_id = session.registry(), turn.study_id
    with st.container(horizontal=True, vertical_alignment="center", key=f"queued-{study_id}"):
        whose = f" · {plain(turn.person)}" if turn.person else ""
        st.markdown(f"{place}. {plain(turn.study.name)}{whose}", width="content")
        for label, places, icon in (("Earlier", -1, "arrow_upward"), ("Later", 1, "arrow_downward")):
            if not is_alone and st.button(label, key=f"{label}-{study_id}", icon=f":material/{icon}:"):
                with shown_problem():
                    registry.move(study_id, places)
                    st.rerun()
        if st.button("Take out", key=f"take-out-{study_id}", icon=":material/close:"):
            with shown_problem():
                registry.cancel(study_id)
                st.rerun()


def _at_once(n: int) -> None:
    number = st.number_input("Studies of one person at a time", 1, MOST_RUNNING, n, key="runs-at-once", width=260)
    if number != n:
        with shown_problem():
            session.registry().set_at_once(int(number))
            st.rerun()
