"""Issue invitations, open their links once, and recognize people by the cookie that they get.

A link has the token `id.signature` in its fragment, which no server and no log sees. It is
exchanged once for a cookie with another signature. Both signatures cover what the invitation
allows, and are made with the secret of this machine.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from flipcore.access import signing
from flipcore.access.acting import QUEUE, SURVEY, Level, Permission, Person, require
from flipcore.core.errors import BadInput
from flipcore.store.connection import Store
from flipcore.store.queries import invitations
from flipcore.store.queries.invitations import Invitation
from flipcore.store.rows import now

ENTER = "/access/enter"
COOKIE = "flipscope_access"
MAX_DAYS, DAYS = 365, 14  # longest and usual life of an invitation
MAX_NAME_CHARS = 80
MAX_TOKEN_CHARS = 200
FOREIGN = (
    "This link was not issued here, or it was changed on its way. Ask whoever sent it for a new "
    "one."
)
REVOKED_LINK = "This invitation was revoked. Ask whoever sent it for a new one."
EXPIRED = "This invitation has expired. Ask whoever sent it for a new one."
ELSEWHERE = (
    "This link was opened in another browser before, and it is for one person. Ask whoever sent "
    "it for a new one."
)


@dataclass(frozen=True)
class Entry:
    """Outcome of opening a link.

    `sentence` is for the person. `cookie`, `place` (the path of the page to open) and `seconds`
    (life of the cookie) are empty if the person is refused.
    """

    sentence: str
    cookie: str = ""
    place: str = ""
    seconds: int = 0


def issue(
    store: Store, name: str, level: Level | str, scope: str = "", days: float = DAYS
) -> Invitation:
    """Store a new invitation, and revoke an earlier one with the same name, level and scope.

    Raises AccessDenied without the permission, and BadInput for an invalid name, level, scope or
    number of days.
    """
    require(Permission.ACCESS)
    name = " ".join(str(name).split())
    if not name or len(name) > MAX_NAME_CHARS or not name.isprintable():
        raise BadInput(
            f"An invitation is for one person: give a name of 1 to {MAX_NAME_CHARS} printable "
            "characters."
        )
    if level not in set(Level) - {Level.NONE}:
        raise BadInput(
            f"{str(level)[:40]!r} is no access level; choose "
            f"{', '.join(choice for choice in Level if choice)}."
        )
    if (level == Level.REVIEWER) != scope.startswith((QUEUE, SURVEY)):
        raise BadInput(
            "A reviewer is invited to one queue or one survey, and nobody else is. Choose which."
        )
    if not 0 < days <= MAX_DAYS:
        raise BadInput(
            f"An invitation of {days} days was asked for; it may hold for up to {MAX_DAYS}."
        )
    for earlier in invitations.invitations(store):
        if earlier.stands and (earlier.name, earlier.level, earlier.scope) == (name, level, scope):
            revoke(store, earlier.invitation_id)
    return invitations.keep_invitation(
        store, name, level=Level(level), scope=scope, expires_at=now() + dt.timedelta(days=days)
    )


def link(invitation: Invitation, address: str) -> str:
    """Return the invitation's link; `address` is the dashboard's, as https://flips.example.org."""
    token = signing.signed(signing.LINK, invitation.invitation_id, content=invitation.content)
    return f"{address.rstrip('/')}{ENTER}#{token}"


def revoke(store: Store, invitation_id: str) -> None:
    """Revoke an invitation at once. Raises AccessDenied, and BadInput for an unknown id."""
    require(Permission.ACCESS)
    if invitation_id not in invitations.by_id(store):
        raise BadInput(f"There is no invitation {invitation_id[:40]!r}. Choose one of the list.")
    invitations.keep_event(store, invitation_id)


def enter(store: Store, token: str, cookie: str = "") -> Entry:
    """Open a link by its token; only the browser with the first `cookie` may open it again."""
    invitation = None
    if len(token) <= MAX_TOKEN_CHARS:
        invitation = invitations.by_id(store).get(signing.key_of(token))
    # The signature is checked first, so that nobody can find out which invitations exist.
    if invitation is None or not signing.is_signed(signing.LINK, token, content=invitation.content):
        return Entry(FOREIGN)
    if invitation.revoked_at is not None:
        return Entry(REVOKED_LINK)
    if invitation.is_over:
        return Entry(EXPIRED)
    is_same_id = signing.key_of(cookie) == invitation.invitation_id
    is_same_browser = is_same_id and person_of(store, cookie) is not None
    if not is_same_browser and not invitations.keep_first_use(store, invitation):
        return Entry(ELSEWHERE)
    seconds = max(1, int((invitation.expires_at - now()).total_seconds()))
    return Entry(
        "Welcome.",
        signing.signed(signing.COOKIE, invitation.invitation_id, content=invitation.content),
        place=place_of(invitation.person),
        seconds=seconds,
    )


def place_of(person: Person) -> str:
    """Return the path of the page that a person is invited to."""
    if person.survey:
        return f"/survey?survey={quote(person.survey, safe='')}"
    return "/paraphrase_review" if person.level is Level.REVIEWER else "/"


def person_of(store: Store, cookie: str) -> Person | None:
    """Return the person of a cookie; None if it is forged, expired or revoked."""
    # Looked up at each request, so that a revocation works at once.
    invitation = None
    if len(cookie) <= MAX_TOKEN_CHARS:
        invitation = invitations.by_id(store).get(signing.key_of(cookie))
    if (
        invitation is None
        or not invitation.stands
        or invitation.opened_at is None
        or not signing.is_signed(signing.COOKIE, cookie, content=invitation.content)
    ):
        return None
    return invitation.person


_TIME = "%Y-%m-%d %H:%M"


def listing(all_invitations: Sequence[Invitation]) -> list[dict[str, str]]:
    """Return one table row per invitation, with times in UTC."""
    return [
        {
            "name": invitation.name,
            "level": invitation.level,
            "to": invitation.scope.replace(":", ": ", 1),
            "state": state_of(invitation),
            "opened": invitation.opened_at.strftime(_TIME) if invitation.opened_at else "",
            "until": invitation.expires_at.strftime(_TIME),
            "issued by": invitation.issued_by,
            "issued": invitation.created_at.strftime(_TIME),
        }
        for invitation in all_invitations
    ]


def state_of(invitation: Invitation) -> str:
    """Return "revoked", "expired", "waiting" (not opened yet) or "opened"."""
    if invitation.revoked_at is not None:
        return "revoked"
    if invitation.is_over:
        return "expired"
    return "waiting" if invitation.opened_at is None else "opened"
