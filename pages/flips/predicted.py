"""The flip predictor: can it be told beforehand which items will flip?"""

import streamlit as st

from flipcore.claims.flip_predictions import prediction
from flipcore.core.records import FIRST_TOKEN
from flipcore.stats.flips.predictor import flip_prediction, predictor_rows
from flipcore.store.queries import studies
from pages.common import session
from pages.common.cached import cached
from pages.common.notes import plain, shown_problem
from pages.common.tables import show_table


def predictor(study_id: str, model: str, mode: str) -> None:
    """Computed on request: it cross-validates a small classifier many times."""
    st.subheader("Which flips could have been predicted?", anchor=False)
    st.caption(
        "From the first token's margin and entropy, prompt length, number of options and correctness of the base "
        "prompt, and from the axis: a logistic model, five folds grouped by item. For the p the whole cross-validation "
        "is repeated with the flips of each axis shuffled among its items."
    )
    if not st.toggle("Compute", key="predictor", bind="query-params"):
        return
    with shown_problem():
        fit = _predicted(study_id, model, mode)
        if fit is None:
            st.info("This study has no first-token extractor, whose margin the predictor uses. Add that extractor.")
        elif fit.note:
            st.info(plain(f"Nothing to predict: {fit.note}"))
        else:
            claim = prediction(fit)
            st.markdown(plain(claim.text))
            st.caption(plain(claim.detail))
            show_table(
                "weights",
                [{"feature": name, "weight (standardised)": round(weight, 2)} for name, weight in fit.weights.items()],
                width=420,
            )


@cached("Cross-validating", 12)
def _predicted(study_id: str, model: str, mode: str):
    lock = session.lock_id(study_id, "decomposition") if mode == "locked" else None
    frame = session.readouts(study_id, lock=lock)
    base = studies.base_first_tokens(session.store(), study_id, model, lock=lock)
    if base.empty:
        return None
    return flip_prediction(predictor_rows(frame[frame["model"] == model], base, FIRST_TOKEN))
