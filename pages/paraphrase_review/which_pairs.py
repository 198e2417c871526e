"""Which pairs somebody judges, and in which order."""

import streamlit as st

from flipcore.access.acting import acting
from flipcore.access.person import EVERY
from flipcore.annotation.paraphrases.queue import SHARED
from flipcore.store.queries import review
from pages.common import session
from pages.paraphrase_review import risk

JUDGES_AS = "judges-as"  # in the session: the name that was given where nobody is told apart
INVITED = {
    "shared": SHARED,
    "only": EVERY,
    "study_id": None,
    "pairs": (),
}  # an invitation's queue: its source, in the usual order
SELECTED = "selected on the flip map"
NO_SAMPLE = "Verdicts given here strike paraphrases out; they open no gate, because these pairs are no random sample."
ORDERS = {"random": "at random, strata in turn", "risk": "the flips that move the estimate most first"}


def settings_of_queue() -> dict:
    """What is judged and in which order; it stands in the link, so that a team shares it."""
    strata = review.strata(session.store())
    with st.popover("Which pairs, in which order", icon=":material/tune:"):
        shared = st.slider(
            "Share of the pairs that everybody judges, so that agreement can be measured",
            0,
            100,
            30,
            10,
            key="shared",
            bind="query-params",
            format="%d %%",
        )
        sources = sorted({(row["dataset"], row["generator"]) for row in strata})
        names = [f"{dataset} · {generator}" for dataset, generator in sources]
        selection = [SELECTED] if st.session_state.get("review-pairs") else []
        only = st.selectbox("Pairs of", [EVERY, *names, *selection], key="source", bind="query-params")
        order = st.selectbox("Order", list(ORDERS), key="order", bind="query-params", format_func=ORDERS.__getitem__)
        study_id = risk.chosen_study() if order == "risk" else None
        if not acting().name and st.button("Leave: somebody else judges now", icon=":material/logout:"):
            st.session_state.pop(JUDGES_AS)
            st.rerun()
    pairs = tuple(st.session_state["review-pairs"]) if only == SELECTED else ()
    if pairs:
        st.caption(f"{len(pairs):,} paraphrases of the items selected on the flip map", width="content")
    if pairs or study_id:
        st.caption(NO_SAMPLE, width="content")
    return {"shared": shared / 100, "only": only, "study_id": study_id, "pairs": pairs}
