"""Guessing is limited: wrong codes and links are counted by the person, or by browser and address
where nobody knows who it is.

One person's wrong ones shut nobody else out: who is known is counted alone, and a browser has a
limit of its own far below that of its address, behind which others may sit. The address limit is
for whoever comes as a new browser each time; a code of a meeting has 10^12 values and a link a
signature of 256 bits, so it finds nothing either. A proxy hides addresses unless it is named
(FORWARDED_ALLOW_IPS).
"""

import ipaddress
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

OF_ONE, OF_AN_ADDRESS, SECONDS = 20, 400, 60.0
MOST_VISIT_CHARS = 64
# the cookie by which a browser is known again that nobody is logged in at
VISIT = "flipscope_visit"


@dataclass(frozen=True)
class Guesser:
    """Somebody who tries a code or a link: a person who is known, else a browser at an address."""

    person: str = ""
    visit: str = ""
    address: str = ""

    @property
    def limits(self) -> dict[tuple[str, str], int]:
        """Number of wrong ones that each of their names may have."""
        if self.person:
            return {("person", self.person): OF_ONE}
        return {(self.address, self.visit): OF_ONE, ("address", self.address): OF_AN_ADDRESS}


class Guesses:
    """The wrong ones of the last minute. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._wrong: dict[tuple[str, str], list[float]] = {}

    def are_too_many(self, guesser: Guesser) -> bool:
        """Tell whether another one is not to be looked at."""
        with self._lock:
            self._forget()
            return any(
                len(self._wrong.get(name, ())) >= most for name, most in guesser.limits.items()
            )

    def count(self, guesser: Guesser) -> None:
        with self._lock:
            for name in guesser.limits:
                self._wrong.setdefault(name, []).append(self._clock())

    def _forget(self) -> None:
        since = self._clock() - SECONDS
        recent = {}
        for name, times in self._wrong.items():
            if late := [time for time in times if time > since]:
                recent[name] = late
        self._wrong = recent


def network_of(address: str) -> str:
    """An address as it is counted: of IPv6 the first 64 bits, which are one customer's."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address):
        return str(ip.ipv4_mapped or ipaddress.ip_network((ip, 64), strict=False))
    return str(ip)


def visit_of(cookies: Mapping[str, str]) -> tuple[str, str]:
    """(by what a browser is known, the Set-Cookie header that tells it so); the header is "" where
    it knows already."""
    visit = cookies.get(VISIT, "")
    if visit and len(visit) <= MOST_VISIT_CHARS:
        return visit, ""
    visit = secrets.token_urlsafe(16)
    return visit, f"{VISIT}={visit}; Path=/; HttpOnly; SameSite=Lax"
