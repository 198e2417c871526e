"""The flip predictor: can it be told beforehand which items will flip?"""

from __future__ import annotations

import streamlit as st

from flipcore.stats.base.estimate import number_text, p_text
from flipcore.stats.flips.predictor import flip_prediction, predictor_rows
from flipcore.store.queries import studies
from pages.common import session
from pages.common.notes import plain, shown_problem


def predictor(study_id: str, model: str, mode: str) -> None:
    """Computed on request: it cross-validates a small classifier many times."""
    st.subheader("Which flips could have been predicted?", anchor=False)
    st.caption(
        "From the first token's margin and entropy, prompt length, number of options and correctness of the base "
        "prompt, and from the axis: a logistic model, five folds grouped by item. For the p the whole cross-validation "
        "is repeated with the flips of each axis shuffled among its items."
    )
    if not st.toggle("Compute", key="predictor"):
        return
    with shown_problem():
        found = _predicted(study_id, model, mode, session.store().revision(study_id))
        if found is None:
            st.info("This study has no first-token readout, and the predictor reads its margin. Add that readout.")
        elif found.note:
            st.info(plain(f"Nothing to predict: {found.note}"))
        else:
            st.markdown(
                plain(
                    f"Out of fold the AUC is {found.auc.text()} (0.50 is guessing). Knowing the axis alone gives "
                    f"{number_text(found.auc_by_axis)}, so {_beyond(found.p)} about the items ({p_text(found.p)}). The Brier score "
                    f"is {number_text(found.brier, 3)} against {number_text(found.brier_constant, 3)} for always saying the mean, "
                    f"over {found.n_rows:,} item-axis rows ({found.n_dropped:,} dropped for a missing feature). Calibration "
                    f"slope {number_text(found.slope)}: 1 is calibrated, below 1 overconfident."
                )
            )
            st.dataframe(
                [{"feature": name, "weight (standardised)": round(weight, 2)} for name, weight in found.weights.items()],
                hide_index=True,
                width=420,
            )


def _beyond(p: float) -> str:
    return "the features say something" if p <= 0.05 else "the features are not shown to say anything"


@st.cache_resource(show_spinner="Cross-validating …", max_entries=12)
def _predicted(study_id: str, model: str, mode: str, revision: int):
    lock = session.lock_id(study_id, "decomposition") if mode == "locked" else None
    frame = session.readouts(study_id, revision, lock=lock)
    base = studies.base_first_tokens(session.store(), study_id, model, lock=lock)
    if base.empty:
        return None
    return flip_prediction(predictor_rows(frame[frame["model"] == model], base, "first_token"))
