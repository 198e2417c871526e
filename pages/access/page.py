"""Access: who may do what?"""

from urllib.parse import urlsplit

import streamlit as st

from flipcore.access.acting import (
    ABOUT,
    ALL_SOURCES,
    QUEUE,
    SURVEY,
    Level,
    Permission,
    acting,
    is_access_on,
)
from flipcore.invitations.links import DAYS, MAX_DAYS, issue, link, listing, revoke
from flipcore.invitations.start import OFF, not_an_admin_text
from flipcore.store.archiving import back_up
from flipcore.store.queries import holdout, invitations, review
from pages.common import session
from pages.common.header import page_header
from pages.common.identity import person_line
from pages.common.showing import how_to_read, plain, show_table, shown_problem

ISSUED_KEY = "invitation-issued"  # of the session state: the id of the latest invitation


def show_invitations() -> None:
    """Draw the form for a new invitation, its link, and the list of all invitations."""
    st.subheader("Invite somebody", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input("Name", key="invite-name", max_chars=80, width=240)
        choices = _choices()
        choice = st.selectbox("To", list(choices), key="invite-to", width=420)
        days = st.number_input("Days", 1, MAX_DAYS, DAYS, key="invite-days", width=120)
        if st.button(
            "Issue the link", type="primary", icon=":material/link:", disabled=not name.strip()
        ):
            with shown_problem():
                level, scope = choices[choice]
                invitation = issue(session.store(), name, level, scope, days)
                st.session_state[ISSUED_KEY] = invitation.invitation_id
    _show_issued_link()
    _show_invitations()


def _choices() -> dict[str, tuple[Level, str]]:
    """Return label -> (level, scope) for each queue, survey and level to invite somebody to."""
    store = session.store()
    sources = sorted(set(review.sources_of_pairs(store).values()))
    queues = {
        f"reviewer: paraphrases of {source}": (Level.REVIEWER, QUEUE + source)
        for source in (ALL_SOURCES, *sources)
    }
    surveys = {
        f"reviewer: survey {row['name']} ({row['survey_id']})": (
            Level.REVIEWER,
            SURVEY + row["survey_id"],
        )
        for row in holdout.surveys(store)
    }
    levels = {
        f"{level}: {ABOUT[level]}": (level, "")
        for level in (Level.VIEWER, Level.ANALYST, Level.ADMIN)
    }
    return queues | surveys | levels


def _show_issued_link() -> None:
    """Show the link that was issued last; nothing once it was opened or revoked."""
    invitation = invitations.by_id(session.store()).get(st.session_state.get(ISSUED_KEY, ""))
    # An opened link belongs to the browser that opened it, and nobody else can use it.
    if invitation is None or not invitation.stands or invitation.opened_at is not None:
        return
    # Others reach the dashboard most likely at the address that this browser uses.
    address = urlsplit(st.context.url or "")
    base = (st.get_option("server.baseUrlPath") or "").strip("/")
    st.markdown(
        f"For {plain(invitation.name)}, until {invitation.expires_at:%Y-%m-%d %H:%M} UTC. It is "
        "shown here alone; copy it now:"
    )
    st.code(
        link(invitation, f"{address.scheme}://{address.netloc}/{base}"),
        language=None,
        wrap_lines=True,
    )


def _show_invitations() -> None:
    """List all invitations, and offer to revoke those that are valid."""
    all_invitations = invitations.invitations(session.store())
    if not all_invitations:
        st.caption("Nobody has been invited yet.")
        return
    show_table("invitations", listing(all_invitations))
    valid = {
        invitation.invitation_id: f"{invitation.name}: {invitation.scope or invitation.level}"
        for invitation in all_invitations
        if invitation.stands
    }
    if not valid:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        invitation_id = st.selectbox(
            "Invitation", list(valid), format_func=valid.__getitem__, key="revoke-which", width=420
        )
        if st.button("Revoke", icon=":material/block:"):
            with shown_problem():
                revoke(session.store(), invitation_id)
                st.rerun()


def show_log() -> None:
    """Show who did what, and offer a backup and the replacement of a name by a number."""
    store = session.store()
    st.subheader("Who did what", anchor=False)
    names = invitations.names(store)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        people = st.multiselect("People", names, key="acts-who", width=320)
        words = st.text_input("Find", key="acts-words", placeholder="act, study, pair", width=240)
    acts = invitations.acts(store, people, words)
    column_config = {"n_rows": "rows", "created_at": "when (UTC)", "target": "on"}
    if acts.empty:
        st.caption("The log has no row yet, or none that fits the filter.")
    else:
        show_table("acts", acts, column_config=column_config)
    # Merged files may say anything, so their acts are shown apart.
    other_acts = invitations.acts(store, people, words, elsewhere=True)
    if not other_acts.empty:
        with st.expander(
            f"Said by merged files of other places: {len(other_acts):,}", icon=":material/merge:"
        ):
            show_table("acts-elsewhere", other_acts, column_config=column_config)
    with st.container(horizontal=True):
        _offer_replacement(names)
        if st.button(
            "Back up the database",
            icon=":material/save:",
            help="one file beside the database, while it runs",
        ):
            with shown_problem():
                st.success(f"Everything is in {plain(back_up(store))}.", icon=":material/check:")


def _offer_replacement(names: list[str]) -> None:
    with st.popover("Replace a name by a number", icon=":material/person_off:"):
        st.markdown("On request of the person. It cannot be taken back, and their invitations end.")
        name = st.selectbox("Name", names, index=None, key="replace-name")
        if (
            st.button("Replace it everywhere", type="primary", disabled=name is None)
            and name is not None
        ):
            with shown_problem():
                number = invitations.replace_name(session.store(), name)
                st.success(f"It is {plain(number)} from now on.", icon=":material/check:")


page_header("access", choose=False)
if not is_access_on():
    st.info(OFF, icon=":material/lock_open:")
    st.stop()
if not acting().may(Permission.ACCESS):
    st.info(plain(not_an_admin_text(acting())), icon=":material/lock:")
    st.stop()
st.caption(f"You are {person_line(acting())}.")

with shown_problem():
    show_invitations()
    show_log()

how_to_read(
    "An **invitation** is a link for one person. A reviewer's link opens one queue or one survey "
    "and nothing else. It belongs to the first browser that opens it. **Revoke** ends it at once. "
    "Who logs in has the level that `access.toml` says. Rows of the **log** are never changed. A "
    "name that a number has replaced comes back only with a merged file that still holds it."
)
