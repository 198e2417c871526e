"""Queries for invitations and for the log of acts.

Only the admin may read them. Looking up a single invitation needs no permission, because a cookie
must be looked up before it is known who the person is.
"""

import datetime as dt
import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import pandas as pd

from flipcore.access.acting import OWNER, Level, Permission, Person, acting_as, require
from flipcore.store.audit_log import act_parts, chain_again, forget_heads_outside, problem
from flipcore.store.connection import ALL_STUDIES, Store, text_list
from flipcore.store.rows import now
from flipcore.store.schema import tables

OPENED, REVOKED = "opened", "revoked"
REVISION_KEY = "invitations"  # key of the store's revision that grows when invitations change
NAME_COLUMNS = ("reviewer", "annotator", "author", "made_by", "who", "issued_by")
_cached_invitations: "WeakKeyDictionary[Store, tuple[int, dict[str, Invitation]]]" = (
    WeakKeyDictionary()
)
_lock = threading.Lock()


@dataclass(frozen=True)
class Invitation:
    """A stored invitation, with times in UTC. `opened_at` and `revoked_at` are None as long as that
    did not happen."""

    invitation_id: str
    name: str
    level: str
    scope: str
    expires_at: dt.datetime
    issued_by: str
    created_at: dt.datetime
    opened_at: dt.datetime | None = None
    revoked_at: dt.datetime | None = None

    @property
    def content(self) -> dict[str, str]:
        """The content that the link's signature covers, so that a changed row opens nothing."""
        expires = self.expires_at.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
        return {"name": self.name, "level": self.level, "scope": self.scope, "expires": expires}

    @property
    def person(self) -> Person:
        """The invited person."""
        return Person(self.name, Level(self.level), self.scope, self.invitation_id)

    @property
    def is_over(self) -> bool:
        return now() >= self.expires_at

    @property
    def stands(self) -> bool:
        return self.revoked_at is None and not self.is_over


_INVITATIONS = """
SELECT i.invitation_id, i.name, i.level, i.scope, epoch_us(i.expires_at), i.issued_by,
    epoch_us(i.created_at),
       epoch_us(min(e.created_at) FILTER (e.event = 'opened')),
           epoch_us(min(e.created_at) FILTER (e.event = 'revoked'))
FROM invitations i LEFT JOIN invitation_events e ON e.invitation_id = i.invitation_id
    AND e.origin = ''
WHERE i.origin = '' GROUP BY ALL ORDER BY epoch_us(i.created_at) DESC, i.invitation_id
"""


def by_id(store: Store) -> dict[str, Invitation]:
    """Return all invitations by id, newest first; cached until one changes. Use it to look up
    single invitations, not to show them: it checks no permission."""
    revision = store.revision(REVISION_KEY)
    with _lock:
        cached = _cached_invitations.get(store)
        if cached and cached[0] == revision:
            return cached[1]
        with acting_as(OWNER):
            rows = store.rows(_INVITATIONS)
        invitations_by_id = {row[0]: _invitation(row) for row in rows}
        _cached_invitations[store] = revision, invitations_by_id
        return invitations_by_id


def _invitation(row: tuple) -> Invitation:
    invitation_id, name, level, scope, expires_us, issued_by, created_us, opened_us, revoked_us = (
        row
    )
    expires_at, created_at = _time(expires_us), _time(created_us)
    assert expires_at is not None and created_at is not None, "both columns are NOT NULL"
    times = _time(opened_us), _time(revoked_us)
    return Invitation(invitation_id, name, level, scope, expires_at, issued_by, created_at, *times)


def _time(microseconds: int | None) -> dt.datetime | None:
    if microseconds is None:
        return None
    return dt.datetime.fromtimestamp(0, dt.UTC) + dt.timedelta(microseconds=microseconds)


def invitations(store: Store) -> list[Invitation]:
    """Return all invitations, newest first. AccessDenied for people who are no admins."""
    require(Permission.ACCESS)
    return list(by_id(store).values())


def keep_invitation(
    store: Store, name: str, level: Level, scope: str, expires_at: dt.datetime
) -> Invitation:
    """Store an invitation, issued by the acting admin."""
    person = require(Permission.ACCESS)
    invitation = Invitation(
        secrets.token_hex(8),
        name,
        level=str(level),
        scope=scope,
        expires_at=expires_at,
        issued_by=person.name,
        created_at=now(),
    )
    columns = tables()["invitations"].names
    store.writer.add(
        "invitations",
        [{column: getattr(invitation, column) for column in columns if column != "origin"}],
    ).result(30)
    store.touch([REVISION_KEY])
    return invitation


def keep_event(store: Store, invitation_id: str) -> None:
    """Record that the acting admin revoked an invitation."""
    person = require(Permission.ACCESS)
    store.writer.add("invitation_events", [_event(invitation_id, REVOKED, person.name)]).result(30)
    store.touch([REVISION_KEY])


def keep_first_use(store: Store, invitation: Invitation) -> bool:
    """Record the first use of an invitation; return whether this use is the first. It is decided
    within a transaction, so that of two uses at the same moment only one is first."""

    def add_first_use(connection: Any) -> bool:
        sql = (
            "SELECT 1 FROM invitation_events WHERE invitation_id = $id AND event = 'opened' "
            "AND origin = ''"
        )
        if connection.execute(sql, {"id": invitation.invitation_id}).fetchall():
            return False
        row = _event(invitation.invitation_id, OPENED, invitation.name)
        names = ", ".join(row)
        values = ", ".join(f"${name}" for name in row)
        connection.execute(f"INSERT INTO invitation_events ({names}) VALUES ({values})", row)
        return True

    with acting_as(OWNER):
        is_first = store.writer.transact(add_first_use, Permission.ACCESS, changes=()).result(30)
        if is_first:
            store.writer.add_together(
                act_parts(invitation.person, "opened an invitation", invitation.invitation_id)
            ).result(30)
    store.touch([REVISION_KEY])
    return bool(is_first)


def _event(invitation_id: str, event: str, person_name: str) -> dict[str, Any]:
    return {
        "event_id": secrets.token_hex(10),
        "invitation_id": invitation_id,
        "event": event,
        "who": person_name,
        "created_at": now(),
    }


def acts(
    store: Store, people: Sequence[str] = (), words: str = "", *, elsewhere: bool = False
) -> pd.DataFrame:
    """Return the log of acts, newest first: created_at, who, level, act, target, n_rows.

    `people` selects acts of some people, `words` acts with this text in act or target. `elsewhere`
    returns the acts from merged files instead, with the file's name in `origin`. AccessDenied for
    people who are no admins.
    """
    require(Permission.ACCESS)
    origin = ", origin" if elsewhere else ""
    return store.frame(
        f"SELECT created_at, who, level, act, target, n_rows{origin} FROM acts "
        "WHERE (origin <> '') = $elsewhere AND ($everybody OR who IN (SELECT unnest($who))) "
        "AND (act ILIKE '%' || $words || '%' OR target ILIKE '%' || $words || '%') "
        "ORDER BY created_at DESC, act_id",
        elsewhere=elsewhere,
        everybody=not people,
        who=text_list(people),
        words=words,
    )


def names(store: Store) -> list[str]:
    """Return all stored names of people. AccessDenied for people who are no admins."""
    require(Permission.ACCESS)
    queries = [
        f"SELECT {column} AS name FROM {table}{_ONLY_PEOPLE.get(table, '')}"
        for table, column in _name_columns()
    ]
    sql = (
        f"SELECT DISTINCT name FROM ({' UNION ALL '.join(queries)}) WHERE name <> '' ORDER BY name"
    )
    return [name for (name,) in store.rows(sql)]


_ONLY_PEOPLE = {
    "verdicts": " WHERE reviewer_kind = 'person'",
    "survey_answers": " WHERE NOT is_model",
}


def _name_columns() -> list[tuple[str, str]]:
    """Return (table, column) of all columns with the name of an acting or invited person."""
    columns = []
    for table in tables().values():
        columns += [(table.name, column) for column in table.names if column in NAME_COLUMNS]
    return [*columns, ("invitations", "name")]


def replace_name(store: Store, name: str) -> str:
    """Replace a person's name by "Person N" everywhere, and return the new name. Invitations under
    the old name open nothing afterwards, because their signature covers the name."""
    require(Permission.ACCESS)
    names_now = set(names(store))
    n = 1
    while f"Person {n}" in names_now:
        n += 1
    new_name = f"Person {n}"

    def rename(connection: Any) -> None:
        was_valid = not problem(connection, store.path)
        # The target of the act of inviting is the invited person's name.
        for table, column in (*_name_columns(), ("acts", "target")):
            sql = f"UPDATE {table} SET {column} = $number WHERE {column} = $name"
            connection.execute(sql, {"number": new_name, "name": name})
        if was_valid:
            chain_again(connection)
            forget_heads_outside(store.path)

    store.writer.transact(
        rename, Permission.ACCESS, "replaced a name", new_name, changes=()
    ).result(60)
    store.touch([REVISION_KEY, ALL_STUDIES])
    return new_name
