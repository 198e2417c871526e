"""Models: which models can I ask, and what can they do?"""

import streamlit as st

from flipcore.models import model_cards
from flipcore.models.own_models import own_cards
from flipcore.models.probe_record import listing
from pages.common.header import page_header
from pages.common.notes import how_to_read, shown_problem
from pages.common.tables import show_table
from pages.models.card import add, card

page_header("models", choose=False)

with shown_problem():
    own = own_cards()
    add()
    for model in own.values():
        card(model)
    if not own:
        st.info(
            "You have added no model yet: open **Add a model**. The pocket model and the simulated ones need no key.",
            icon=":material/smart_toy:",
        )
    st.subheader("Shipped", anchor=False)
    st.caption("Ready to use, or entries to start from. Yours stand first where they have the same name.")
    show_table("models", listing([one for name, one in model_cards().items() if name not in own]))

how_to_read(
    "**Test** sends the model about ten small calls and keeps what it finds: which log-probabilities come, which parameters it "
    "refuses, whether it reasons and where the reasoning is returned. A refused parameter is left out of every call. What "
    "documentation says is not trusted. Keys are read from the environment variable that you name; they are never stored. Your "
    "models stand in `models.toml` in your own folder, which `FLIPSCOPE_HOME` moves."
)
