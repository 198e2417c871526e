"""Sentences of the server at its start, and the rule when it may listen to other machines.

It may only with access on, or on a network that the user declared as trusted.
"""

import ipaddress
import os
import sys
from collections.abc import Collection

from flipcore.access import policy
from flipcore.access.acting import Person, access_file, is_access_on, with_article
from flipcore.access.origins import OWN_NAMES
from flipcore.core.command_line import command
from flipcore.core.errors import BadInput

TRUSTED_OPTION, TRUSTED_VARIABLE = "--trusted-network", "FLIPSCOPE_TRUSTED_NETWORK"
# The command as the user of this installation types it.
_SWITCH_ON = command("access on")
UNTRUSTED = (
    "Flipscope serves this machine alone while access is off. Switch access on with "
    f"`{_SWITCH_ON}`, or start it with {TRUSTED_OPTION} where everybody who can reach it may "
    "do everything."
)

OFF = (
    "Access is off: everybody who can reach this dashboard may do everything. To tell people "
    f"apart, stop the dashboard, run `{_SWITCH_ON}`, and start it again."
)
PROXIED = (
    "Flipscope was reached through a proxy while access is off, so whoever comes would be an "
    f"admin. Switch access on with `{_SWITCH_ON}`, or start it with "
    f"{TRUSTED_OPTION} where everybody who can reach the proxy may do everything."
)
UNNAMED = (
    "Flipscope does not answer to this name: a page of a foreign name that leads to this machine "
    "could do whatever you may. Open it as localhost, or start it with --server.allowedHosts and "
    "each name by which it may be called."
)
ELSEWHERE = (
    "This was sent by a page of another site, which may do nothing here. Behind a proxy, have it "
    "pass the Host header on."
)
FAULT = (
    "This request met a fault of Flipscope's own. The details are in the terminal in which the "
    "dashboard was started."
)
NO_ORIGIN = (
    "Every browser says which page opens a socket, and this request did not: a proxy may have "
    "taken it out. While access is off it is refused."
)
PROXY_HEADERS = frozenset(
    (
        "forwarded via x-forwarded-for x-forwarded-host x-forwarded-proto x-real-ip "
        "cf-connecting-ip true-client-ip x-client-ip"
    ).split()
)


def not_an_admin_text(person: Person) -> str:
    """Return the text that people without the permission see instead of the Access page."""
    return (
        f"Only an admin may see who may do what; you are {with_article(person.level)}. Ask an "
        "admin for another level."
    )


def is_local(address: str) -> bool:
    """Return whether only this machine reaches an address."""
    if address == "localhost" or address.startswith(("unix:", "/")):
        return True
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    # ::ffff:127.0.0.1 is an IPv4 address in IPv6 notation.
    mapped = getattr(ip, "ipv4_mapped", None)
    return (mapped or ip).is_loopback


def is_trusted() -> bool:
    """Return whether the user declared that everybody who reaches the server may do everything."""
    return os.environ.get(TRUSTED_VARIABLE, "") not in ("", "0") or TRUSTED_OPTION in sys.argv


def hosts_of_sockets(hosts: Collection[str]) -> list[str]:
    """Return the names that Streamlit's own check of its socket allows; [] switches it off.

    `hosts` are the names that the user gave. The gate checks names too, and knows addresses.
    """
    allows_any = not hosts if is_access_on() else is_trusted()
    return [] if allows_any else [*OWN_NAMES, *hosts]


def start_sentence(address: str | None) -> str:
    """Return the sentence at the start of a server on `address`, None for all addresses.

    Raises BadInput if it may not listen there, or if the access file is unusable.
    """
    if is_access_on():
        policy.policy()  # raises for a fault of the file before the server starts
        return (
            f"Flipscope: access is on, as {access_file()} says. Who comes without a login or an "
            "invitation sees nothing."
        )
    if address and is_local(address):
        return "Flipscope: it serves this machine alone, and nobody is asked anything."
    if not is_trusted():
        raise BadInput(
            f"Flipscope was not started: it would listen on {address or 'every address'}. "
            f"{UNTRUSTED}"
        )
    return (
        "Flipscope: trusted network. Everybody who can reach "
        f"{address or 'any address of this machine'} may do everything."
    )
