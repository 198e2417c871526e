"""One of the user's own models: what its test found out, and test, edit, remove."""

import streamlit as st

from flipcore.models import own_models
from flipcore.models.cards import ModelCard, place_of
from flipcore.models.openai.client import missing_key
from flipcore.models.presets import provenance
from flipcore.models.probe_record import costs_text, lines, record_of, speed_text, warnings
from flipcore.models.testing import ask_and_keep
from pages.common.notes import plain, shown_problem
from pages.common.tables import offer_table
from pages.models.form import edit


def card(model: ModelCard) -> None:
    """The model with what is known of it; what the last test in this session said stays until the next."""
    record = record_of(model)
    with st.container(border=True, key=f"model-{model.name}"):
        left, right = st.columns([3, 1])
        with left:
            st.subheader(plain(model.name), anchor=False)
            st.markdown(plain(f"{place_of(model)}. {costs_text(model)}"))
            for sentence in st.session_state.get(f"test-of-{model.name}", ()):
                st.markdown(plain(sentence))
            if sentence := missing_key(model):
                st.warning(plain(sentence), icon=":material/key_off:")
            for sentence in warnings(model, record) if record else ():
                st.caption(f":material/info: {plain(sentence)}")
        with right:
            st.caption(
                plain(f"Tested {record.at[:16].replace('T', ' ')} UTC, {speed_text(record)}")
                if record
                else "No test has succeeded yet."
            )
            _actions(model)
        if record:
            with st.expander("What the test found out", expanded=False):
                rows = [{"matter": label, "result": text} for label, text in lines(record).items()]
                st.table([row | {"result": plain(row["result"])} for row in rows])
                offer_table(f"model-{model.name}", rows)
        st.caption(plain(provenance(model)))


def _actions(model: ModelCard) -> None:
    with st.container(horizontal=True):
        if st.button("Test", key=f"test-{model.name}", icon=":material/network_check:", help="about ten small calls"):
            run_test(model)
        with st.popover("Edit", icon=":material/edit:"):
            edit(model)
        with st.popover("Remove", icon=":material/delete:"):
            st.markdown("Forgets this model. What it answered stays, and studies that name it can no longer ask it.")
            if st.button("Remove this model", key=f"remove-{model.name}", type="primary"):
                with shown_problem():
                    own_models.remove(model.name)
                    st.rerun()


def run_test(model: ModelCard) -> None:
    """Asks the model and draws the page again with what came; a problem is its sentence, and the card stays as it was."""
    with st.spinner("Sending about ten small calls …"), shown_problem():
        st.session_state[f"test-of-{model.name}"] = ask_and_keep(model)
        st.rerun()
