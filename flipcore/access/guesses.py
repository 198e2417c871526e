"""Limits on guessing: wrong codes and links are counted per person, or per browser and address.

One person's wrong guesses must not exclude others. So a known person is counted alone, and a
browser has a limit far below that of its address, which many may share. The limit of an address is
for somebody who comes as a new browser each time. It is large, and still useless for guessing: the
code of a meeting has 10^12 values, and a link has a signature of 256 bits. A proxy hides addresses
unless it is named (FORWARDED_ALLOW_IPS).
"""

import ipaddress
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

# Wrong guesses of one person or browser and of one address, within this many seconds.
MAX_OF_ONE, MAX_OF_ADDRESS, SECONDS = 20, 400, 60.0
MAX_VISIT_CHARS = 64
# The cookie that identifies a browser without a login.
VISIT = "flipscope_visit"


@dataclass(frozen=True)
class Guesser:
    """Somebody who tries a code or a link: a known person, else a browser at an address.

    `visit` is the browser's id. Unknown values are "".
    """

    person: str = ""
    visit: str = ""
    address: str = ""

    @property
    def limits(self) -> dict[tuple[str, str], int]:
        """Return the key under which wrong guesses are counted -> how many are allowed."""
        if self.person:
            return {("person", self.person): MAX_OF_ONE}
        return {(self.address, self.visit): MAX_OF_ONE, ("address", self.address): MAX_OF_ADDRESS}


class Guesses:
    """The wrong guesses of the last minute; `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._times: dict[tuple[str, str], list[float]] = {}

    def are_too_many(self, guesser: Guesser) -> bool:
        """Return whether the next guess must be refused, even a right one."""
        with self._lock:
            self._forget()
            return any(
                len(self._times.get(key, ())) >= limit for key, limit in guesser.limits.items()
            )

    def count(self, guesser: Guesser) -> None:
        """Count a wrong guess."""
        with self._lock:
            for key in guesser.limits:
                self._times.setdefault(key, []).append(self._clock())

    def _forget(self) -> None:
        since = self._clock() - SECONDS
        recent_times = {}
        for key, times in self._times.items():
            if recent := [seconds for seconds in times if seconds > since]:
                recent_times[key] = recent
        self._times = recent_times


def network_of(address: str) -> str:
    """Return the address to count by: for IPv6 its first 64 bits, which belong to one customer."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address):
        return str(ip.ipv4_mapped or ipaddress.ip_network((ip, 64), strict=False))
    return str(ip)


def visit_of(cookies: Mapping[str, str]) -> tuple[str, str]:
    """Return the browser's id, and the Set-Cookie header that stores it; "" if it has a cookie."""
    visit = cookies.get(VISIT, "")
    if visit and len(visit) <= MAX_VISIT_CHARS:
        return visit, ""
    visit = secrets.token_urlsafe(16)
    return visit, f"{VISIT}={visit}; Path=/; HttpOnly; SameSite=Lax"
