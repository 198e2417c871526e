"""The decision record: who decided what, when, from which settings; and the log of moved thresholds."""

from __future__ import annotations

import streamlit as st

from flipcore.core.records import digest
from flipcore.store.queries import studies
from flipcore.store.rows import now
from pages.common import session
from pages.common.notes import plain


def log_move(study_id: str, moved: dict | None) -> None:
    """A released move of a threshold ({control, from, to, lowest, highest}); other controls have no range to log."""
    if not moved or "lowest" not in moved:
        return
    session_id = st.session_state.setdefault("session-id", digest(str(now())))
    row = {
        "study_id": study_id,
        "control": moved["control"],
        "came_from": moved["from"],
        "went_to": moved["to"],
        "lowest": moved["lowest"],
        "highest": moved["highest"],
        "session": session_id,
        "created_at": now(),
    }
    session.store().writer.add("threshold_moves", [row | {"move_id": digest(*map(str, row.values()))}]).result(10)


def offer(study_id: str, page: str, mode: str, decision: dict | None) -> None:
    """Asks for a name and a sentence, then appends the decision. `decision`: {"sentences": [...], **settings}."""
    place = f"decision-{page}"
    if decision:
        st.session_state[place] = decision | {"study": study_id, "mode": mode}
    pending = st.session_state.get(place)
    if pending and (pending["study"], pending["mode"]) != (study_id, mode):  # its numbers belong to another view
        del st.session_state[place]
        return
    if not pending:
        return
    with st.container(border=True):
        sentence = st.selectbox("Which sentence goes into the record?", pending["sentences"], key=f"{place}-sentence")
        who = st.text_input("Your name", key=f"{place}-name")
        keep, drop = st.columns(2)
        if keep.button("Write it down", key=f"{place}-keep", type="primary", disabled=not who.strip(), icon=":material/edit:"):
            settings = {key: value for key, value in pending.items() if key not in ("sentences", "study", "mode")}
            earlier = studies.decisions(session.store(), study_id)
            earlier = earlier[earlier["page"] == page] if not earlier.empty else earlier
            row = {
                "study_id": study_id,
                "page": page,
                "sentence": sentence,
                "mode": mode,
                "settings": settings,
                "came_from": None if earlier.empty else {"sentence": earlier["sentence"].iloc[0]},
                "reviewer": who.strip(),
                "created_at": now(),
            }
            session.store().writer.add("decisions", [row | {"decision_id": digest(*map(str, row.values()))}]).result(10)
            st.session_state.pop(place)
            st.rerun()
        if drop.button("Not now", key=f"{place}-drop"):
            st.session_state.pop(place)
            st.rerun()


def history(study_id: str) -> None:
    """What has been decided on this study, newest first."""
    decisions = studies.decisions(session.store(), study_id)
    if decisions.empty:
        return
    st.subheader("Decision record", anchor=False)
    for row in decisions.to_dict("records"):
        st.markdown(
            plain(f"{row['created_at']:%Y-%m-%d %H:%M} {row['reviewer']} ({row['page']}, {row['mode']}): {row['sentence']}")
        )
