"""What to do with a log next: read its texts again, or ask its items in other ways."""

import streamlit as st

from flipcore.extractors import EXTRACTORS
from flipcore.extractors.pattern import DEFAULT
from flipcore.models import model_cards
from flipcore.runs.asking_again import asked_again
from flipcore.runs.judging_again import EXAMPLE, MOST_CHARS, JudgeProgress, judge_again, priced
from flipcore.runs.rereading import CAN_REREAD, reread
from flipcore.store.queries import budgets
from pages.common import session
from pages.common.cached import cached
from pages.common.notes import RETRO, plain, shown_problem


def buttons(study_id: str) -> None:
    """All of them, in one row under the headline."""
    with st.container(horizontal=True, vertical_alignment="center"):
        _read_again(study_id)
        button(study_id)
        if st.button("Ask again", icon=":material/replay:", help="Opens New study with these items and this model."):
            with shown_problem():
                _ask_again(study_id)
        st.page_link("studies/page.py", label="All studies", icon=":material/folder_open:")


def _read_again(study_id: str) -> None:
    with st.popover("Read again", icon=":material/find_replace:"):
        st.markdown("Reads the stored texts with another extractor. No model is called, and what was read before stays.")
        name = st.selectbox("Extractor", CAN_REREAD, format_func=lambda one: EXTRACTORS[one].title, key="reread-extractor")
        params = {}
        if name == "pattern":
            params["expression"] = st.text_input("Regular expression", DEFAULT, key="reread-pattern", max_chars=500)
            params["group"] = st.text_input("Group that holds the answer", "1", key="reread-group", max_chars=40)
        if st.button("Read the stored texts", type="primary", key="reread-now"):
            with shown_problem(), st.spinner("Reading …"):
                reread(session.store(), study_id, name, params)
                st.rerun()


def _ask_again(study_id: str) -> None:
    draft = asked_again(session.store(), study_id)
    st.session_state.setdefault("offered-drafts", {})[f"again-{study_id}"] = draft.study
    st.session_state.setdefault("draft-notes", {})[f"again-{study_id}"] = draft.notes
    st.switch_page("new_study/page.py", query_params={"from_study": f"again-{study_id}"})


# The stored texts read by a judge with a prompt of the user's own: priced, then asked.


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
