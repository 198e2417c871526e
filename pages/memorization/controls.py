"""What may serve as a control: items published after the model's training cut-off, as far as both dates are known."""

from __future__ import annotations

import streamlit as st

from flipcore.models import model_cards
from flipcore.stats.memory.cutoff_dates import control_rows, control_sentence
from pages.common import session
from pages.common.notes import plain
from pages.memorization.cached import View


def show(view: View) -> None:
    card = model_cards().get(view.model)
    cutoff = card.cutoff if card else None
    rows = control_rows(session.study_items(view.study_id), view.compared, cutoff)
    st.markdown(plain(control_sentence(rows, view.model, cutoff, bool(session.doses(view.study_id)))))
    with st.popover("Dates by set", icon=":material/event:"):
        st.dataframe(rows, hide_index=True)
