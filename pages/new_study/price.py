"""Beside the steps, always in view: calls, tokens, price, time, what can be detected; pilot, budget, start."""

from collections import Counter
from dataclasses import replace

import streamlit as st

from flipcore.core.bounds import MOST_BUDGET_USD
from flipcore.core.records import IDENTITY
from flipcore.core.study import Study
from flipcore.reports.declaration import duration_text, n_readings
from flipcore.runs.cost import Projection, dollars
from flipcore.runs.plan import plan, projection
from flipcore.runs.remaining import remaining
from flipcore.runs.truncation import token_limits
from flipcore.store.queries import studies
from flipcore.text.counts import count_of
from pages.common import session
from pages.common.computing import computed
from pages.common.notes import plain, shown_problem
from pages.new_study.power import calculator, detectable
from pages.new_study.where import where

MOST_LOOKED_UP = 20_000  # calls whose answers are looked for while a study is put together: about a second


def price_panel(study: Study) -> None:
    """What this study would cost and could show; nothing is sent before Start or Pilot is pressed."""
    st.subheader("Before you start", anchor=False)
    with shown_problem():
        study_plan = _study_plan(study.to_toml())
        for note in study_plan.notes:
            st.caption(plain(note))
        foreign = sum(not item_plan.item.dataset.startswith("pocket_") for item_plan in study_plan.items)
        if foreign and any(use.name == "pocket" for use in study.models):
            st.warning(
                f"{foreign:,} of these items lie outside the pocket model's own world. Expect wrong answers to them, and lower "
                "figures below.",
                icon=":material/public_off:",
            )
        whole = projection(study_plan)
        rest = _not_stored(study, whole)
        _numbers(rest, len(study_plan.items))
        if rest is not whole:
            st.caption(f"The study has {count_of(whole.n_calls, 'call')}; what is stored already is not asked again.")
        st.caption(plain(token_limits(study)))
        open_items = [item_plan for item_plan in study_plan.items if not item_plan.confirmatory]
        readings = [n_readings(study, item_plan.item.kind) for item_plan in open_items]
        n_cells = sum(part.name != IDENTITY for part in study.axes) * (max(readings, default=1) - 1)
        detectable(Counter(item_plan.role for item_plan in open_items), sum(n > 1 for n in readings), n_cells, study.control)
        if len(open_items) < len(study_plan.items):
            st.caption(
                f"{count_of(len(study_plan.items) - len(open_items), 'item is', 'items are')} set aside for confirmation, not counted here."
            )
        calculator()
        _pilot(study, len(study_plan.items))
        _start(study)


@computed("Counting the calls")
@st.cache_data(show_spinner=False, max_entries=16)
def _study_plan(toml: str):
    return plan(Study.from_toml(toml), session.store())


def _not_stored(study: Study, whole: Projection) -> Projection:
    """What is asked and paid: answers that other studies have to the same prompts, or this one has, are taken from there."""
    n_answers = studies.n_answers_of(session.store(), [use.name for use in study.models])
    if not n_answers or whole.n_calls > MOST_LOOKED_UP:
        return whole
    rest = _open_calls(study.to_toml(), n_answers)
    return rest if rest.n_calls < whole.n_calls else whole


@computed("Looking for stored answers")
@st.cache_data(show_spinner=False, max_entries=16)
def _open_calls(toml: str, n_answers: int) -> Projection:
    """What is not stored yet; counted again when more of these models' answers are."""
    return remaining(_study_plan(toml), session.store())


def _numbers(projected, n_items: int) -> None:
    most = "" if projected.is_measured else ", at most"
    about = "" if projected.is_measured else ", about"
    cost = "unknown" if projected.cost_usd is None else dollars(projected.cost_usd)
    for label, value in (
        ("Items", f"{n_items:,}"),
        ("Calls", projected.calls.replace(" calls", "", 1)),
        (f"Tokens in{about} / out{most}", f"{projected.n_tokens_in:,} / {projected.n_tokens_out:,}"),
        (f"Price{about}", cost),
        ("Time", duration_text(projected.seconds)),
    ):
        left, right = st.columns([1, 1])
        left.caption(label)
        right.markdown(f"**{value}**".replace("$", "\\$"))


def _pilot(study: Study, n_items: int) -> None:
    with st.popover("Pilot", icon=":material/speed:"):
        st.markdown(
            "Asks the first items of the study and turns the estimate into a measurement. What it asks is kept: the "
            "study itself will not ask it again."
        )
        k = st.number_input("Items", 1, 50, 3, key="pilot-k")
        if st.button("Run the pilot", key="pilot-run"):
            with st.spinner("Asking …"), shown_problem():
                estimate = session.registry().pilot(study, int(k))
                st.caption(f"For the whole study, from what {int(k):,} item{'' if k == 1 else 's'} used:")
                _numbers(estimate, n_items)
                if estimate.note:
                    st.warning(plain(estimate.note), icon=":material/content_cut:")


def _start(study: Study) -> None:
    cap = st.number_input(
        "Budget (US dollars)",
        0.0,
        MOST_BUDGET_USD,
        None if study.budget_usd is None else float(study.budget_usd),
        1.0,
        key="budget",
        placeholder="none: no paid call",
        help="A study that would cost more does not start, and spending stops here. Only a server that bills more than a call's "
        "text and token limit allow can exceed it, by one call for each model.",
    )
    on = where()
    if st.button("Start the study", type="primary", icon=":material/play_arrow:", width="stretch", key="start"):
        ready = replace(study, budget_usd=cap)
        session.registry().start(ready, on)
        st.switch_page("studies/page.py", query_params={"study": ready.study_id})
