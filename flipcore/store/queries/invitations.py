"""Invitations, what became of them, and the log of acts, as the store holds them. Only the admin
reads them; whether one invitation stands is answered to everybody, because a cookie has to be
looked up before it is known who came.
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
from flipcore.store.audit_log import act_row, chain_again, forget_outside, problem
from flipcore.store.connection import Store
from flipcore.store.rows import now
from flipcore.store.schema import tables

OPENED, REVOKED = "opened", "revoked"
TOUCHED = "invitations"  # the revision under which what is remembered of them is kept
NAME_COLUMNS = ("reviewer", "annotator", "author", "made_by", "who", "issued_by")
_memory: "WeakKeyDictionary[Store, tuple[int, dict[str, Invitation]]]" = WeakKeyDictionary()
_lock = threading.Lock()


@dataclass(frozen=True)
class Invitation:
    """A stored invitation; `opened_at` and `revoked_at` are None until then. Times are in UTC."""

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
        """The text that its link is signed over: a row that was changed after the link was given
        out opens nothing."""
        expires = self.expires_at.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
        return {"name": self.name, "level": self.level, "scope": self.scope, "expires": expires}

    @property
    def person(self) -> Person:
        """Whoever comes by it."""
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
WHERE i.origin = '' GROUP BY ALL ORDER BY 7 DESC, 1
"""


def by_id(store: Store) -> dict[str, Invitation]:
    """Every invitation by its id, newest first, remembered until one changes. For looking one up,
    not for showing them."""
    revision = store.revision(TOUCHED)
    with _lock:
        remembered = _memory.get(store)
        if remembered and remembered[0] == revision:
            return remembered[1]
        with acting_as(OWNER):
            rows = store.rows(_INVITATIONS)
        rows_by_id = {row[0]: _invitation(row) for row in rows}
        _memory[store] = revision, rows_by_id
        return rows_by_id


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
    """Every invitation, newest first, for the admin."""
    require(Permission.ACCESS)
    return list(by_id(store).values())


def keep_invitation(
    store: Store, name: str, level: Level, scope: str, expires_at: dt.datetime
) -> Invitation:
    """Store an invitation in the name of the admin who acts."""
    person = require(Permission.ACCESS)
    invitation = Invitation(
        secrets.token_hex(8), name, str(level), scope, expires_at, person.name, now()
    )
    columns = tables()["invitations"].names
    store.writer.add(
        "invitations",
        [{column: getattr(invitation, column) for column in columns if column != "origin"}],
    ).result(30)
    store.touch([TOUCHED])
    return invitation


def keep_event(store: Store, invitation_id: str) -> None:
    """Append that an invitation was revoked, for the admin."""
    person = require(Permission.ACCESS)
    store.writer.add("invitation_events", [_event(invitation_id, REVOKED, person.name)]).result(30)
    store.touch([TOUCHED])


def keep_first_use(store: Store, invitation: Invitation) -> bool:
    """Append that an invitation was used, unless it was before; whether this was the first time.
    Two at once: one is first."""

    def first(connection: Any) -> bool:
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
        is_first = store.writer.transact(first, Permission.ACCESS, changes=()).result(30)
        if is_first:
            store.writer.add_together(
                act_row(invitation.person, "opened an invitation", invitation.invitation_id)
            ).result(30)
    store.touch([TOUCHED])
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
    """The log of acts for the admin, newest first: created_at, who, level, act, target, n_rows; of
    some people, or with these words in what was done or on what. `elsewhere` is what merged files
    say was done there, with their name as `origin`.
    """
    require(Permission.ACCESS)
    return store.frame(
        f"SELECT created_at, who, level, act, target, n_rows{', origin' * elsewhere} FROM acts "
        "WHERE (origin <> '') = $elsewhere AND ($everybody OR who IN (SELECT unnest($who))) "
        "AND (act ILIKE '%' || $words || '%' OR target ILIKE '%' || $words || '%') "
        "ORDER BY created_at DESC, act_id",
        elsewhere=elsewhere,
        everybody=not people,
        who=list(people) or [""],
        words=words,
    )


def names(store: Store) -> list[str]:
    """Every name of a person under which something is stored, for the admin."""
    require(Permission.ACCESS)
    parts = [
        f"SELECT {column} AS name FROM {table}{_PEOPLE.get(table, '')}"
        for table, column in _places()
    ]
    sql = f"SELECT DISTINCT name FROM ({' UNION ALL '.join(parts)}) WHERE name <> '' ORDER BY name"
    return [name for (name,) in store.rows(sql)]


_PEOPLE = {"verdicts": " WHERE reviewer_kind = 'person'", "survey_answers": " WHERE NOT is_model"}


def _places() -> list[tuple[str, str]]:
    """Columns of the schema that hold the name of a person who did something or was invited."""
    places = []
    for table in tables().values():
        places += [(table.name, column) for column in table.names if column in NAME_COLUMNS]
    return [*places, ("invitations", "name")]


def replace_name(store: Store, name: str) -> str:
    """Put a number in the place of a name wherever it is stored, so that no page, log or export
    shows it again; the new name. Rows stay as they are otherwise. An invitation of that name opens
    nothing afterwards."""
    require(Permission.ACCESS)
    names_now = set(names(store))
    n = 1
    while f"Person {n}" in names_now:
        n += 1
    number = f"Person {n}"

    def rename(connection: Any) -> None:
        is_whole = not problem(connection, store.path)
        # The target of an invitation is whom it was for.
        for table, column in (*_places(), ("acts", "target")):
            sql = f"UPDATE {table} SET {column} = $number WHERE {column} = $name"
            connection.execute(sql, {"number": number, "name": name})
        if is_whole:
            chain_again(connection)
            forget_outside(store.path)

    store.writer.transact(rename, Permission.ACCESS, "replaced a name", number, changes=()).result(
        60
    )
    store.touch([TOUCHED, ""])
    return number
