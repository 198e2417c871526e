"""The flip predictor: can it be told beforehand which items will flip?"""

from __future__ import annotations

import streamlit as st

from pages.common.notes import plain, shown_problem


def predictor(study_id: str, model: str, mode: str) -> None:
    """Computed on request: it cross-validates a small classifier."""
    st.subheader("Which flips could have been predicted?", anchor=False)
    st.caption("From the first token's margin and entropy, prompt length, number of options and correctness of the base "
               "prompt: a logistic model, folds grouped by item.")
    if not st.toggle("Compute", key="predictor"):
        return
    with shown_problem(), st.spinner("Cross-validating …"):
        from pages.decomposition.features import predicted

        st.markdown(plain(predicted(study_id, model, mode)))
