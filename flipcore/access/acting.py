"""Who is acting now, and the one question that every read and write asks: may they?

The person is taken from the context, not from an argument: the writer and the store ask at the one place that all rows pass, so
that no function can forget to hand a person on, and an argument that comes from a page cannot name somebody else. A request or a
websocket acts inside `acting_as`; a page's session is found by what `found_by` was given. A thread that serves no session, such as
a run that was started, and the command line act for the owner of the file.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from flipcore.access import policy
from flipcore.access.levels import MAY, Level, Permission, with_article
from flipcore.access.person import OWNER, Person
from flipcore.core.errors import AccessDenied

_person: ContextVar[Person | Callable[[], Person] | None] = ContextVar("person", default=None)
_open_for: ContextVar[Permission | None] = ContextVar("open_for", default=None)
_finders: dict[str, Callable[[], Person | None]] = {}


def found_by(name: str, find: Callable[[], Person | None]) -> None:
    """`find` says who acts in this thread, or None where it does not know; given again under a name, it replaces the first."""
    _finders[name] = find


def acting() -> Person:
    """Who acts: named by the context, else by the session of this thread, else the owner. The owner wherever access is off."""
    if not policy.is_on():
        return OWNER
    if (who := _person.get()) is not None:
        return who if isinstance(who, Person) else who()
    return next((person for find in _finders.values() if (person := find()) is not None), OWNER)


@contextmanager
def acting_as(person: Person | Callable[[], Person]) -> Iterator[None]:
    """Inside, this person acts, whosever thread it is. A function is asked each time, for what lasts longer than an invitation may."""
    token = _person.set(person)
    try:
        yield
    finally:
        _person.reset(token)


def require(permission: Permission, person: Person | None = None) -> Person:
    """The person who acts, where they may. Raises AccessDenied with a sentence where they may not."""
    person = acting() if person is None else person
    if not person.may(permission):
        raise AccessDenied(refusal(permission, person))
    return person


def refusal(permission: Permission, person: Person) -> str:
    """Why a person may not, and what to do."""
    if person.level is Level.NONE:
        return f"Nobody is logged in here, so you may not {permission}. Log in, or open your invitation link."
    if person.level is Level.REVIEWER:
        return f"This invitation is for your own queue or survey alone; you may not {permission}. Ask an admin for more access."
    levels = " or ".join(with_article(level) for level in Level if level in MAY[permission] and level is not Level.REVIEWER)
    return f"Only {levels} may {permission}; you are {with_article(person.level)}. Ask an admin for another access level."


def require_read() -> None:
    """Asked before every query. Raises AccessDenied for whoever may not read results, unless the query is opened to them."""
    person = acting()
    if person.may(Permission.READ):
        return
    opened = _open_for.get()
    if opened is None or not person.may(opened):
        raise AccessDenied(refusal(Permission.READ, person))


@contextmanager
def opened_to(permission: Permission, name: str | None = None) -> Iterator[Person]:
    """Inside, whoever has `permission` may ask the store although they may not read results; with `name` only of their own rows.
    For the few queries that a reviewer's own work needs, each of which leaves out what others did."""
    person = acting()
    own = name is None or name == person.name
    token = _open_for.set(permission if own else None)
    try:
        yield person
    finally:
        _open_for.reset(token)


def signature(name: str) -> str:
    """Under which name something is kept: that of the identity; the name that was given only where there is none."""
    person = acting()
    return person.name or name.strip()
