"""Record: what did we decide, from what, and does it still hold?"""

import streamlit as st

from flipcore.reports.decision_record import count_sentence
from flipcore.text.tables import table_text
from pages.common.files import offer_file
from pages.common.header import page_header
from pages.common.notes import how_to_read
from pages.record import cached, questions
from pages.record.entry import card

MOST = 50  # on the page; the files hold all
VIEWS = {"decomposition": "Decomposition", "memorization": "Memorization", "holdout": "Holdout"}  # pages with a threshold
FORMATS = {"csv": ("CSV", "text/csv"), "md": ("Markdown", "text/markdown")}


def filters(studies: dict[str, str], pages: list[str]) -> dict[str, str]:
    """Study, page and words, all in the link."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="view-line"):
        study_id = st.selectbox(
            "Study", ["", *studies], key="in", bind="query-params", width=330, label_visibility="collapsed",
            format_func=lambda one: studies.get(one, "every study"),
        )  # fmt: skip
        page = st.selectbox(
            "Page", ["", *pages], key="on-page", bind="query-params", width=190, label_visibility="collapsed",
            format_func=lambda one: one.replace("_", " ").capitalize() or "every page",
        )  # fmt: skip
        words = st.text_input(
            "Find", key="words", bind="query-params", placeholder="Find words, a name", width=240, label_visibility="collapsed"
        )
    return {"study_id": study_id or "", "page": page or "", "words": words or ""}


page_header("Record", "What did we decide, from what, and does it still hold?", choose=False)
studies, pages = cached.places()
choices = filters(studies, pages) if studies else {"study_id": "", "page": "", "words": ""}
record = cached.entries(**choices)
if not studies:
    st.markdown("## No decision has been written down yet.")
    st.markdown(
        "Drag a threshold on a page that has one, then press **Write to record** beside it. The sentence comes here, with its "
        "settings, the outputs in sight and your name."
    )
    with st.container(horizontal=True, gap="small"):
        for page, title in VIEWS.items():
            st.page_link(f"{page}/page.py", label=f"Open {title}", icon=":material/arrow_forward:")
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
questions.show(choices["study_id"])

how_to_read(
    "A **decision** is a sentence as it stood on a page, with its settings and its name. **Open the view** leads back to that page "
    "at those settings. **Changed**: items, readouts or verdicts on paraphrases behind it are not those of then, so read the page "
    "again before you rely on it. **Replaced**: a later decision of the same page stands. Nothing is ever deleted."
)
