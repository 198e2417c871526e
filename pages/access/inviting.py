"""Invitations: issue one, copy its link, see who came by it and when, revoke it."""

from urllib.parse import urlsplit

import streamlit as st

from flipcore.access.levels import ABOUT, Level
from flipcore.access.person import EVERY, QUEUE, SURVEY
from flipcore.invitations.links import DAYS, MOST_DAYS, issue, link, revoke
from flipcore.invitations.listing import listing
from flipcore.store.queries import holdout, invitations, review
from pages.common import session
from pages.common.notes import plain, shown_problem
from pages.common.tables import show_table

ISSUED = "invitation-issued"  # in the session: the link that was issued last


def show() -> None:
    """The form, the link that it made, and the list."""
    st.subheader("Invite somebody", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input("Name", key="invite-name", max_chars=80, width=240)
        choices = _choices()
        choice = st.selectbox("To", list(choices), key="invite-to", width=420)
        days = st.number_input("Days", 1, MOST_DAYS, DAYS, key="invite-days", width=120)
        if st.button("Issue the link", type="primary", icon=":material/link:", disabled=not name.strip()):
            with shown_problem():
                level, scope = choices[choice]
                st.session_state[ISSUED] = issue(session.store(), name, level, scope, days).invitation_id
    _issued()
    _list()


def _choices() -> dict[str, tuple[Level, str]]:
    """What one may be invited to: a queue, a survey, or a level."""
    store = session.store()
    sources = sorted(set(review.sources_of_pairs(store).values()))
    queues = {f"reviewer: paraphrases of {source}": (Level.REVIEWER, QUEUE + source) for source in (EVERY, *sources)}
    surveys = {
        f"reviewer: survey {row['name']} ({row['survey_id']})": (Level.REVIEWER, SURVEY + row["survey_id"])
        for row in holdout.surveys(store)
    }
    levels = {f"{level}: {ABOUT[level]}": (level, "") for level in (Level.VIEWER, Level.ANALYST, Level.ADMIN)}
    return queues | surveys | levels


def _issued() -> None:
    """The link that was issued last, with a button that copies it; never shown again once it was opened or revoked."""
    one = invitations.by_id(session.store()).get(st.session_state.get(ISSUED, ""))
    if one is None or not one.stands or one.opened_at is not None:
        return
    address = urlsplit(st.context.url or "")
    base = (st.get_option("server.baseUrlPath") or "").strip("/")
    st.markdown(f"For {plain(one.name)}, until {one.expires_at:%Y-%m-%d %H:%M} UTC. It is shown here alone; copy it now:")
    st.code(link(one, f"{address.scheme}://{address.netloc}/{base}"), language=None, wrap_lines=True)


def _list() -> None:
    """Every invitation with its state, and the ones that may be revoked."""
    every = invitations.invitations(session.store())
    if not every:
        st.caption("Nobody has been invited yet.")
        return
    show_table("invitations", listing(every))
    standing = {one.invitation_id: f"{one.name}: {one.scope or one.level}" for one in every if one.stands}
    if not standing:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        which = st.selectbox("Invitation", list(standing), format_func=standing.__getitem__, key="revoke-which", width=420)
        if st.button("Revoke", icon=":material/block:"):
            with shown_problem():
                revoke(session.store(), which)
                st.rerun()
