"""Levels by login, from `access.toml` in the user's own folder. Access is on while it exists.

[levels]                          # by the e-mail address of the login; * stands for any letters
admin = ["ada@example.org"]
analyst = ["*@lab.example.org"]

[claim]                           # by a claim of the login, for people whom no list names
name = "groups"
viewer = ["staff"]

[login]                           # addresses count if the provider sends `email_verified`; set
addresses_are_verified = true     # this if it verifies every address and sends nothing
"""

import fnmatch
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from flipcore.access.acting import ALL_SOURCES, NOBODY, QUEUE, Level, Person, access_file
from flipcore.core.errors import BadInput

# A person whom several lists name gets the first of these levels.
_ORDER = (Level.ADMIN, Level.ANALYST, Level.VIEWER, Level.REVIEWER)
_MAX_BYTES = 1_000_000
TEMPLATE = """# Who may do what in Flipscope. Access is on while this file is there; without it \
everybody is an admin.

[levels]            # by the e-mail address of the login; * stands for any letters
admin = []
analyst = []
viewer = []

# [claim]           # by a claim of the login, where no list above names the person
# name = "groups"
# viewer = ["staff"]

# [login]           # an address counts where the provider says email_verified; one that verifies \
every address and is silent:
# addresses_are_verified = true
"""


@dataclass(frozen=True)
class Policy:
    """Contents of the access file.

    `levels` has patterns of e-mail addresses and `by_claim` patterns of the values of `claim`, both
    by level. `addresses_are_verified` is True if addresses count without `email_verified`.
    """

    levels: Mapping[Level, tuple[str, ...]] = field(default_factory=dict)
    claim: str = ""
    by_claim: Mapping[Level, tuple[str, ...]] = field(default_factory=dict)
    addresses_are_verified: bool = False

    def person(self, login: Mapping[str, Any]) -> Person:
        """Return the person of a login, given the claims of its provider.

        The level is NONE if neither list nor claim names them. Addresses count only if verified.
        """
        # Providers send a boolean or its text.
        verified = login.get("email_verified")
        is_verified = verified in (True, "true", "True")
        if verified is None:
            is_verified = self.addresses_are_verified
        email = str(login.get("email") or "").strip().lower() if is_verified else ""
        name = email or str(login.get("preferred_username") or login.get("sub") or "")
        values = login.get(self.claim) if self.claim else None
        claim_values: list[str] = []
        if isinstance(values, (list, tuple)):
            claim_values = list(map(str, values))
        elif values:
            claim_values = [str(values)]
        level = _level(self.levels, [email]) if email else Level.NONE
        level = level or _level(self.by_claim, claim_values)
        if not name or level is Level.NONE:
            return Person(name, NOBODY.level)
        return Person(name, level, scope=QUEUE + ALL_SOURCES if level is Level.REVIEWER else "")


def _level(patterns: Mapping[Level, tuple[str, ...]], values: Sequence[str]) -> Level:
    """Return the first level of `_ORDER` with a pattern for one of the values, else NONE."""
    for level in _ORDER:
        for pattern in patterns.get(level, ()):
            if any(fnmatch.fnmatchcase(value, pattern) for value in values):
                return level
    return Level.NONE


def policy() -> Policy:
    """Return the current policy of the file; raises BadInput if the file is unusable."""
    file = access_file()
    try:
        return _read(file, os.stat(file).st_mtime_ns)
    except OSError as error:
        raise _problem(f"cannot be read: {error.strerror or error}") from error


# The time of the last change is an argument only as a key of the cache.
@lru_cache(maxsize=4)
def _read(file: Path, mtime_ns: int) -> Policy:
    """Read and check the access file; raises BadInput for a fault."""
    if file.stat().st_size > _MAX_BYTES:
        raise _problem(f"has more than {_MAX_BYTES:,} bytes")
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise _problem(f"is not valid TOML: {error}") from error
    unknown = sorted(set(table) - {"levels", "claim", "login"})
    if unknown:
        raise _problem(
            f"has the unknown table {unknown[0]!r}; it may have [levels], [claim] and [login]"
        )
    claim = table.get("claim", {})
    name = claim.get("name", "") if isinstance(claim, dict) else None
    if not isinstance(name, str) or (claim and not name):
        raise _problem('has a table [claim] without its name, as in name = "groups"')
    login = table.get("login", {})
    are_verified = None
    if isinstance(login, dict) and len(login) <= 1:
        are_verified = login.get("addresses_are_verified", False)
    if not isinstance(are_verified, bool) or (login and "addresses_are_verified" not in login):
        raise _problem(
            "has a table [login] that may hold addresses_are_verified = true, and nothing else"
        )
    by_claim = {key: value for key, value in claim.items() if key != "name"}
    levels = _patterns(table.get("levels", {}), "levels", lower=True)
    return Policy(
        levels,
        name,
        by_claim=_patterns(by_claim, "claim", lower=False),
        addresses_are_verified=are_verified,
    )


def _patterns(table: Any, where: str, *, lower: bool) -> dict[Level, tuple[str, ...]]:
    """Return level -> patterns of the table named `where`; raises BadInput for a faulty one."""
    if not isinstance(table, dict):
        raise _problem(f"has {where} that is no table; write [{where}] on a line of its own")
    names = [level.value for level in _ORDER]
    patterns = {}
    for key, values in table.items():
        if key not in names:
            raise _problem(
                f"names the level {key!r} in [{where}]; a level is one of {', '.join(names)}"
            )
        if not isinstance(values, list) or not all(
            isinstance(text, str) and text.strip() for text in values
        ):
            raise _problem(f"has {key} in [{where}] that is no list of texts in quotes")
        patterns[Level(key)] = tuple(
            text.strip().lower() if lower else text.strip() for text in values
        )
    return patterns


def _problem(fault: str) -> BadInput:
    return BadInput(
        f"The access file {access_file()} {fault}. Mend it; until then nobody but invited people "
        "may do anything."
    )
