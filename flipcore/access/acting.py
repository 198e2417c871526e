"""Access levels and what each may do (the one table), who is acting now, and the one question that
every read and write asks: may they?

A reviewer stands beside the other levels, not above the viewer. Access is on while `access.toml` is
in the user's own folder; whom it names is in `flipcore.access.policy`.

The person is taken from the context, not from an argument: the writer and the store ask at the one
place that all rows pass, so that no function can forget to hand a person on, and an argument that
comes from a page cannot name somebody else. A request or a websocket acts inside `acting_as`; a
page's session is found by what `found_by` was given. A thread that serves no session, such as a run
that was started, and the command line act for the owner of the file.
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
    """Level of a person's permissions; NONE is somebody of whom nothing is known."""

    NONE = ""
    REVIEWER = "reviewer"
    VIEWER = "viewer"
    ANALYST = "analyst"
    ADMIN = "admin"


class Permission(StrEnum):
    """Something that is allowed or not, as the sentence of a refusal names it."""

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
    """ "an admin"."""
    return f"{'an' if level[:1] in 'aeiou' else 'a'} {level}"


QUEUE, SURVEY = "queue:", "survey:"
EVERY = "all sources"  # the queue of every stored paraphrase


@dataclass(frozen=True)
class Person:
    """`name` is "" where nobody was asked for one: alone on localhost and on the command line.
    `scope` is `queue:` and a source of paraphrases, `survey:` and its id, or "" for no limit.
    `invitation` is the id of the link that they came by."""

    name: str
    level: Level
    scope: str = ""
    invitation: str = ""

    def may(self, permission: Permission) -> bool:
        """Tell whether the level allows it; a reviewer has one of the two permissions of their
        kind, by their scope."""
        if self.level not in MAY[permission]:
            return False
        if self.level is Level.REVIEWER:
            return self.scope.startswith(QUEUE if permission is Permission.JUDGE else SURVEY)
        return True

    @property
    def source(self) -> str:
        """The source of paraphrases that this person judges."""
        return self.scope.removeprefix(QUEUE) if self.scope.startswith(QUEUE) else EVERY

    @property
    def survey(self) -> str:
        """The one survey that this person answers; "" for any."""
        return self.scope.removeprefix(SURVEY) if self.scope.startswith(SURVEY) else ""


# whoever holds the file: alone on localhost, and on the command line
OWNER = Person("", Level.ADMIN)
NOBODY = Person("", Level.NONE)


def access_file() -> Path:
    """Place of the file that switches access on, whether it exists or not."""
    return home() / "access.toml"


def is_access_on() -> bool:
    """Tell whether people are told apart here."""
    try:
        os.stat(access_file())
    except FileNotFoundError:
        return False
    except OSError:
        return True  # a file that is there and cannot be read opens nothing
    return True


_person: ContextVar[Person | Callable[[], Person] | None] = ContextVar("person", default=None)
_open_for: ContextVar[Permission | None] = ContextVar("open_for", default=None)
_finders: dict[str, Callable[[], Person | None]] = {}


def found_by(name: str, find: Callable[[], Person | None]) -> None:
    """`find` says who acts in this thread, or None where it does not know; given again under a
    name, it replaces the first."""
    _finders[name] = find


def acting() -> Person:
    """The person who acts: named by the context, else by the session of this thread, else the
    owner. The owner wherever access is off."""
    if not is_access_on():
        return OWNER
    if (person := _person.get()) is not None:
        return person if isinstance(person, Person) else person()
    for find in _finders.values():
        if (found_person := find()) is not None:
            return found_person
    return OWNER


@contextmanager
def acting_as(person: Person | Callable[[], Person]) -> Iterator[None]:
    """Inside, this person acts, whosever thread it is. A function is asked each time, for what
    lasts longer than an invitation may."""
    token = _person.set(person)
    try:
        yield
    finally:
        _person.reset(token)


def require(permission: Permission, person: Person | None = None) -> Person:
    """The person who acts, where they may. Raises AccessDenied with a sentence where they may
    not."""
    person = acting() if person is None else person
    if not person.may(permission):
        raise AccessDenied(refusal(permission, person))
    return person


def refusal(permission: Permission, person: Person) -> str:
    """Reason for which a person may not, and what to do."""
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
    """Asked before every query. Raises AccessDenied for whoever may not read results, unless the
    query is opened to them."""
    person = acting()
    if person.may(Permission.READ):
        return
    opened = _open_for.get()
    if opened is None or not person.may(opened):
        raise AccessDenied(refusal(Permission.READ, person))


@contextmanager
def opened_to(permission: Permission, name: str | None = None) -> Iterator[Person]:
    """Inside, whoever has `permission` may ask the store although they may not read results; with
    `name` only of their own rows. For the few queries that a reviewer's own work needs, each of
    which leaves out what others did."""
    person = acting()
    is_own = name is None or name == person.name
    token = _open_for.set(permission if is_own else None)
    try:
        yield person
    finally:
        _open_for.reset(token)


def signature(name: str) -> str:
    """Return the name under which something is kept: the identity's, else the given one."""
    person = acting()
    return person.name or name.strip()


# What is done beside the database, such as a model that was added or a file that was brought in, is
# told to whoever keeps the log of acts: the open store. Where access is off there is no log, and
# where no store is open there is nobody to tell.


class Keeper(Protocol):
    """Keeps the log of acts; `told` returns when the act is stored."""

    def told(self, act: str, target: str) -> None: ...


_keepers: WeakSet[Keeper] = WeakSet()


def listen(keeper: Keeper) -> None:
    """From now on this one is told."""
    _keepers.add(keeper)


def leave(keeper: Keeper) -> None:
    """It is told nothing any more."""
    _keepers.discard(keeper)


def tell(act: str, target: str) -> None:
    """The person who acts has done this on `target`."""
    for keeper in list(_keepers) if is_access_on() else ():
        keeper.told(act, target)
