"""Meeting rooms: one presenter, followers, and the page and position that all of them see.

A room keeps the last place (page and query) and position (of a board's handles), so that members
who come late or come back see them. Every message is checked for size and shape before it is
passed on.

Each member gets a ticket, a secret by which the room knows them again. So nobody else can act as
the presenter. Nothing here waits or sends. A member's `mailbox` holds the newest message of each
kind until the owner of the socket takes it. So a slow connection delays nobody and gets only the
newest position.
"""

import json
import math
import re
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from flipcore.access.guesses import Guesser, Guesses
from flipcore.core.errors import FlipscopeError
from flipcore.core.links import shared_query

MAX_CHARACTERS = 6_000  # of one message
MAX_NAME, MAX_TEXT, MAX_QUERY, MAX_BOARD = 40, 120, 3_000, 400  # characters
MAX_VALUES = 24  # handles of a position
NO_PAGE = "A message names no page of Flipscope. Reload the page."
PAGE = re.compile(r"[a-z_]{0,40}")


class Refusal(FlipscopeError):
    """A refused message; `code` closes the socket (RFC 6455, 7.4), None leaves it open."""

    def __init__(self, sentence: str, code: int | None = None) -> None:
        super().__init__(sentence)
        self.code = code


def message_of(text: str) -> dict[str, Any]:
    """Return a message, a JSON object whose `do` names an action. Raises Refusal."""
    if len(text) > MAX_CHARACTERS:
        raise Refusal(
            f"A message of {len(text):,} characters came; a meeting takes at most "
            f"{MAX_CHARACTERS:,}.",
            1009,
        )
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise Refusal("A message came that is no JSON. Reload the page.", 1007) from None
    if not isinstance(message, dict) or not isinstance(message.get("do"), str):
        raise Refusal("A message came that does not say what to do. Reload the page.", 1007)
    return message


def name_of(text: object) -> str:
    """Return a person's name as one line of printable characters; "" for anything but text."""
    if not isinstance(text, str):
        return ""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(printable.split())[:MAX_NAME].strip()


def place_of(message: dict[str, Any]) -> dict[str, str]:
    """Return the presenter's {page, query} without personal parts of the link. Raises Refusal."""
    page, query = message.get("page"), message.get("query")
    # A browser escapes other characters than ASCII, so such a query comes from no browser.
    if not isinstance(query, str) or len(query) > MAX_QUERY or not query.isascii():
        raise Refusal(NO_PAGE)
    if not isinstance(page, str) or not PAGE.fullmatch(page):
        raise Refusal(NO_PAGE)
    return {"page": page, "query": shared_query(query)}


def position_of(message: dict[str, Any]) -> dict[str, Any]:
    """Return {board, at: {handle: number or choice}, moving: bool} of a board. Raises Refusal."""
    board, handles = message.get("board"), message.get("at")
    is_board = isinstance(board, str) and 0 < len(board) <= MAX_BOARD
    if not is_board or not isinstance(handles, dict) or len(handles) > MAX_VALUES:
        raise Refusal("A message holds no position of a board. Reload the page.")
    for name, value in handles.items():
        if len(name) > MAX_TEXT or not _is_value(value):
            raise Refusal(
                "A position holds something that is neither a finite number nor a short text. "
                "Reload the page."
            )
    return {"board": board, "at": handles, "moving": message.get("moving") is True}


def _is_value(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= MAX_TEXT
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and abs(value) <= sys.float_info.max
    )


ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # without I, O, 0, 1: codes are read aloud
N_CODE_LETTERS = 8  # 32^8 = 10^12 codes
MAX_ROOMS, MAX_MEMBERS = 40, 60
# Seconds that a room lasts, lasts without its presenter, and remembers absent followers.
LIFE_S, WITHOUT_PRESENTER_S, REMEMBERED_S = 12 * 3600.0, 1800.0, 600.0
# Messages of one member, per second and in one burst. A drag sends one message per frame.
RATE, BURST = 90.0, 180.0
UNKNOWN_GUESSER = Guesser()
NO_ROOM_CODE = 4404  # closes the socket if the meeting does not exist
NO_MEETING = "This meeting has ended, or its code is not right. Ask the presenter for the code."
NOT_PRESENTER = "Only the presenter moves what others see. Ask to present first."


class Mailbox:
    """The newest message of each kind that one socket has not sent yet.

    The order is that in which the kinds were first delivered. `wake` is called after a delivery.
    """

    def __init__(self, wake: Callable[[], None] = lambda: None) -> None:
        self._waiting: dict[str, dict[str, Any]] = {}
        self._wake = wake
        self.is_closed = False

    def deliver(self, message: dict[str, Any]) -> None:
        """Add a message, in place of an older one of the same kind."""
        self._waiting[message["kind"]] = message
        self._wake()

    def take(self) -> list[dict[str, Any]]:
        """Return all messages and empty the mailbox."""
        waiting, self._waiting = list(self._waiting.values()), {}
        return waiting

    def close(self) -> None:
        """Have the socket's owner send all waiting messages and close the socket."""
        self.is_closed = True
        self._wake()


@dataclass
class Member:
    """A person in a room.

    `mailbox` is None while they are away; they may come back with their ticket. `since` is when
    they came or left. `allowance` is how many messages they may still send, as of `counted_at`.
    """

    number: int
    name: str
    ticket: str
    mailbox: Mailbox | None
    since: float
    wants_to_present: bool = False
    allowance: float = BURST
    counted_at: float = 0.0

    @property
    def title(self) -> str:
        return self.name or f"Person {self.number}"

    def count(self, now: float) -> None:
        """Count one message. Raises Refusal if they come faster than a drag sends them."""
        self.allowance = min(BURST, self.allowance + RATE * (now - self.counted_at))
        self.counted_at = now
        if self.allowance < 1:
            raise Refusal(
                f"More than {RATE:.0f} messages a second came. Reload the page to come back.", 1008
            )
        self.allowance -= 1


@dataclass
class Room:
    """One meeting.

    `presenter` is the number of a member. `state` has the last messages "place" and "position".
    `alone_since` is the time when the presenter left, infinite while they are there.
    """

    code: str
    opened_at: float
    presenter: int = 1
    members: dict[int, Member] = field(default_factory=dict)
    state: dict[str, dict[str, Any]] = field(default_factory=dict)
    sequence: int = 0
    n_entered: int = 0
    alone_since: float = math.inf

    def enter(self, mailbox: Mailbox, name: str, ticket: str, now: float) -> Member:
        """Return a new member, or the one with this ticket, who comes back.

        A second socket with the same ticket replaces the first. Raises Refusal for a full room.
        """
        # As bytes, because `compare_digest` takes texts only in ASCII.
        secret = ticket.encode(errors="replace")
        member = None
        for known_member in self.members.values():
            if secret and secrets.compare_digest(known_member.ticket.encode(), secret):
                member = known_member
                break
        if member is None:
            if len(self.members) >= MAX_MEMBERS:
                raise Refusal(
                    f"This meeting is full: {MAX_MEMBERS} people are in it. Look at the "
                    "presenter's screen.",
                    1013,
                )
            self.n_entered += 1
            member = Member(
                self.n_entered,
                name,
                ticket=secrets.token_urlsafe(24),
                mailbox=mailbox,
                since=now,
                counted_at=now,
            )
            self.members[member.number] = member
        elif member.mailbox is not None:
            member.mailbox.deliver(
                {
                    "kind": "end",
                    "sentence": "You opened this meeting in another tab. It goes on there.",
                }
            )
            member.mailbox.close()
        member.mailbox, member.since, member.name = mailbox, now, name or member.name
        mailbox.deliver(
            {"kind": "entered", "code": self.code, "ticket": member.ticket, "number": member.number}
        )
        if member.number == self.presenter:
            self.alone_since = math.inf
        # A browser has to know its role before it gets the place and position.
        self.tell_who_is_here()
        for message in self.state.values():
            mailbox.deliver(message)
        return member

    def leave(self, member: Member, mailbox: Mailbox, now: float) -> None:
        """Mark a member as away, if `mailbox` is still theirs; a presenter stays the presenter."""
        if member.mailbox is not mailbox:
            return
        member.mailbox, member.since, member.wants_to_present = None, now, False
        if member.number == self.presenter:
            self.alone_since = now
        self.tell_who_is_here()

    def hear(self, member: Member, message: dict[str, Any], now: float) -> None:
        """Handle a message: places and positions of the presenter, or anybody's wish to present.

        Raises Refusal.
        """
        member.count(now)
        action = message["do"]
        if action == "ping":
            self._post(member, {"kind": "pong"})
        elif action == "ask":
            member.wants_to_present = member.number != self.presenter
            member.name = name_of(message.get("name")) or member.name
            self.tell_who_is_here()
        elif action not in ("place", "position", "hand", "end"):
            raise Refusal("A message came that no meeting knows. Reload the page.")
        elif member.number != self.presenter:
            raise Refusal(NOT_PRESENTER)
        elif action == "place":
            self._pass_on("place", place_of(message), member)
        elif action == "position":
            self._pass_on("position", position_of(message), member)
        elif action == "hand":
            self._hand_to(message.get("to"))
        else:
            self.end("The presenter has ended the meeting.")

    def end(self, sentence: str) -> None:
        """End the meeting: send everybody the sentence and close the sockets."""
        for member in self.members.values():
            self._post(member, {"kind": "end", "sentence": sentence})
            if member.mailbox is not None:
                member.mailbox.close()
        self.members.clear()

    def forget(self, now: float) -> None:
        """Remove followers who left long ago; their tickets are no longer valid."""
        for member in list(self.members.values()):
            is_away = member.mailbox is None and now - member.since > REMEMBERED_S
            if is_away and member.number != self.presenter:
                del self.members[member.number]

    def is_over(self, now: float) -> bool:
        """Return whether the room is empty, too old, or too long without its presenter."""
        return (
            not self.members
            or now - self.opened_at > LIFE_S
            or now - self.alone_since > WITHOUT_PRESENTER_S
        )

    def tell_who_is_here(self) -> None:
        """Send everybody their role and the number of followers, the presenter also who asks."""
        present = [member for member in self.members.values() if member.mailbox is not None]
        presenter = self.members.get(self.presenter)
        asking = [
            {"number": member.number, "title": member.title}
            for member in present
            if member.wants_to_present
        ]
        n_followers = sum(member.number != self.presenter for member in present)
        self.sequence += 1
        for member in present:
            is_presenter = member.number == self.presenter
            status = {
                "kind": "room",
                "sequence": self.sequence,
                "presents": is_presenter,
                "presenter": presenter.title if presenter else "",
                "presenter_is_here": presenter is not None and presenter.mailbox is not None,
                "n_followers": n_followers,
                "asking": asking if is_presenter else [],
                "asks": member.wants_to_present,
            }
            self._post(member, status)

    def _hand_to(self, number: object) -> None:
        """Make a present follower the presenter, on the presenter's wish. Raises Refusal."""
        # `type` instead of `isinstance`, because True counts as an integer.
        successor = self.members.get(number) if type(number) is int else None
        if successor is None or successor.mailbox is None:
            raise Refusal("This person is not in the meeting any more. Choose somebody else.")
        self.presenter, self.alone_since = successor.number, math.inf
        successor.wants_to_present = False
        self.tell_who_is_here()

    def _pass_on(self, kind: str, content: dict[str, Any], sender: Member) -> None:
        """Keep a place or position as the room's state, and send it to all other members."""
        self.sequence += 1
        message = {"kind": kind, "sequence": self.sequence, **content}
        if kind == "place" and self.state.get("place", {}).get("page") != content["page"]:
            self.state.pop("position", None)  # of the page that was left
        self.state[kind] = message
        for member in self.members.values():
            if member is not sender:
                self._post(member, message)

    @staticmethod
    def _post(member: Member, message: dict[str, Any]) -> None:
        if member.mailbox is not None:
            member.mailbox.deliver(message)


def _new_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(N_CODE_LETTERS))


class Rooms:
    """All meetings of one server; `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._rooms: dict[str, Room] = {}
        self._clock = clock
        self._guesses = Guesses(clock)

    def __len__(self) -> int:
        return len(list(self._live()))

    def open(self, mailbox: Mailbox, name: object = "") -> tuple[Room, Member]:
        """Open a new room and return it with its presenter.

        If there are too many rooms, end the one whose presenter left first. Raises Refusal if all
        presenters are there.
        """
        self._sweep()
        if len(self._rooms) >= MAX_ROOMS:
            longest_alone = min(self._rooms.values(), key=lambda room: room.alone_since)
            if math.isinf(longest_alone.alone_since):
                raise Refusal(
                    f"{MAX_ROOMS} meetings are open on this server. End one before you open "
                    "another.",
                    1013,
                )
            self._close(longest_alone)
        code = _new_code()
        while code in self._rooms:
            code = _new_code()
        room = self._rooms[code] = Room(code, self._clock())
        return room, room.enter(mailbox, name_of(name), "", self._clock())

    def join(
        self,
        code: object,
        mailbox: Mailbox,
        *,
        name: object = "",
        ticket: object = "",
        guesser: Guesser = UNKNOWN_GUESSER,
    ) -> tuple[Room, Member]:
        """Enter the room of a code, which may have small letters, blanks and dashes.

        After too many wrong codes of a `guesser` all their codes are refused for a while. Raises
        Refusal.
        """
        self._sweep()
        if self._guesses.are_too_many(guesser):
            raise Refusal(
                "Too many wrong codes came from here. Wait a minute, then try again.", 1008
            )
        letters = ""
        if isinstance(code, str) and len(code) < 40:
            letters = "".join(filter(str.isalnum, code)).upper()
        room = self._rooms.get(letters)
        if room is None:
            self._guesses.count(guesser)
            raise Refusal(NO_MEETING, NO_ROOM_CODE)
        return room, room.enter(
            mailbox, name_of(name), ticket if isinstance(ticket, str) else "", self._clock()
        )

    def hear(self, room: Room, member: Member, message: dict[str, Any]) -> None:
        """Handle a member's message, if the room is still open. Raises Refusal."""
        if self._rooms.get(room.code) is not room or room.members.get(member.number) is not member:
            raise Refusal(NO_MEETING, NO_ROOM_CODE)
        room.hear(member, message, self._clock())
        if not room.members:
            del self._rooms[room.code]

    def leave(self, room: Room, member: Member, mailbox: Mailbox) -> None:
        """Mark a member as away after their socket closed."""
        room.leave(member, mailbox, self._clock())
        self._sweep()

    def _close(self, room: Room) -> None:
        del self._rooms[room.code]
        room.end("This meeting has expired. Open a new one.")

    def _live(self) -> Iterator[Room]:
        now = self._clock()
        return (room for room in self._rooms.values() if not room.is_over(now))

    def _sweep(self) -> None:
        """End rooms that are over, and remove members who left long ago."""
        now = self._clock()
        for room in list(self._rooms.values()):
            room.forget(now)
            if room.is_over(now):
                self._close(room)
