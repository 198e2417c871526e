"""Where a new study starts from: the default, or the study that is being duplicated (`?from_study=`)."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from flipcore.core.study import Study
from flipcore.runs.demo import demo_study
from flipcore.store.queries import studies
from pages.common import session


def draft() -> Study:
    """The study that fills the steps at first; chosen once, then the widgets remember."""
    origin = st.query_params.get("from_study", "")
    if st.session_state.get("draft-of") != origin:
        rows = studies.studies(session.store())
        exists = origin in set(rows["study_id"]) if not rows.empty else False
        base = studies.declared(session.store(), origin) if exists else demo_study()
        exists, base = (exists, base) if not base.is_recorded else (False, demo_study())  # an import has nothing to ask
        if origin in st.session_state.get("offered-drafts", {}):  # another page offers a study to start from
            base = st.session_state["offered-drafts"][origin]
        st.session_state["draft"] = replace(base, name=f"{base.name} (copy)" if exists else "")
        st.session_state["draft-of"] = origin
        st.session_state["draft-sources"] = list(base.items)
    return st.session_state["draft"]
