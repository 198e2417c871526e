"""The open store, the running studies and cached reads: the one seam between the pages and flipcore."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from flipcore.errors import FlipscopeError
from flipcore.store import queries
from flipcore.store.connection import Store


@st.cache_resource(show_spinner="Opening the results …")
def _opened():
    """The store, its registry of runs, and on the very first start the demo study under way."""
    from flipcore import demo
    from flipcore.registry import Registry

    store = Store.open()
    registry = Registry(store)
    demo.seed_store(store)
    first = demo.demo_study()
    if queries.studies(store).empty:
        registry.start(first)
    registry.settle(resumed=first)
    registry.watch_inbox()
    return store, registry


def store() -> Store:
    """The one open store; a page that cannot have it shows the sentence and stops."""
    try:
        return _opened()[0]
    except FlipscopeError as error:
        st.error(str(error), icon=":material/database_off:")
        st.stop()


def registry():
    """The runs that are in flight in this process."""
    store()
    return _opened()[1]


def chosen_study() -> str | None:
    """The study that every page looks at, chosen in the header. Its id stands in the link (`?study=`): names may be alike."""
    rows = queries.studies(store())
    if rows.empty:
        return None
    names = dict(zip(rows["study_id"], rows["name"], strict=True))
    known = [one for one in (st.query_params.get("study"), st.session_state.get("study-id")) if one in names]
    start = known[0] if known else next(iter(names))
    chosen = st.selectbox("Study", list(names), index=list(names).index(start), key=f"study-{start}",
                          label_visibility="collapsed", format_func=lambda study_id: names.get(study_id, study_id))
    st.session_state["study-id"] = chosen
    if st.query_params.get("study") != chosen:
        st.query_params["study"] = chosen
    return chosen


def study_row(study_id: str) -> dict:
    """What `queries.studies` says of one study."""
    rows = queries.studies(store())
    return rows[rows["study_id"] == study_id].iloc[0].to_dict()


def readouts(study_id: str, revision: int | None = None, *, confirmatory: bool = False,
             paraphrases: str = "standing", everything: bool = False) -> pd.DataFrame:
    """The study's readouts, read again only when something new was committed."""
    held = store()
    revision = held.revision(study_id) if revision is None else revision
    return _readouts(study_id, revision, confirmatory, paraphrases, everything)


@st.cache_data(show_spinner=False, max_entries=24)
def _readouts(study_id: str, revision: int, confirmatory: bool, paraphrases: str, everything: bool) -> pd.DataFrame:
    return queries.readouts(store(), study_id, confirmatory=confirmatory, paraphrases=paraphrases, everything=everything)


def study_items(study_id: str) -> pd.DataFrame:
    return _study_items(study_id, store().revision(study_id))


@st.cache_data(show_spinner=False, max_entries=24)
def _study_items(study_id: str, revision: int) -> pd.DataFrame:
    return queries.study_items(store(), study_id)
