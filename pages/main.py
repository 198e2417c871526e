"""Names the pages and runs the chosen one; nothing else."""

from typing import Literal

import streamlit as st

from flipcore.access import policy
from flipcore.access.acting import acting
from flipcore.access.levels import Level, Permission
from flipcore.access.person import Person
from pages.common import keys, presenting, tab_title
from pages.common.identity import entrance

tab_title.begin()

PAGES = [
    st.Page(
        "studies/page.py",
        title="Studies",
        icon=":material/science:",
        url_path="home",  # Streamlit opens the default page at / alone; /studies is `studies_link`
        default=True,
        help="What have we measured, and what did it say?",
    ),
    st.Page(
        "new_study/page.py",
        title="New study",
        icon=":material/add_circle:",
        url_path="new_study",
        help="What do you want to know about which model?",
    ),
    st.Page(
        "flip_surface/page.py",
        title="Flip surface",
        icon=":material/grid_on:",
        url_path="flip_surface",
        help="Where do answers flip, and is it the model or the extractor?",
    ),
    st.Page(
        "decomposition/page.py",
        title="Decomposition",
        icon=":material/stacked_bar_chart:",
        url_path="decomposition",
        help="How much of the instability is genuine?",
    ),
    st.Page(
        "ranking/page.py",
        title="Ranking",
        icon=":material/leaderboard:",
        url_path="ranking",
        help="Which model is better, and does that order hold?",
    ),
    st.Page(
        "memorization/page.py",
        title="Memorization",
        icon=":material/memory:",
        url_path="memorization",
        help="Is the score memory?",
    ),
    st.Page(
        "holdout/page.py",
        title="Holdout",
        icon=":material/join:",
        url_path="holdout",
        help="Could these have come from the same source?",
    ),
    st.Page("record/page.py", title="Record", icon=":material/history_edu:", url_path="record", help="What was decided?"),
    st.Page(
        "audit/page.py",
        title="Audit",
        icon=":material/fact_check:",
        url_path="audit",
        help="What does this log say, and does it hold?",
    ),
    st.Page(
        "models/page.py",
        title="Models",
        icon=":material/smart_toy:",
        url_path="models",
        help="Which models can I ask, and what can they do?",
    ),
    st.Page(
        "paraphrase_review/page.py",
        title="Paraphrase review",
        icon=":material/rate_review:",
        url_path="paraphrase_review",
        help="Is this the same question?",
    ),
    st.Page(
        "survey/page.py",
        title="Survey",
        icon=":material/quiz:",
        url_path="survey",
        visibility="hidden",
        help="Which one comes from the second set?",
    ),
    st.Page(
        "report/page.py",
        title="Report",
        icon=":material/description:",
        url_path="report",
        visibility="hidden",
        help="What do I hand on?",
    ),
    st.Page(
        "glossary/page.py",
        title="Glossary",
        icon=":material/menu_book:",
        url_path="glossary",
        visibility="hidden",
        help="What does this word mean?",
    ),
]

WHO_MAY = "Who may do what?"
REVIEW, SURVEY = (next(one for one in PAGES if one.url_path == path) for path in ("paraphrase_review", "survey"))


def studies_link() -> None:
    """A link to /studies opens the default page, which Streamlit itself puts at / alone."""
    st.switch_page(PAGES[0], query_params=st.query_params.to_dict())


def _entrance(person: Person, url_path: str) -> st.Page:
    """The entrance in the place of a page, so that a link leads to it and, after a login, on to the page."""
    visit = lambda: entrance(person)  # noqa: E731 -- Streamlit names a page by its function
    return st.Page(visit, title="Flipscope", url_path=url_path or "home", visibility="hidden", default=not url_path)


def shown_pages(person: Person) -> list:
    """Every page for whoever may read (Access says why it is shut), a reviewer's one page, for anybody else the entrance."""
    if person.level is Level.REVIEWER:
        own = "survey/page.py" if person.survey else "paraphrase_review/page.py"
        return [st.Page(own, title="Flipscope", url_path="home", default=True), SURVEY if person.survey else REVIEW]
    if not person.may(Permission.READ):
        return [_entrance(person, one.url_path) for one in PAGES]
    sight: Literal["visible", "hidden"] = "visible" if policy.is_on() and person.may(Permission.ACCESS) else "hidden"
    access = st.Page("access/page.py", title="Access", icon=":material/key:", url_path="access", visibility=sight, help=WHO_MAY)
    return [*PAGES, access, st.Page(studies_link, url_path="studies", title="Studies", visibility="hidden")]


page = st.navigation(shown_pages(acting()), position="top")
presenting.style()
if acting().may(Permission.READ):
    with tab_title.around_page():
        presenting.offer()
        keys.offer(page.url_path)
        page.run()
else:
    page.run()
