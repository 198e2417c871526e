"""`python -m flipcore access on | off | status | link`: access control, and links for people."""

import argparse
import getpass
from pathlib import Path

from flipcore.access import policy
from flipcore.access.acting import (
    ALL_SOURCES,
    OWNER,
    QUEUE,
    Level,
    access_file,
    acting_as,
    is_access_on,
)
from flipcore.commands.opening import open_store
from flipcore.core.command_line import command
from flipcore.core.paths import home
from flipcore.core.whole_files import write
from flipcore.invitations.links import issue, link
from flipcore.store.connection import Store
from flipcore.store.queries import invitations

HELP = "who may use a dashboard on a network"
ADDRESS = "http://localhost:8501"
LINK_FILE = "admin-link"
ADMIN_DAYS = 90


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions of `access` and their options."""
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("on", help="people are told apart from now on: by login or by invitation")
    actions.add_parser(
        "off",
        help="everybody who reaches the dashboard may do everything; it serves this machine alone",
    )
    actions.add_parser("status", help="whether access is on, and where its files are")
    link_parser = actions.add_parser(
        "link", help="a link for one person, while no dashboard holds the database"
    )
    link_parser.add_argument("name", help="of the person")
    link_parser.add_argument(
        "--level", default=Level.ADMIN.value, choices=[level.value for level in Level if level]
    )
    link_parser.add_argument(
        "--address",
        default=ADDRESS,
        metavar="URL",
        help=f"where the dashboard is reached (default {ADDRESS})",
    )


def act(options: argparse.Namespace) -> int:
    """Do the action and return 0. Raises FlipscopeError if it fails."""
    print({"on": _on, "off": _off, "status": _status, "link": _link}[options.action](options))
    return 0


def _on(options: argparse.Namespace) -> str:
    path = access_file()
    if not is_access_on():
        write(path, policy.TEMPLATE)
    policy.policy()
    return (
        f"Access is on: {path} says who logs in as what. At its next start the dashboard writes a"
        f" link for you to {link_file()}."
    )


def _off(options: argparse.Namespace) -> str:
    path = access_file()
    if not is_access_on():
        return "Access is off already."
    path.replace(path.with_suffix(".toml.off"))
    return f"Access is off; the file is kept as {path.with_suffix('.toml.off')}."


def _status(options: argparse.Namespace) -> str:
    if not is_access_on():
        return (
            f"Access is off: there is no {access_file()}. The dashboard serves this machine alone."
        )
    n_levels = sum(len(patterns) for patterns in policy.policy().levels.values())
    return (
        f"Access is on: {access_file()} has {n_levels:,} patterns of addresses. Your own link:"
        f" {link_file()}."
    )


def _link(options: argparse.Namespace) -> str:
    scope = QUEUE + ALL_SOURCES if options.level == Level.REVIEWER else ""
    with open_store() as store:
        return link(issue(store, options.name, options.level, scope), options.address)


def link_file() -> Path:
    """Return the path of the file with the owner's own link, which only the owner may read."""
    return home() / LINK_FILE


def keep_admin_link(store: Store, address: str) -> str:
    """Write an admin's link for the database's owner; return the sentence to print at the start.

    Write nothing if the owner has opened a link that is still valid. Raises BadInput if the file
    cannot be written.
    """
    with acting_as(OWNER):
        try:
            name = getpass.getuser()
        except (OSError, KeyError):
            name = "owner"
        valid_links = []
        for invitation in invitations.invitations(store):
            is_own = invitation.level == Level.ADMIN and invitation.name == name
            if is_own and invitation.stands:
                valid_links.append(invitation)
        if any(invitation.opened_at is not None for invitation in valid_links):
            return (
                "Flipscope: your own link was opened before. For a new one:"
                f" `{command('access link NAME')}`."
            )
        if valid_links:
            invitation = valid_links[0]
        else:
            invitation = issue(store, name, Level.ADMIN, days=ADMIN_DAYS)
    path = write(link_file(), link(invitation, address) + "\n", mode=0o600)
    return f"Flipscope: your own link as admin lies in {path}, which you alone may read."
