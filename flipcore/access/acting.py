"""Access levels, what each may do, who is acting now, and the check of every read and write.

A reviewer has other permissions than a viewer, not more. Access is on while `access.toml` is in the
user's own folder; `flipcore.access.policy` reads it.

The acting person comes from the context and not from an argument. The store and its writer check
at the one place that all rows pass. So no function can forget to pass a person on, and no argument
of a page can name somebody else. A request or a websocket acts inside `acting_as`. The session of
a page is found by the functions given to `register_finder`. A thread without a session, such as a
started run, and the command line act as the owner.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol
from weakref import WeakSet

from flipcore.core.errors import AccessDenied
from flipcore.core.paths import home


class Level(StrEnum):
    """Level of a person's permissions; NONE is for unknown people."""

    NONE = ""
    REVIEWER = "reviewer"
    VIEWER = "viewer"
    ANALYST = "analyst"
    ADMIN = "admin"


class Permission(StrEnum):
    """A permission, in the words of a refusal: "you may not …"."""

    READ = "read results"
    JUDGE = "judge paraphrases"
    ANSWER = "answer a survey"
    DECIDE = "write decisions, locks and verdicts on flips"
    RUN = "declare, start, stop and pay for studies"
    BRING = "bring in files, paraphrases and surveys"
    PUBLISH = "publish to a folder of the server or to the hub"
    MODELS = "add, test and remove models"
    FILES = "merge and delete"
    ACCESS = "give access and see who did what"


MAY: dict[Permission, frozenset[Level]] = {
    Permission.READ: frozenset({Level.VIEWER, Level.ANALYST, Level.ADMIN}),
    Permission.JUDGE: frozenset({Level.REVIEWER, Level.ANALYST, Level.ADMIN}),
    Permission.ANSWER: frozenset({Level.REVIEWER, Level.ANALYST, Level.ADMIN}),
    Permission.DECIDE: frozenset({Level.ANALYST, Level.ADMIN}),
    Permission.RUN: frozenset({Level.ANALYST, Level.ADMIN}),
    Permission.BRING: frozenset({Level.ANALYST, Level.ADMIN}),
    Permission.PUBLISH: frozenset({Level.ANALYST, Level.ADMIN}),
    Permission.MODELS: frozenset({Level.ADMIN}),
    Permission.FILES: frozenset({Level.ADMIN}),
    Permission.ACCESS: frozenset({Level.ADMIN}),
}
ABOUT = {
    Level.REVIEWER: "their own queue or survey, and nothing else",
    Level.VIEWER: "reads every result",
    Level.ANALYST: "declares, runs within a budget, decides",
    Level.ADMIN: "models, files, deletion, access",
}


def with_article(level: Level) -> str:
    """Return the level with its article, "an admin"."""
    return f"{'an' if level[:1] in 'aeiou' else 'a'} {level}"


QUEUE, SURVEY = "queue:", "survey:"  # begin the scope of a reviewer
ALL_SOURCES = "all sources"  # the queue of every stored paraphrase


@dataclass(frozen=True)
class Person:
    """A person with a level.

    `name` is "" on localhost while access is off, and on the command line. `scope` is `queue:` and
    a source of paraphrases, `survey:` and its id, or "" for no limit. `invitation` is the id of
    their invitation, "" without one.
    """

    name: str
    level: Level
    scope: str = ""
    invitation: str = ""

    def may(self, permission: Permission) -> bool:
        """Return whether the level and the scope allow it.

        A reviewer may either judge paraphrases or answer a survey, by their scope.
        """
        if self.level not in MAY[permission]:
            return False
        if self.level is Level.REVIEWER:
            return self.scope.startswith(QUEUE if permission is Permission.JUDGE else SURVEY)
        return True

    @property
    def source(self) -> str:
        """The source of paraphrases that this person judges."""
        return self.scope.removeprefix(QUEUE) if self.scope.startswith(QUEUE) else ALL_SOURCES

    @property
    def survey(self) -> str:
        """Id of the one survey that this person answers; "" for any."""
        return self.scope.removeprefix(SURVEY) if self.scope.startswith(SURVEY) else ""


# The person at this machine: on the command line, or on localhost while access is off.
OWNER = Person("", Level.ADMIN)
NOBODY = Person("", Level.NONE)


def access_file() -> Path:
    """Return the path of the file that switches access on, whether it exists or not."""
    return home() / "access.toml"


def is_access_on() -> bool:
    """Return whether people have different levels here."""
    try:
        os.stat(access_file())
    except FileNotFoundError:
        return False
    except OSError:
        return True  # An existing file that cannot be read must not give access to everybody.
    return True


_person: ContextVar[Person | Callable[[], Person] | None] = ContextVar("person", default=None)
_open_for: ContextVar[Permission | None] = ContextVar("open_for", default=None)
# By name, so that a module that is loaded again replaces its own function.
_finders: dict[str, Callable[[], Person | None]] = {}


def register_finder(name: str, find: Callable[[], Person | None]) -> None:
    """Register `find`, which returns the person who acts in this thread, or None if it is unknown.

    A second function with the same name replaces the first.
    """
    _finders[name] = find


def acting() -> Person:
    """Return the acting person: of the context, else of the thread's session, else the owner."""
    if not is_access_on():
        return OWNER
    if (person := _person.get()) is not None:
        return person if isinstance(person, Person) else person()
    for find in _finders.values():
        if (session_person := find()) is not None:
            return session_person
    return OWNER


@contextmanager
def acting_as(person: Person | Callable[[], Person]) -> Iterator[None]:
    """Let this person act inside the context.

    A function is called at each check, for contexts that may last longer than an invitation.
    """
    token = _person.set(person)
    try:
        yield
    finally:
        _person.reset(token)


def require(permission: Permission, person: Person | None = None) -> Person:
    """Return the acting person. Raises AccessDenied, with a sentence, if they may not."""
    person = acting() if person is None else person
    if not person.may(permission):
        raise AccessDenied(refusal(permission, person))
    return person


def refusal(permission: Permission, person: Person) -> str:
    """Return why a person may not, and what they can do."""
    if person.level is Level.NONE:
        return (
            f"Nobody is logged in here, so you may not {permission}. Log in, or open your "
            "invitation link."
        )
    if person.level is Level.REVIEWER:
        return (
            f"This invitation is for your own queue or survey alone; you may not {permission}. "
            "Ask an admin for more access."
        )
    levels = " or ".join(
        with_article(level)
        for level in Level
        if level in MAY[permission] and level is not Level.REVIEWER
    )
    return (
        f"Only {levels} may {permission}; you are {with_article(person.level)}. Ask an admin for "
        "another access level."
    )


def require_read() -> None:
    """Check a query. Raises AccessDenied if the person may not read results.

    Inside `opened_to` a person with that permission may read too.
    """
    person = acting()
    if person.may(Permission.READ):
        return
    sufficient = _open_for.get()
    if sufficient is None or not person.may(sufficient):
        raise AccessDenied(refusal(Permission.READ, person))


@contextmanager
def opened_to(permission: Permission, name: str | None = None) -> Iterator[Person]:
    """Open queries inside the context to people with `permission` who may not read results.

    With `name` they are opened only to the person of that name. This is for the few queries that a
    reviewer's own work needs, each of which leaves out what others did.
    """
    person = acting()
    is_allowed = name is None or name == person.name
    token = _open_for.set(permission if is_allowed else None)
    try:
        yield person
    finally:
        _open_for.reset(token)


def signature(name: str) -> str:
    """Return the acting person's own name, else the given one."""
    person = acting()
    return person.name or name.strip()


# Acts outside the database, such as adding a model or a file, are reported to the open store, which
# keeps the log of acts. There is no log while access is off.
class Keeper(Protocol):
    """Keeper of the log of acts; `record_act` returns when the act is stored."""

    def record_act(self, act: str, target: str) -> None: ...


# Weak references, so that a store without other users can be freed.
_keepers: WeakSet[Keeper] = WeakSet()


def listen(keeper: Keeper) -> None:
    """Report acts to this keeper from now on."""
    _keepers.add(keeper)


def leave(keeper: Keeper) -> None:
    """Report no more acts to this keeper."""
    _keepers.discard(keeper)


def tell(act: str, target: str) -> None:
    """Report an act of the acting person on `target` to the log."""
    if is_access_on():
        for keeper in list(_keepers):
            keeper.record_act(act, target)
