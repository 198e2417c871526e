"""Which pairs matter most: how far a study's flip rate moves when one paraphrase is struck out."""

import streamlit as st

from flipcore.annotation.paraphrases.effect import struck_rows
from flipcore.stats.flips.exclusion_bounds import moved_by_all
from flipcore.store.queries import review
from flipcore.store.queries import studies as queries
from pages.common import session
from pages.common.links import study_choice
from pages.common.tables import show_table


def studies() -> dict[str, str]:
    """Studies that asked stored paraphrases: id -> name, newest first."""
    return {row["study_id"]: row["name"] for row in review.studies_with_rewordings(session.store())}


def chosen_study() -> str | None:
    """The study whose estimate the order looks at; None, with a sentence, where no study asked a paraphrase."""
    names = studies()
    if not names:
        st.info("No study has asked these paraphrases yet, so none is known to flip: the order stays random.")
        return None
    st.caption(
        "In this order the first pairs are those that flipped. Your verdicts strike pairs out as always; for the gate only pairs "
        "in random order count."
    )
    return study_choice("By the flips of", names, "risk-study")


def moved_by(study_id: str) -> dict[str, float]:
    """Pair -> by how much the axis's flip rate moves without it, the largest of all models and readouts."""
    return _moved_by(study_id, review.n_reworded_readouts(session.store(), study_id))


@st.cache_data(show_spinner=False, max_entries=16)
def _moved_by(study_id: str, n_readouts: int) -> dict[str, float]:
    store = session.store()
    return moved_by_all(queries.readouts(store, study_id, paraphrases="all"), review.materials_by_axis(store, study_id))


def strikes(study_id: str, axis: str) -> None:
    """The wordings of the axis that were struck out, with how far each moves the estimate."""
    store = session.store()
    pair_ids = set(review.materials(store, study_id, axis).values())
    rows = struck_rows(queries.paraphrase_states(store), pair_ids, moved_by(study_id))
    if rows:
        with st.expander(f"The {len(rows):,} that were struck out"):
            show_table("risk", rows)
