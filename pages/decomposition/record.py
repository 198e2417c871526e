"""The decision record: who decided what, when, from which settings; and the log of moved thresholds."""

from __future__ import annotations

import streamlit as st

from flipcore.records import digest
from flipcore.store import queries
from flipcore.store.rows import now
from pages.common import session
from pages.common.notes import plain


def log_move(study_id: str, moved: dict | None) -> None:
    """A released move of the level, with the range that it crossed."""
    if not moved or moved["control"] != "level":
        return
    session_id = st.session_state.setdefault("session-id", digest(str(now())))
    row = {"study_id": study_id, "control": "level", "came_from": moved["from"], "went_to": moved["to"],
           "lowest": moved["lowest"], "highest": moved["highest"], "session": session_id, "created_at": now()}
    session.store().writer.add("threshold_moves", [row | {"move_id": digest(*map(str, row.values()))}]).result(10)


def offer(study_id: str, mode: str, model: str, decision: dict | None) -> None:
    """Asks for a name and a sentence, then appends the decision."""
    if decision:
        st.session_state["decision"] = decision
    pending = st.session_state.get("decision")
    if not pending:
        return
    with st.container(border=True):
        sentence = st.selectbox("Which sentence goes into the record?", pending["sentences"], key="decision-sentence")
        who = st.text_input("Your name", key="decision-name")
        keep, drop = st.columns(2)
        if keep.button("Write it down", type="primary", disabled=not who, icon=":material/edit:"):
            settings = {key: pending[key] for key in ("level", "reference", "policy", "kind", "rule")} | {"model": model}
            earlier = queries.decisions(session.store(), study_id)
            row = {"study_id": study_id, "page": "decomposition", "sentence": sentence, "mode": mode, "settings": settings,
                   "came_from": None if earlier.empty else {"sentence": earlier["sentence"].iloc[0]}, "reviewer": who,
                   "created_at": now()}
            session.store().writer.add("decisions", [row | {"decision_id": digest(*map(str, row.values()))}]).result(10)
            st.session_state.pop("decision")
            st.rerun()
        if drop.button("Not now"):
            st.session_state.pop("decision")
            st.rerun()


def kept(study_id: str) -> None:
    """What has been decided on this study, newest first."""
    found = queries.decisions(session.store(), study_id)
    if found.empty:
        return
    st.subheader("Decision record", anchor=False)
    for row in found.to_dict("records"):
        st.markdown(plain(f"{row['created_at']:%Y-%m-%d %H:%M} {row['reviewer']} ({row['mode']}): {row['sentence']}"))
