"""Beside the steps, always in view: calls, tokens, price, time, what can be detected; pilot, budget, start."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import streamlit as st

from flipcore.plan import plan, projection
from flipcore.study import Study
from pages.common import session
from pages.common.notes import plain, shown_problem
from pages.new_study.power import calculator, detectable


def price_panel(study: Study) -> None:
    """What this study would cost and could show; nothing is sent before Start or Pilot is pressed."""
    st.subheader("Before you start", anchor=False)
    with shown_problem():
        made = _planned(study.to_toml())
        for note in made.notes:
            st.caption(plain(note))
        _numbers(projection(made), len(made.items))
        detectable(Counter(asked.role for asked in made.items))
        calculator()
        _pilot(study)
        _start(study)


@st.cache_data(show_spinner="Counting the calls …", max_entries=16)
def _planned(toml: str):
    return plan(Study.from_toml(toml), session.store())


def _numbers(projected, n_items: int) -> None:
    cost = "unknown" if projected.cost_usd is None else f"${projected.cost_usd:,.2f}"
    for label, value in (("Items", f"{n_items:,}"), ("Calls", f"{projected.n_calls:,}"),
                         ("Tokens in / out", f"{projected.n_tokens_in:,} / {projected.n_tokens_out:,}"),
                         ("Price", cost), ("Time", _duration(projected.seconds))):
        left, right = st.columns([1, 1])
        left.caption(label)
        right.markdown(f"**{value}**".replace("$", "\\$"))


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "unknown"
    return f"{seconds:,.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} min"


def _pilot(study: Study) -> None:
    with st.popover("Pilot", icon=":material/speed:"):
        st.markdown("Asks the first items of the study and turns the estimate into a measurement. What it asks is kept: the "
                    "study itself will not ask it again.")
        k = st.number_input("Items", 1, 50, 3, key="pilot-k")
        if st.button("Run the pilot", key="pilot-run"):
            with st.spinner("Asking …"), shown_problem():
                measured = session.registry().pilot(study, int(k))
                _numbers(measured, int(k))


def _start(study: Study) -> None:
    cap = st.number_input("Budget (US dollars)", 0.0, 100_000.0, study.budget_usd, 1.0, key="budget",
                          placeholder="none: no paid call",
                          help="A study that would cost more refuses to start; spending stops here.")
    if st.button("Start the study", type="primary", icon=":material/play_arrow:", width="stretch", key="start"):
        ready = replace(study, budget_usd=cap)
        session.registry().start(ready)
        st.switch_page("pages/studies.py", query_params={"study": ready.study_id})
