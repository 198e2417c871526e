"""The stored texts read by a judge with a prompt of the user's own: priced, then asked."""

import streamlit as st

from flipcore.models import model_cards
from flipcore.runs.judging_again import EXAMPLE, MOST_CHARS, JudgeProgress, judge_again, priced
from flipcore.store.queries import budgets
from pages.common import session
from pages.common.cached import cached
from pages.common.notes import RETRO, plain, shown_problem


@cached("Counting the calls", 8)
def price(study_id: str, judge: str, prompt: str) -> str:
    """What a judge would cost now, for people; raises BadInput for a prompt that cannot be one."""
    return priced(session.store(), study_id, judge, prompt).sentence()


def button(study_id: str) -> None:
    """The popover beside the other ways to go on."""
    with st.popover("Read with a judge", icon=":material/gavel:", key="judge-form", on_change="rerun") as unfolded:
        if not unfolded.open:
            return  # the price takes as long as the rest of the page
        st.markdown("A model reads the stored texts by your prompt. What was read before stays; nothing is claimed of a judge.")
        judge = st.selectbox("Model", list(model_cards()), key="judge-model")
        prompt = st.text_area("Prompt", EXAMPLE, key="judge-prompt", height=240, max_chars=MOST_CHARS)
        with shown_problem():
            st.caption(plain(f"{judge}: {price(study_id, judge, prompt)}."))
            stored_usd = budgets.budget_usd(session.store(), session.declared(study_id))
            budget = st.number_input(
                "Budget of the study, US dollars", 0.0, value=stored_usd, key="judge-budget", placeholder="none"
            )
            retro = st.checkbox(RETRO, key="judge-retro")
            if st.button("Judge the stored texts", type="primary", key="judge-now"):
                _judge(study_id, judge, prompt, None if budget == stored_usd else budget, retro)


def _judge(study_id: str, judge: str, prompt: str, budget: float | None, retro: bool) -> None:
    bar = st.progress(0.0, "Judging …")

    def on_progress(progress: JudgeProgress) -> None:
        bar.progress(progress.n_done / progress.n_all, f"{progress.n_done:,} of {progress.n_all:,} answers judged")

    judge_run = judge_again(
        session.store(), study_id, judge, prompt, budget_usd=budget, on_progress=on_progress, may_send_retro=retro
    )
    if judge_run.name:
        st.rerun()
    st.info(plain(judge_run.sentence), icon=":material/pause_circle:")
