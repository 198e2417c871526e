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
from pages.navigation import PAGES, find_page, title_of


def studies_and_pages() -> tuple[dict[str, str], list[str]]:
    """Return the studies that have a decision (id -> name) and the names of the pages."""
    # Not cached, so that a decision appears as soon as it was stored.
    all_decisions = decisions.record(session.store())
    names = {
        row["study_id"]: row["study"] or row["study_id"] for row in all_decisions.to_dict("records")
    }
    return names, sorted(set(all_decisions["page"]))


# A decision can claim no more than the intervals of its mode.
MODE_BADGES = {"explore": "EXPLORATORY", "locked": "LOCKED"}


def draw_card(entry: Entry) -> None:
    """Show a decision: who made it and when, whether it still holds, and what it rests on."""
    with st.container(border=True, key=f"decision-{entry.decision_id}"):
        if entry.resolution:
            st.markdown(f"**{plain(f'We decide: {entry.resolution}')}**")
        st.markdown(plain(entry.sentence) if entry.resolution else f"**{plain(entry.sentence)}**")
        if entry.before:
            st.caption(plain(f"Instead of: {entry.before}"))
        st.caption(
            plain(
                f"{entry.moment} · {entry.reviewer} · {entry.subject} · {title_of(entry.page)} · "
                f"{entry.mode}"
            )
        )
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if badge := MODE_BADGES.get(entry.mode):
                show_badges([(badge, badge)])
            if entry.is_replaced:
                st.badge("REPLACED", color="gray", help="A later decision of the same page stands.")
            if entry.is_current:
                st.badge("AS IT WAS", color="green", help=entry.since)
            else:
                st.badge(
                    "CHANGED" if entry.is_changed else "UNKNOWN",
                    color="orange" if entry.is_changed else "gray",
                    help="Read the page again before you rely on this.",
                )
                st.caption(plain(entry.since), width="content")
            # A row that was merged from another file may name any page.
            page, link = find_page(entry.page)
            if page is not None and page.has_decisions:
                st.page_link(
                    page.path,
                    label="Open the view",
                    icon=":material/arrow_forward:",
                    query_params={
                        **dict(parse_qsl(entry.query)),
                        **link,
                        "decision": entry.decision_id,
                    },
                )
            with st.popover("Made from", type="tertiary"):
                st.markdown(plain(f"Settings: {entry.settings_text or 'none'}"))
                st.markdown(plain(f"Paraphrases: {entry.verdicts_text}"))
                st.markdown(plain(f"Outputs looked at: {entry.outputs or 'none was open'}"))


def show_open_questions(study_id: str) -> None:
    """Show the questions that decisions left open, each with a field for its answer.

    With "" these are the questions of all studies.
    """
    questions = decisions.open_questions(session.store())
    if study_id:
        questions = questions[questions["study_id"] == study_id]
    rows = questions.to_dict("records")
    if not rows:
        return
    st.subheader("Open questions", anchor=False)
    for row in rows:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(plain(row["question"]), width="content")
            st.caption(
                plain(
                    f"{row['author']}, {row['created_at']:%Y-%m-%d}, "
                    f"{row['study'] or row['study_id']}"
                ),
                width="content",
            )
            with st.popover("Answer", type="tertiary"):
                _ask_answer(row)


def _ask_answer(row: dict) -> None:
    """Ask for the answer to an open question and store it, which settles the question."""
    key = f"question-{row['question_id']}"
    words = st.text_input("Answer", key=f"{key}-words", max_chars=decisions.MAX_LETTERS)
    author = name_field("Your name", key=f"{key}-name", max_chars=80)
    if st.button("Keep the answer", key=f"{key}-keep", type="primary"):
        with shown_problem():
            decisions.keep_question(
                session.store(),
                row["study_id"],
                row["page"],
                words,
                author,
                settles=row["question_id"],
            )
            st.rerun()


MAX_CARDS = 50  # on the page; the files hold all decisions
FORMATS = {"csv": ("CSV", "text/csv"), "md": ("Markdown", "text/markdown")}


def choose_filters(studies: dict[str, str], pages: list[str]) -> dict[str, str]:
    """Draw the filters, which are in the link; return the arguments of `entries`."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        study_names = {"": "every study"} | studies
        study_id = screen.select(
            "Study",
            list(study_names),
            "in",
            width=330,
            label_visibility="collapsed",
            format_func=study_names.get,
        )
        titles = {"": "every page"} | {page: title_of(page) for page in pages}
        page = screen.select(
            "Page",
            list(titles),
            "on-page",
            width=190,
            label_visibility="collapsed",
            format_func=titles.get,
        )
        words = st.text_input(
            "Find",
            key="words",
            bind="query-params",
            placeholder="Find words, a name",
            width=240,
            label_visibility="collapsed",
        )
    return {"study_id": study_id or "", "page": page or "", "words": words or ""}


def show_decisions() -> None:
    """Show the decisions of every study, or of one, and the open questions."""
    studies, pages = studies_and_pages()
    choices = {"study_id": "", "page": "", "words": ""}
    if studies:
        choices = choose_filters(studies, pages)
    record = entries(session.store(), **choices)
    if not studies:
        st.markdown("## No decision has been written down yet.")
        st.markdown(
            "Drag a threshold on a page that has one, then press **Write to record** beside it. "
            "The sentence comes here, with its settings, the outputs on screen and your name."
        )
        with st.container(horizontal=True, gap="small"):
            for page in PAGES:
                if page.has_decisions and set(RECORD) <= set(page.keys):
                    st.page_link(
                        page.path, label=f"Open {page.title}", icon=":material/arrow_forward:"
                    )
    elif record:
        st.markdown(f"## {count_sentence(record)}")
        with st.container(horizontal=True, gap="small"):
            for format, (title, mime) in FORMATS.items():
                text = table_text([entry.row() for entry in record], format)
                offer_file(title, text, f"decisions.{format}", mime, key=f"record-{format}")
        for entry in record[:MAX_CARDS]:
            draw_card(entry)
        if len(record) > MAX_CARDS:
            st.caption(
                f"{MAX_CARDS} of {len(record):,} decisions are shown. Narrow the filter; the "
                "files hold all of them."
            )
    else:
        st.info(
            "No decision fits this filter. Clear it to see all of them.",
            icon=":material/search_off:",
        )
    show_open_questions(choices["study_id"])
    how_to_read(
        "A **decision** is what people decided, in their words, and the sentence of the page that "
        "they decided it from, with its settings and a name. **Open the view** leads back to that "
        "page at those settings. **Changed**: items, readouts or verdicts on paraphrases behind it "
        "are not those of then, so read the page again before you rely on it. **Replaced**: a "
        "later decision of the same page stands. Nothing is ever deleted."
    )
