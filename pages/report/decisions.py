"""Report, Decisions: what did we decide, from what, and does it still hold?"""

from urllib.parse import parse_qsl

import streamlit as st

from flipcore.reports.decision_record import Entry, count_sentence, entries
from flipcore.store.queries import decisions
from flipcore.text.tables import table_text
from pages.common import screen, session
from pages.common.header import show_badges
from pages.common.identity import name_field
from pages.common.showing import how_to_read, offer_file, plain, shown_problem
from pages.common.surroundings import RECORD
from pages.navigation import PAGES, place_of, title_of

# What the page reads of the record, which is read each time: a decision that was just written down is there at once.


def places() -> tuple[dict[str, str], list[str]]:
    """Studies with a decision, by id, and the pages that have one."""
    every = decisions.record(session.store())
    names = {row["study_id"]: row["study"] or row["study_id"] for row in every.to_dict("records")}
    return names, sorted(set(every["page"]))


# One decision: its sentence, who and when, whether it still holds, and what it was made from.


MODE_BADGES = {"explore": "EXPLORATORY", "locked": "LOCKED"}  # what a decision made in this mode is worth


def card(one: Entry) -> None:
    with st.container(border=True, key=f"decision-{one.decision_id}"):
        if one.resolution:
            st.markdown(f"**{plain(f'We decide: {one.resolution}')}**")
        st.markdown(plain(one.sentence) if one.resolution else f"**{plain(one.sentence)}**")
        if one.before:
            st.caption(plain(f"Instead of: {one.before}"))
        st.caption(plain(f"{one.moment} · {one.reviewer} · {one.subject} · {title_of(one.page)} · {one.mode}"))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if badge := MODE_BADGES.get(one.mode):
                show_badges([(badge, badge)])
            if one.is_replaced:
                st.badge("REPLACED", color="gray", help="A later decision of the same page stands.")
            if one.is_current:
                st.badge("AS IT WAS", color="green", help=one.since)
            else:
                st.badge(
                    "CHANGED" if one.is_changed else "UNKNOWN",
                    color="orange" if one.is_changed else "gray",
                    help="Read the page again before you rely on this.",
                )
                st.caption(plain(one.since), width="content")
            place, link = place_of(one.page)  # a row from another file may name anything
            if place is not None and place.has_decisions:
                st.page_link(
                    place.path,
                    label="Open the view",
                    icon=":material/arrow_forward:",
                    query_params={**dict(parse_qsl(one.query)), **link, "decision": one.decision_id},
                )
            with st.popover("Made from", type="tertiary"):
                st.markdown(plain(f"Settings: {one.settings_text or 'none'}"))
                st.markdown(plain(f"Paraphrases: {one.verdicts_text}"))
                st.markdown(plain(f"Outputs looked at: {one.outputs or 'none was open'}"))


# Open questions: what was left open when something was decided, and who answers it.


def open_questions(study_id: str) -> None:
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


MOST = 50  # on the page; the files hold all
FORMATS = {"csv": ("CSV", "text/csv"), "md": ("Markdown", "text/markdown")}


def filters(studies: dict[str, str], pages: list[str]) -> dict[str, str]:
    """Study, page and words, all in the link."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        place = {"": "every study"} | studies
        study_id = screen.select("Study", list(place), "in", width=330, label_visibility="collapsed", format_func=place.get)
        titles = {"": "every page"} | {one: title_of(one) for one in pages}
        page = screen.select("Page", list(titles), "on-page", width=190, label_visibility="collapsed", format_func=titles.get)
        words = st.text_input(
            "Find", key="words", bind="query-params", placeholder="Find words, a name", width=240, label_visibility="collapsed"
        )
    return {"study_id": study_id or "", "page": page or "", "words": words or ""}


def show_decisions() -> None:
    """What was decided in every study, or in one, and what was left open."""
    studies, pages = places()
    choices = filters(studies, pages) if studies else {"study_id": "", "page": "", "words": ""}
    record = entries(session.store(), **choices)
    if not studies:
        st.markdown("## No decision has been written down yet.")
        st.markdown(
            "Drag a threshold on a page that has one, then press **Write to record** beside it. The sentence comes here, with its "
            "settings, the outputs in sight and your name."
        )
        with st.container(horizontal=True, gap="small"):
            for other in PAGES:
                if other.has_decisions and set(RECORD) <= set(other.keys):
                    st.page_link(other.path, label=f"Open {other.title}", icon=":material/arrow_forward:")
    elif record:
        st.markdown(f"## {count_sentence(record)}")
        with st.container(horizontal=True, gap="small"):
            for format, (title, mime) in FORMATS.items():
                text = table_text([one.row() for one in record], format)
                offer_file(title, text, f"decisions.{format}", mime, key=f"record-{format}")
        for one in record[:MOST]:
            card(one)
        if len(record) > MOST:
            st.caption(f"{MOST} of {len(record):,} decisions are shown. Narrow the filter; the files hold all of them.")
    else:
        st.info("No decision fits this filter. Clear it to see all of them.", icon=":material/search_off:")
    open_questions(choices["study_id"])
    how_to_read(
        "A **decision** is what people decided, in their words, and the sentence of the page that they decided it from, with its "
        "settings and a name. **Open the view** leads back to that page at those settings. **Changed**: items, readouts or verdicts on "
        "paraphrases behind it are not those of then, so read the page again before you rely on it. **Replaced**: a later decision of "
        "the same page stands. Nothing is ever deleted."
    )
