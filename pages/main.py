"""List the pages for whoever looks, and run the chosen one."""

import streamlit as st

from flipcore.access.acting import Level, Permission, Person, acting, is_access_on
from pages import navigation
from pages.common import surroundings, tab_title
from pages.common.identity import show_entrance
from pages.navigation import Visibility

tab_title.begin()

PAGES = [entry.page() for entry in navigation.PAGES]
REVIEW, SURVEY = (
    next(page for page in PAGES if page.url_path == path)
    for path in ("paraphrase_review", "survey")
)


def studies_link() -> None:
    """Open the default page for a link to /studies, because Streamlit serves it at / only."""
    st.switch_page(PAGES[0], query_params=st.query_params.to_dict())


def _redirect_from(entry: navigation.Entry, name: str) -> st.Page:
    """Return a page that redirects from the address of an earlier release to today's page."""
    redirect = lambda: st.switch_page(  # noqa: E731 -- as in `_entrance`
        entry.path, query_params={**st.query_params.to_dict(), **entry.former_links[name]}
    )
    return st.Page(redirect, title=entry.title, url_path=name, visibility="hidden")


def _entrance(person: Person, url_path: str) -> st.Page:
    """Return the entrance at the address of a page.

    A link to the page then shows the entrance first and, after a login, the page.
    """
    visit = lambda: show_entrance(person)  # noqa: E731 -- Streamlit names a page by its function
    return st.Page(
        visit,
        title="Flipscope",
        url_path=url_path or "home",
        visibility="hidden",
        default=not url_path,
    )


def shown_pages(person: Person) -> list:
    """Return the pages that `person` may open.

    Readers get every page, reviewers get their one page, and all others get the entrance.
    """
    if person.level is Level.REVIEWER:
        review_page = "survey/page.py" if person.survey else "paraphrase_review/page.py"
        return [
            st.Page(review_page, title="Flipscope", url_path="home", default=True),
            SURVEY if person.survey else REVIEW,
        ]
    if not person.may(Permission.READ):
        return [_entrance(person, page.url_path) for page in PAGES]
    # The menu lists Access for admins only. Other readers may open it and read why it is closed.
    visibility: Visibility = (
        "visible" if is_access_on() and person.may(Permission.ACCESS) else "hidden"
    )
    access = navigation.ACCESS.page(visibility)
    former_pages = []
    for entry in navigation.PAGES:
        former_pages += [_redirect_from(entry, name) for name in entry.former_links]
    return [
        *PAGES,
        access,
        *former_pages,
        st.Page(studies_link, url_path="studies", title="Studies", visibility="hidden"),
    ]


page = st.navigation(shown_pages(acting()), position="top")
surroundings.apply_style()
if acting().may(Permission.READ):
    with tab_title.around_page():
        surroundings.offer_meeting()
        entry = navigation.BY_FOLDER.get(page.url_path)
        surroundings.offer_keys(entry.keys if entry else (), is_start=not page.url_path)
        page.run()
else:
    page.run()
