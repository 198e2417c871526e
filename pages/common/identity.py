"""The person in front of this page.

The cookie of an invitation or a login identifies the person. If access is off, pages ask for a
name.
"""

from collections.abc import Mapping, MutableMapping
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from flipcore.access.acting import ABOUT, Level, Person, acting, register_finder, with_article
from flipcore.core.errors import BadInput
from flipcore.invitations.gate import person_named
from flipcore.invitations.links import COOKIE
from pages.common.opened import store
from pages.common.showing import plain


def _cookie() -> str:
    # A page test has no request: tests stand in here for the browser's cookie.
    return st.context.cookies.get(COOKIE, "")


def in_session() -> Person | None:
    """Return the person for whom this thread draws a page; None in threads that draw none."""
    # A worker's thread has no cookies.
    if get_script_run_ctx(suppress_warning=True) is None:
        return None
    # Without a login Streamlit returns a dictionary with this flag alone.
    claims = st.user.to_dict()
    return person_named(store, _cookie(), claims if claims.get("is_logged_in") else {})


register_finder("session", in_session)


def login_of(cookies: Mapping[str, str], scope: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Return the login's claims for a request that belongs to no page; {} without a login.

    Streamlit's own private functions read its signed cookie.
    """
    from streamlit.web.server.starlette import starlette_websocket as reader

    if reader.USER_COOKIE_NAME not in cookies:
        return {}
    headers = {
        name.decode("latin-1"): value.decode("latin-1") for name, value in scope.get("headers", ())
    }
    try:
        cookie = reader._get_signed_cookie_with_chunks(dict(cookies), reader.USER_COOKIE_NAME)
        claims = (
            reader._parse_decoded_user_cookie(cookie, headers.get("origin", "")) if cookie else {}
        )
    except Exception:
        # The private functions may change. Without them only pages recognize the login.
        return {}
    return claims if claims.get("is_logged_in") else {}


def name_field(label: str, key: str, **options: Any) -> str:
    """Return the person's name for the record; draw a text field for it if it is unknown."""
    person = acting()
    if person.name:
        st.caption(f"Signed as {plain(person.name)}")
        return person.name
    return st.text_input(label, key=key, **options) or ""


def can_login() -> bool:
    """Return True if a login provider is configured (`[auth]` in the secrets file)."""
    try:
        return "auth" in st.secrets
    except (FileNotFoundError, KeyError):
        return False


def show_entrance(person: Person) -> None:
    """Show the entrance page to somebody who may see no other page."""
    st.title("Flipscope", anchor=False)
    st.markdown("This dashboard is open to people who log in or were invited.")
    # A damaged policy keeps everybody out, so show its error here.
    try:
        from flipcore.access.policy import policy

        policy()
    except BadInput as error:
        st.error(plain(error), icon=":material/error:")
    if person.name:
        st.warning(
            f"You are logged in as {plain(person.name)}, and no access was given to you. Ask an "
            "admin.",
            icon=":material/lock:",
        )
        st.button("Log out", icon=":material/logout:", on_click=st.logout)
    elif can_login():
        st.button("Log in", type="primary", icon=":material/login:", on_click=st.login)
    st.caption("Were you invited? Open the whole link of your invitation in this browser.")


def person_line(person: Person) -> str:
    """Return name, level and what the level allows."""
    return f"{plain(person.name)}, {with_article(person.level)}: {ABOUT[Level(person.level)]}"
