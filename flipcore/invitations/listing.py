"""The list of invitations as the admin sees it."""

from collections.abc import Sequence

from flipcore.store.queries.invitations import Invitation

_TIME = "%Y-%m-%d %H:%M"


def listing(every: Sequence[Invitation]) -> list[dict[str, str]]:
    """One row an invitation: for whom, to what, its state, and when; times in UTC."""
    return [
        {
            "name": one.name,
            "level": one.level,
            "to": one.scope.replace(":", ": ", 1),
            "state": state_of(one),
            "opened": one.opened_at.strftime(_TIME) if one.opened_at else "",
            "until": one.expires_at.strftime(_TIME),
            "issued by": one.issued_by,
            "issued": one.created_at.strftime(_TIME),
        }
        for one in every
    ]


def state_of(one: Invitation) -> str:
    """revoked, expired, opened or waiting."""
    if one.revoked_at is not None:
        return "revoked"
    if one.is_over:
        return "expired"
    return "waiting" if one.opened_at is None else "opened"
