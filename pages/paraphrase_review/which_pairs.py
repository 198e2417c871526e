"""The pairs that somebody judges, and their order.

Which matter most: how far a study's flip rate moves when one paraphrase is struck out.
"""

import streamlit as st

from flipcore.access.acting import EVERY, acting
from flipcore.annotation.judging import SHARED
from flipcore.annotation.paraphrases.effect import struck_rows
from flipcore.stats.flips.exclusion_bounds import moved_by_all
from flipcore.store.queries import review
from flipcore.store.queries import studies as queries
from pages.common import session
from pages.common.links import study_choice
from pages.common.showing import show_table


def studies() -> dict[str, str]:
    """Studies that asked stored paraphrases: id -> name, newest first."""
    return {row["study_id"]: row["name"] for row in review.studies_with_rewordings(session.store())}


def chosen_study() -> str | None:
    """The study whose estimate the order looks at; None, with a sentence, where no study asked a
    paraphrase.
    """
    names = studies()
    if not names:
        st.info(
            "No study has asked these paraphrases yet, so none is known to flip: the order stays "
            "random."
        )
        return None
    st.caption(
        "In this order the first pairs are those that flipped. Your verdicts strike pairs out as "
        "always; for the gate only pairs in random order count."
    )
    return study_choice("By the flips of", names, "risk-study")


@session.cached(
    max_entries=16, revision=lambda study_id: review.n_reworded_readouts(session.store(), study_id)
)
def moved_by(study_id: str) -> dict[str, float]:
    """Pair -> by how much the axis's flip rate moves without it, the largest of all models and
    readouts.
    """
    store = session.store()
    return moved_by_all(
        queries.readouts(store, study_id, paraphrases="all"),
        review.materials_by_axis(store, study_id),
    )


def strikes(study_id: str, axis: str) -> None:
    """The wordings of the axis that were struck out, with how far each moves the estimate."""
    store = session.store()
    pair_ids = set(review.materials(store, study_id, axis).values())
    rows = struck_rows(queries.paraphrase_states(store), pair_ids, moved_by(study_id))
    if rows:
        with st.expander(f"The {len(rows):,} that were struck out"):
            show_table("risk", rows)


# In the session: the name that was given where nobody is told apart.
JUDGES_AS = "judges-as"
# An invitation's queue: its source, in the usual order.
INVITED = {"shared": SHARED, "only": EVERY, "study_id": None, "pairs": ()}
SELECTED = "selected on the flip map"
NO_SAMPLE = (
    "Verdicts given here strike paraphrases out; they open no gate, because these pairs are no "
    "random sample."
)
ORDERS = {
    "random": "at random, strata in turn",
    "risk": "the flips that move the estimate most first",
}


def settings_of_queue() -> dict:
    """Return the pairs to judge and their order, which the link holds for a team."""
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
        names = sorted({review.source_of(row) for row in strata})
        selection = [SELECTED] if st.session_state.get("review-pairs") else []
        only = st.selectbox(
            "Pairs of", [EVERY, *names, *selection], key="source", bind="query-params"
        )
        order = st.selectbox(
            "Order", list(ORDERS), key="order", bind="query-params", format_func=ORDERS.__getitem__
        )
        study_id = chosen_study() if order == "risk" else None
        if not acting().name and st.button(
            "Leave: somebody else judges now", icon=":material/logout:"
        ):
            st.session_state.pop(JUDGES_AS)
            st.rerun()
    pairs = tuple(st.session_state["review-pairs"]) if only == SELECTED else ()
    if pairs:
        st.caption(
            f"{len(pairs):,} paraphrases of the items selected on the flip map", width="content"
        )
    if pairs or study_id:
        st.caption(NO_SAMPLE, width="content")
    return {"shared": shared / 100, "only": only, "study_id": study_id, "pairs": pairs}
