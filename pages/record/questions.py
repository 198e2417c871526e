"""Open questions: what was left open when something was decided, and who answers it."""

import streamlit as st

from flipcore.store.queries import decisions
from pages.common import session
from pages.common.identity import name_field
from pages.common.notes import plain, shown_problem


def show(study_id: str) -> None:
    """The open ones, of one study where `study_id` names it, each with a field for its answer."""
    every = decisions.open_questions(session.store())
    rows = (every[every["study_id"] == study_id] if study_id else every).to_dict("records")
    if not rows:
        return
    st.subheader("Open questions", anchor=False)
    for row in rows:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(plain(row["question"]), width="content")
            st.caption(
                plain(f"{row['author']}, {row['created_at']:%Y-%m-%d}, {row['study'] or row['study_id']}"), width="content"
            )
            with st.popover("Answer", type="tertiary"):
                _answer(row)


def _answer(row: dict) -> None:
    key = f"question-{row['question_id']}"
    words = st.text_input("Answer", key=f"{key}-words", max_chars=decisions.MOST_LETTERS)
    who = name_field("Your name", key=f"{key}-name", max_chars=80)
    if st.button("Keep the answer", key=f"{key}-keep", type="primary"):
        with shown_problem():
            decisions.keep_question(session.store(), row["study_id"], row["page"], words, who, settles=row["question_id"])
            st.rerun()
