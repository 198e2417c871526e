"""Names the pages and runs the chosen one; nothing else."""

import streamlit as st

from flipcore.access.acting import Level, Permission, Person, acting, is_access_on
from pages import navigation
from pages.common import surroundings, tab_title
from pages.common.identity import entrance
from pages.navigation import Visibility

tab_title.begin()

PAGES = [one.page() for one in navigation.PAGES]
REVIEW, SURVEY = (next(one for one in PAGES if one.url_path == path) for path in ("paraphrase_review", "survey"))


def studies_link() -> None:
    """A link to /studies opens the default page, which Streamlit itself puts at / alone."""
    st.switch_page(PAGES[0], query_params=st.query_params.to_dict())


def _former(one: navigation.Entry, name: str) -> st.Page:
    """The address that a page had in earlier releases: links to it open the same today."""
    opened = lambda: st.switch_page(one.path, query_params={**st.query_params.to_dict(), **one.was[name]})  # noqa: E731 -- as below
    return st.Page(opened, title=one.title, url_path=name, visibility="hidden")


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
    sight: Visibility = "visible" if is_access_on() and person.may(Permission.ACCESS) else "hidden"
    access = navigation.ACCESS.page(sight)
    former = [_former(one, name) for one in navigation.PAGES for name in one.was]
    return [*PAGES, access, *former, st.Page(studies_link, url_path="studies", title="Studies", visibility="hidden")]


page = st.navigation(shown_pages(acting()), position="top")
surroundings.style()
if acting().may(Permission.READ):
    with tab_title.around_page():
        surroundings.offer_meeting()
        entry = navigation.BY_FOLDER.get(page.url_path)
        surroundings.offer_keys(entry.keys if entry else (), is_start=not page.url_path)
        page.run()
else:
    page.run()
