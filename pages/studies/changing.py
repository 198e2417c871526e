"""What changes a stored study: its budget, and deleting it."""

import streamlit as st

from flipcore.core.bounds import MOST_BUDGET_USD
from flipcore.core.study import Study
from flipcore.runs.cost import dollars
from flipcore.store.queries import budgets, studies
from pages.common import session
from pages.common.notes import plain, shown_problem


def delete_button(study_id: str, running: bool) -> None:
    """Removes the study after a second click; the core refuses it while the study runs."""
    with st.popover("Delete", icon=":material/delete:", disabled=running):
        st.markdown("Removes this study and its readouts. Completions that were paid for stay and are reused.")
        if st.button("Delete this study", key=f"delete-{study_id}", type="primary"):
            with shown_problem():
                studies.delete_study(session.store(), study_id)
                st.rerun()


def budget_button(study_id: str, study: Study) -> None:
    """What the study has spent over all its runs, and a new budget for it."""
    store = session.store()
    with st.popover("Budget", icon=":material/payments:"):
        cap, spent = budgets.budget_usd(store, study), budgets.spent_usd(store, study_id)
        st.markdown(plain(f"{dollars(spent)} spent over all runs, of a budget of {dollars(cap or 0.0)}."))
        usd = st.number_input("Budget (US dollars)", 0.0, MOST_BUDGET_USD, cap, key=f"budget-{study_id}")
        if st.button("Set the budget", key=f"set-budget-{study_id}") and usd is not None:
            with shown_problem():
                budgets.set_budget(store, study_id, usd)
                st.rerun()
