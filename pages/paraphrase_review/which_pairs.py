"""Selection and order of the pairs that a reviewer judges.

An order may begin with pairs that matter most: those without which a study's flip rate moves most.
"""

import streamlit as st

from flipcore.access.acting import ALL_SOURCES, acting
from flipcore.annotation.judging import SHARED
from flipcore.annotation.paraphrases.effect import struck_rows
from flipcore.stats.flips.exclusion_bounds import moved_by_all
from flipcore.store.queries import review
from flipcore.store.queries import studies as queries
from pages.common import session
from pages.common.links import choose_linked_study
from pages.common.showing import show_table


def studies() -> dict[str, str]:
    """Return the studies that asked stored paraphrases: id -> name, newest first."""
    return {
        row["study_id"]: row["name"] for row in review.studies_with_paraphrases(session.store())
    }


def choose_ordering_study() -> str | None:
    """Ask for the study whose flips give the order; None, after a hint, if no study has any."""
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
    return choose_linked_study("By the flips of", names, "risk-study")


@session.cached(
    max_entries=16,
    revision=lambda study_id: review.n_readouts_on_review_axes(session.store(), study_id),
)
def moved_by(study_id: str) -> dict[str, float]:
    """Return pair -> how far the axis's flip rate moves without the pair (a share).

    It is the largest move over all models and extractors.
    """
    store = session.store()
    return moved_by_all(
        queries.readouts(store, study_id, paraphrases="all"),
        review.materials_by_axis(store, study_id),
    )


def show_struck(study_id: str, axis: str) -> None:
    """Show the axis's paraphrases that were struck out, and how far each moves the estimate."""
    store = session.store()
    pair_ids = set(review.materials(store, study_id, axis).values())
    rows = struck_rows(queries.paraphrase_states(store), pair_ids, moved_by(study_id))
    if rows:
        with st.expander(f"The {len(rows):,} that were struck out"):
            show_table("risk", rows)


JUDGES_AS = "judges-as"  # key of the session state: the reviewer's typed name
# The settings of an invited reviewer; the invitation itself limits the queue to its source.
INVITED = {"shared": SHARED, "only": ALL_SOURCES, "study_id": None, "pairs": ()}
SELECTED = "selected on the flip map"
NO_SAMPLE = (
    "Verdicts given here strike paraphrases out; they open no gate, because these pairs are no "
    "random sample."
)
ORDERS = {
    "random": "at random, strata in turn",
    "risk": "the flips that move the estimate most first",
}


def choose_queue() -> dict:
    """Draw the settings of the queue, which a team can share as a link; return them."""
    strata = review.pairs_with_source(session.store())
    with st.popover("Which pairs, in which order", icon=":material/tune:"):
        shared = st.slider(
            "Share of the pairs that everybody judges, so that agreement can be measured",
            min_value=0,
            max_value=100,
            value=30,
            step=10,
            key="shared",
            bind="query-params",
            format="%d %%",
        )
        names = sorted({review.source_of(row) for row in strata})
        selection = [SELECTED] if st.session_state.get("review-pairs") else []
        only = st.selectbox(
            "Pairs of", [ALL_SOURCES, *names, *selection], key="source", bind="query-params"
        )
        order = st.selectbox(
            "Order", list(ORDERS), key="order", bind="query-params", format_func=ORDERS.__getitem__
        )
        study_id = choose_ordering_study() if order == "risk" else None
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
