"""The decision record (who decided what, when, from which settings) and the log of moves."""

from urllib.parse import urlencode

import streamlit as st

from flipcore.core.errors import BadInput
from flipcore.core.records import digest
from flipcore.reports.decision_record import outputs_in_view
from flipcore.store.queries import decisions
from flipcore.store.rows import now
from pages.common import session
from pages.common.identity import name_field
from pages.common.showing import plain
from pages.navigation import title_of

NOTICE_KEY = "record-written"  # of the session state: True if a sentence was just stored
# A longer list of sentences scrolls, so that the name and the button stay in sight.
MANY_SENTENCES, MANY_SENTENCES_PX = 4, 260


def log_move(study_id: str, moved: dict | None) -> None:
    """Log that somebody moved a threshold: {control, from, to, lowest, highest}.

    None and moves of other controls, which have no range, are not logged.
    """
    if moved and "lowest" in moved:
        # One id per session tells people apart without their names.
        session_id = st.session_state.setdefault("session-id", digest(str(now())))
        decisions.keep_move(session.store(), study_id, moved, session_id)


def offer_decision(study_id: str, page: str, mode: str, decision: dict | None) -> None:
    """Open the dialog that stores a decision, and confirm once it is stored.

    `decision` is {"sentences": [...], **settings}; with None no dialog opens.
    """
    if decision:
        _ask(study_id, page, mode, decision)
    if st.session_state.pop(NOTICE_KEY, False):
        # A longer note is cut off, and its link with it.
        st.toast(
            "Written. [See the record](#decision-record)", icon=":material/edit:", duration="long"
        )


@st.dialog("Write to record", width="medium", icon=":material/edit:")
def _ask(study_id: str, page: str, mode: str, decision: dict) -> None:
    """Ask for the decision, the page's sentence that it rests on, and a name; then store them."""
    # A page may show a sentence twice, and radio options must differ.
    sentences = list(dict.fromkeys(decision["sentences"]))
    resolution = st.text_input(
        "We decide (optional)",
        key=f"decision-{page}-resolution",
        max_chars=decisions.MAX_LETTERS,
        placeholder="to report both scores, and to ask 100 more questions before the release",
    )
    with st.container(
        height=MANY_SENTENCES_PX if len(sentences) > MANY_SENTENCES else "content", border=False
    ):
        sentence = st.radio(
            "Because the page says", sentences, key=f"decision-{page}-sentence", format_func=plain
        )
    former_decision = decisions.latest(session.store(), study_id, page)
    if former_decision:
        st.caption(plain(f"Replaces the earlier decision of this page: {former_decision}"))
    # The link is stored with the decision, so that its view can be opened again.
    query = urlencode(list(st.query_params.to_dict().items()))
    evidence = outputs_in_view(session.store(), study_id, str(decision.get("model", "")), query)
    if evidence:
        st.caption(
            plain(
                f"Kept with it: the two outputs on screen ({evidence['item']}, "
                f"{evidence['variant']})."
            )
        )
    question = st.text_input(
        "Left open (optional)", key=f"decision-{page}-question", max_chars=decisions.MAX_LETTERS
    )
    reviewer = name_field("Your name", key=f"decision-{page}-name", max_chars=80)
    if not st.button(
        "Write it down", key=f"decision-{page}-keep", type="primary", icon=":material/edit:"
    ):
        return
    if not reviewer.strip():
        st.error("Give your name first, so that others can ask you about it.")
        return
    settings = {key: value for key, value in decision.items() if key != "sentences"}
    try:
        decisions.keep_decision(
            session.store(),
            study_id,
            page,
            mode,
            sentence,
            settings,
            reviewer,
            query=query,
            evidence=evidence,
            resolution=resolution,
        )
    except BadInput as error:
        # The lock may have become invalid since the page was drawn.
        st.error(str(error))
        return
    if question.strip():
        decisions.keep_question(session.store(), study_id, page, question, reviewer)
    st.session_state[NOTICE_KEY] = True
    st.rerun()


def show_decisions(study_id: str) -> None:
    """Show the decisions on this study, if there are any."""
    record = decisions.decisions(session.store(), study_id)
    if record.empty:
        return
    st.subheader("Decision record", anchor="decision-record")
    for row in record.to_dict("records"):
        resolution = f"We decide: {row['resolution']} The page said: " if row["resolution"] else ""
        st.markdown(
            plain(
                f"{row['created_at']:%Y-%m-%d %H:%M} {row['reviewer']} ({title_of(row['page'])}, "
                f"{row['mode']}): {resolution}{row['sentence']}"
            )
        )
    link = {"part": "Decisions", "in": study_id}
    st.page_link(
        "report/page.py", label="Every decision", icon=":material/history_edu:", query_params=link
    )
