"""Where a new study runs: this machine, or a cluster that the dashboard offers."""

import streamlit as st

from flipcore.runs.cluster.places import HERE, offered_places, why_no_cluster
from pages.common.notes import plain


def where() -> str:
    """The chosen place; this machine until another one is chosen."""
    places = offered_places()
    if st.session_state.get("where", HERE) not in places:
        st.session_state.pop("where")
    name = places[st.session_state.get("where", HERE)]
    with st.popover(f"Where it runs: {plain(name)}", icon=":material/lan:"):
        if reason := why_no_cluster():
            st.caption(plain(reason))
            return HERE
        return st.selectbox(
            "Where it runs",
            list(places),
            key="where",
            format_func=lambda place: places[place],
            help="Workers of a Ray cluster ask the models; the results are stored here. The admin names further clusters in "
            "`FLIPSCOPE_CLUSTERS`.",
        )
