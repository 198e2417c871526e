"""Where a new study starts from: the default, or the study that is being duplicated (`?from_study=`)."""

from dataclasses import replace

import streamlit as st

from flipcore.core.errors import BadInput
from flipcore.core.study import Study
from flipcore.runs.demo import demo_study
from flipcore.runs.plan import parts
from flipcore.store.queries import studies
from pages.common import session
from pages.common.notes import plain


def draft() -> Study:
    """The study that fills the steps at first; chosen once, then the widgets remember."""
    origin = st.query_params.get("from_study", "")
    if st.session_state.get("draft-of") != origin:
        parent, problem = _parent(origin)
        base = replace(parent, name=f"{parent.name} (copy)") if parent else replace(demo_study(), name="")
        # another page may offer a study to start from
        st.session_state["draft"] = base = st.session_state.get("offered-drafts", {}).get(origin, base)
        if origin and not parent and not problem and origin not in st.session_state.get("offered-drafts", {}):
            problem = f"The study of this link is not here; this is a copy of {demo_study().name}."
        st.session_state["draft-of"], st.session_state["draft-problem"] = origin, problem
        st.session_state["draft-sources"] = list(base.items)
    if st.session_state["draft-problem"]:
        st.error(plain(st.session_state["draft-problem"]), icon=":material/unknown_document:")
    return st.session_state["draft"]


def offer_own() -> None:
    """While the demo's sample stands untouched: one click to begin with items of one's own."""
    sources = st.session_state["draft-sources"]
    if sources == list(demo_study().items):
        st.button("Use my own items instead of this sample", key="own-items", icon=":material/upload:", on_click=sources.clear)


def _parent(study_id: str) -> tuple[Study | None, str]:
    """The stored study to be duplicated, or None, and why it cannot be. An import has nothing to ask."""
    try:
        study = studies.study(session.store(), study_id)
        if study is None:
            return None, ""
        if study.is_recorded:
            return None, "This study was imported: recorded outputs cannot be asked again. This is a copy of the demo instead."
        parts(study)
        return study, ""
    except BadInput as error:
        return None, f"This study cannot be duplicated here. {error}"
