"""The decision record: who decided what, when, from which settings; and the log of moved thresholds."""

from __future__ import annotations

import streamlit as st

from flipcore.core.records import digest
from flipcore.store.queries import studies
from flipcore.store.rows import now
from pages.common import session
from pages.common.notes import plain

NOTICE = "record-written"  # in the session: the sentence that was just stored, said once


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
    """Opens the dialog in which a decision is written down, where one was asked for; says afterwards that it is. `decision`:
    {"sentences": [...], **settings}."""
    if decision:
        _ask(study_id, page, mode, decision)
    if sentence := st.session_state.pop(NOTICE, None):
        st.toast(f"Written: {plain(sentence)} [See the record](#decision-record)", icon=":material/edit:", duration="long")


@st.dialog("Write to record", width="medium", icon=":material/edit:")
def _ask(study_id: str, page: str, mode: str, decision: dict) -> None:
    """One sentence, a name, the button; what is replaced is said before."""
    sentences = list(dict.fromkeys(decision["sentences"]))
    sentence = st.radio("Sentence", sentences, key=f"decision-{page}-sentence", format_func=plain)
    before = _latest(study_id, page)
    if before:
        st.caption(plain(f"Replaces the decision of this page until now: {before}"))
    who = st.text_input("Your name", key=f"decision-{page}-name", max_chars=80)
    if not st.button("Write it down", key=f"decision-{page}-keep", type="primary", icon=":material/edit:"):
        return
    if not who.strip():
        st.error("Give your name first, so that others can ask you about it.")
        return
    row = {
        "study_id": study_id,
        "page": page,
        "sentence": sentence,
        "mode": mode,
        "settings": {key: value for key, value in decision.items() if key != "sentences"},
        "came_from": {"sentence": before} if before else None,
        "reviewer": who.strip(),
        "created_at": now(),
    }
    session.store().writer.add("decisions", [row | {"decision_id": digest(*map(str, row.values()))}]).result(10)
    st.session_state[NOTICE] = sentence
    st.rerun()


def _latest(study_id: str, page: str) -> str:
    """The sentence that stands for this page now; "" without one."""
    decisions = studies.decisions(session.store(), study_id)
    decisions = decisions[decisions["page"] == page] if not decisions.empty else decisions
    return "" if decisions.empty else str(decisions["sentence"].iloc[0])


def history(study_id: str) -> None:
    """What has been decided on this study, newest first."""
    decisions = studies.decisions(session.store(), study_id)
    if decisions.empty:
        return
    st.subheader("Decision record", anchor="decision-record")
    for row in decisions.to_dict("records"):
        st.markdown(
            plain(f"{row['created_at']:%Y-%m-%d %H:%M} {row['reviewer']} ({row['page']}, {row['mode']}): {row['sentence']}")
        )
