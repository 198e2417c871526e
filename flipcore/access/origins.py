"""Requests from pages that this server served, and the names by which it may be called.

A page of a foreign name that leads to this machine (DNS rebinding) is of one origin with this
server, so its name is all that tells it from ours."""

import fnmatch
import ipaddress
import re
from collections.abc import Iterable, Mapping

OWN_NAMES = ("localhost", "127.0.0.1", "::1")
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\s,/\\?#@:\[\]]+?)\.?)(?::\d*)?", re.IGNORECASE)


def is_same_origin(headers: Mapping[str, str]) -> bool:
    """From its headers, named in small letters. A browser always says where the page of a POST or a
    websocket came from, so what does not say it is no page of ours."""
    origin, host = headers.get("origin", ""), headers.get("host", "")
    return bool(host) and origin.partition("://")[2].lower() == host.lower()


def name_of_host(host: str) -> str:
    """Name in a Host header, in small letters, without port and brackets; "" for none."""
    match = _HOST.fullmatch(host)
    return (match[1] or match[2]).lower() if match else ""


def is_called_so(host: str, names: Iterable[str]) -> bool:
    """Tell whether a Host header names one of these; `*.example.org` is every name below it."""
    name = name_of_host(host)
    return bool(name) and any(
        fnmatch.fnmatchcase(name, pattern.strip().strip("[]").rstrip(".").lower())
        for pattern in names
    )


def is_address(host: str) -> bool:
    """Tell whether a Host header names an address, which a foreign page's never is."""
    try:
        ipaddress.ip_address(name_of_host(host))
    except ValueError:
        return False
    return True
