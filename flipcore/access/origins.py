"""Checks of the Origin and Host headers: is a request from our own page, to an allowed name?

With DNS rebinding a foreign name leads to this machine. Its pages then have the same origin as this
server, so only the name in the Host header tells them from ours.
"""

import fnmatch
import ipaddress
import re
from collections.abc import Iterable, Mapping

OWN_NAMES = ("localhost", "127.0.0.1", "::1")
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\s,/\\?#@:\[\]]+?)\.?)(?::\d*)?", re.IGNORECASE)


def is_same_origin(headers: Mapping[str, str]) -> bool:
    """Return whether a request comes from our own page; header names are in small letters.

    Browsers always send the origin with a POST or a websocket, so a request without it does not
    count as ours.
    """
    origin, host = headers.get("origin", ""), headers.get("host", "")
    return bool(host) and origin.partition("://")[2].lower() == host.lower()


def name_of_host(host: str) -> str:
    """Return the name of a Host header, in small letters, without port or brackets; "" for none."""
    match = _HOST.fullmatch(host)
    return (match[1] or match[2]).lower() if match else ""


def has_allowed_name(host: str, names: Iterable[str]) -> bool:
    """Return whether a Host header has one of these names; `*.example.org` is every subdomain."""
    name = name_of_host(host)
    return bool(name) and any(
        fnmatch.fnmatchcase(name, pattern.strip().strip("[]").rstrip(".").lower())
        for pattern in names
    )


def is_address(host: str) -> bool:
    """Return whether a Host header has an IP address, which DNS rebinding cannot produce."""
    try:
        ipaddress.ip_address(name_of_host(host))
    except ValueError:
        return False
    return True
