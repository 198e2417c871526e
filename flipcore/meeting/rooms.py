"""Rooms: who presents, who follows, and where both are. A room keeps the last place and position,
so that somebody who comes late or comes back is where the others are. Every message is bounded and
of a known shape before anybody else is handed it.

Whoever enters is handed a ticket, a secret of their own; the room knows its presenter by it, so
nobody else moves anything. Nothing here waits or sends: a member's `mailbox` holds the newest
message of each kind until whoever owns the socket takes it, so a slow link delays nobody and is
sent the newest position alone.
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

MOST_CHARACTERS = 6_000  # of one message
MOST_NAME, MOST_TEXT, MOST_VALUES, MOST_QUERY, MOST_BOARD = 40, 120, 24, 3_000, 400
NO_PAGE = "A message names no page of Flipscope. Reload the page."
PAGE = re.compile(r"[a-z_]{0,40}")


class Refusal(FlipscopeError):
    """A message that a room does not take. `code` closes the socket (RFC 6455, 7.4); None leaves it
    open."""

    def __init__(self, sentence: str, code: int | None = None) -> None:
        super().__init__(sentence)
        self.code = code


def message_of(text: str) -> dict[str, Any]:
    """A message: a JSON object that says what it wants under `do`. Raises Refusal."""
    if len(text) > MOST_CHARACTERS:
        raise Refusal(
            f"A message of {len(text):,} characters came; a meeting takes at most "
            f"{MOST_CHARACTERS:,}.",
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
    """A person's name as others read it: one line of printable characters."""
    if not isinstance(text, str):
        return ""
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(printable.split())[:MOST_NAME].strip()


def place_of(message: dict[str, Any]) -> dict[str, str]:
    """Place of the presenter, {page, query}, without personal parts of the link. Raises Refusal."""
    page, query = message.get("page"), message.get("query")
    # a browser escapes what is not ASCII
    if not isinstance(query, str) or len(query) > MOST_QUERY or not query.isascii():
        raise Refusal(NO_PAGE)
    if not isinstance(page, str) or not PAGE.fullmatch(page):
        raise Refusal(NO_PAGE)
    return {"page": page, "query": shared_query(query)}


def position_of(message: dict[str, Any]) -> dict[str, Any]:
    """Position of a board's handles: {board, at: {handle: number or choice}, moving: bool}. Raises
    Refusal."""
    board, handles = message.get("board"), message.get("at")
    if (
        not isinstance(board, str)
        or not 0 < len(board) <= MOST_BOARD
        or not isinstance(handles, dict)
        or len(handles) > MOST_VALUES
    ):
        raise Refusal("A message holds no position of a board. Reload the page.")
    for name, value in handles.items():
        if len(name) > MOST_TEXT or not _is_value(value):
            raise Refusal(
                "A position holds something that is neither a finite number nor a short text. "
                "Reload the page."
            )
    return {"board": board, "at": handles, "moving": message.get("moving") is True}


def _is_value(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= MOST_TEXT
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and abs(value) <= sys.float_info.max
    )


ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # no I, O, 0, 1: a code is read aloud
LETTERS = 8  # 32^8 = 10^12 codes
MOST_ROOMS, MOST_MEMBERS = 40, 60
LIFE_S, WITHOUT_PRESENTER_S, FORGOTTEN_S = 12 * 3600.0, 1800.0, 600.0
# messages a second of one member, and how many at once: a drag sends one a frame
RATE, BURST = 90.0, 180.0
NOBODY_KNOWN = Guesser()
NO_MEETING = "This meeting has ended, or its code is not right. Ask the presenter for the code."
NOT_PRESENTER = "Only the presenter moves what others see. Ask to present first."


class Mailbox:
    """The newest message of each kind that one socket has not sent yet, in the order in which the
    kinds were first put in."""

    def __init__(self, wake: Callable[[], None] = lambda: None) -> None:
        self._waiting: dict[str, dict[str, Any]] = {}
        self._wake = wake
        self.is_closed = False

    def deliver(self, message: dict[str, Any]) -> None:
        self._waiting[message["kind"]] = message
        self._wake()

    def take(self) -> list[dict[str, Any]]:
        waiting, self._waiting = list(self._waiting.values()), {}
        return waiting

    def close(self) -> None:
        """Whoever owns the socket sends what is waiting and hangs up."""
        self.is_closed = True
        self._wake()


@dataclass
class Member:
    """Somebody in a room; without a mailbox they are away and may come back with their ticket."""

    number: int
    name: str
    ticket: str
    mailbox: Mailbox | None
    since: float
    asks: bool = False
    allowance: float = BURST
    counted_at: float = 0.0

    @property
    def title(self) -> str:
        return self.name or f"Person {self.number}"

    def count(self, now: float) -> None:
        """Counts one message. Raises Refusal where they come faster than anybody drags."""
        self.allowance = min(BURST, self.allowance + RATE * (now - self.counted_at))
        self.counted_at = now
        if self.allowance < 1:
            raise Refusal(
                f"More than {RATE:.0f} messages a second came. Reload the page to come back.", 1008
            )
        self.allowance -= 1


@dataclass
class Room:
    """One meeting. `state` holds the last place and position as they were sent on."""

    code: str
    opened_at: float
    presenter: int = 1
    members: dict[int, Member] = field(default_factory=dict)
    state: dict[str, dict[str, Any]] = field(default_factory=dict)
    sequence: int = 0
    n_entered: int = 0
    alone_since: float = math.inf

    def enter(self, mailbox: Mailbox, name: str, ticket: str, now: float) -> Member:
        """A new member, or the one who comes back with a ticket; a second socket with the same
        ticket replaces the first."""
        # as bytes, because texts beyond ASCII cannot be compared so
        secret = ticket.encode(errors="replace")
        member = None
        for present in self.members.values():
            if secret and secrets.compare_digest(present.ticket.encode(), secret):
                member = present
                break
        if member is None:
            if len(self.members) >= MOST_MEMBERS:
                raise Refusal(
                    f"This meeting is full: {MOST_MEMBERS} people are in it. Look at the "
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
        self.tell_who_is_here()  # first their part, then where the others are
        for message in self.state.values():
            mailbox.deliver(message)
        return member

    def leave(self, member: Member, mailbox: Mailbox, now: float) -> None:
        """The socket is gone. A presenter keeps the place; a member's other sockets stay."""
        if member.mailbox is not mailbox:
            return
        member.mailbox, member.since, member.asks = None, now, False
        if member.number == self.presenter:
            self.alone_since = now
        self.tell_who_is_here()

    def hear(self, member: Member, message: dict[str, Any], now: float) -> None:
        """One message of a member: moved handles and pages from the presenter alone, from others a
        wish to present."""
        member.count(now)
        action = message["do"]
        if action == "ping":
            self._post(member, {"kind": "pong"})
        elif action == "ask":
            member.asks, member.name = (
                member.number != self.presenter,
                name_of(message.get("name")) or member.name,
            )
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
            self._hand_to(message.get("to"), now)
        else:
            self.end("The presenter has ended the meeting.")

    def end(self, sentence: str) -> None:
        """Everybody is told, and the sockets are closed."""
        for member in self.members.values():
            self._post(member, {"kind": "end", "sentence": sentence})
            if member.mailbox is not None:
                member.mailbox.close()
        self.members.clear()

    def forget(self, now: float) -> None:
        """Lets go of followers who left long ago; their tickets are worth nothing any more."""
        away = [
            member.number
            for member in self.members.values()
            if member.mailbox is None and now - member.since > FORGOTTEN_S
        ]
        for number in away:
            if number != self.presenter:
                del self.members[number]

    def is_over(self, now: float) -> bool:
        return (
            not self.members
            or now - self.opened_at > LIFE_S
            or now - self.alone_since > WITHOUT_PRESENTER_S
        )

    def tell_who_is_here(self) -> None:
        """Tell everybody their part and how many follow, the presenter also who asks to present."""
        present = [member for member in self.members.values() if member.mailbox is not None]
        lead = self.members.get(self.presenter)
        asking = [
            {"number": member.number, "title": member.title} for member in present if member.asks
        ]
        n_followers = sum(member.number != self.presenter for member in present)
        self.sequence += 1
        for member in present:
            presents = member.number == self.presenter
            about = {
                "kind": "room",
                "sequence": self.sequence,
                "presents": presents,
                "presenter": lead.title if lead else "",
                "presenter_is_here": lead is not None and lead.mailbox is not None,
                "n_followers": n_followers,
                "asking": asking if presents else [],
                "asks": member.asks,
            }
            self._post(member, about)

    def _hand_to(self, number: object, now: float) -> None:
        """The presenter makes a follower who is here the presenter; from then on their own messages
        are refused."""
        # True is no number of a person
        heir = self.members.get(number) if type(number) is int else None
        if heir is None or heir.mailbox is None:
            raise Refusal("This person is not in the meeting any more. Choose somebody else.")
        self.presenter, self.alone_since, heir.asks = heir.number, math.inf, False
        self.tell_who_is_here()

    def _pass_on(self, kind: str, content: dict[str, Any], sender: Member) -> None:
        self.sequence += 1
        message = {"kind": kind, "sequence": self.sequence, **content}
        if kind == "place" and self.state.get("place", {}).get("page") != content["page"]:
            self.state.pop("position", None)  # handles of a page that was left
        self.state[kind] = message
        for member in self.members.values():
            if member is not sender:
                self._post(member, message)

    @staticmethod
    def _post(member: Member, message: dict[str, Any]) -> None:
        if member.mailbox is not None:
            member.mailbox.deliver(message)


def _new_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(LETTERS))


class Rooms:
    """All meetings of one server, by code. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._rooms: dict[str, Room] = {}
        self._clock = clock
        self._guesses = Guesses(clock)

    def __len__(self) -> int:
        return len(list(self._live()))

    def open(self, mailbox: Mailbox, name: object = "") -> tuple[Room, Member]:
        """A new room with its presenter. Where there are too many, one that its presenter has left
        ends. Raises Refusal where none has been left."""
        self._sweep()
        if len(self._rooms) >= MOST_ROOMS:
            oldest = min(self._rooms.values(), key=lambda room: room.alone_since)
            if math.isinf(oldest.alone_since):
                raise Refusal(
                    f"{MOST_ROOMS} meetings are open on this server. End one before you open "
                    "another.",
                    1013,
                )
            self._close(oldest)
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
        guesser: Guesser = NOBODY_KNOWN,
    ) -> tuple[Room, Member]:
        """The room of a code, which may be written in small letters and with blanks or dashes.
        After too many wrong codes of `guesser` none of theirs is looked at for a while. Raises
        Refusal."""
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
            raise Refusal(NO_MEETING, 4404)
        return room, room.enter(
            mailbox, name_of(name), ticket if isinstance(ticket, str) else "", self._clock()
        )

    def hear(self, room: Room, member: Member, message: dict[str, Any]) -> None:
        """A message of a member of a room that is still open. Raises Refusal."""
        if self._rooms.get(room.code) is not room or room.members.get(member.number) is not member:
            raise Refusal(NO_MEETING, 4404)
        room.hear(member, message, self._clock())
        if not room.members:
            del self._rooms[room.code]

    def leave(self, room: Room, member: Member, mailbox: Mailbox) -> None:
        room.leave(member, mailbox, self._clock())
        self._sweep()

    def _close(self, room: Room) -> None:
        del self._rooms[room.code]
        room.end("This meeting has expired. Open a new one.")

    def _live(self) -> Iterator[Room]:
        now = self._clock()
        return (room for room in self._rooms.values() if not room.is_over(now))

    def _sweep(self) -> None:
        """Ends rooms that are over, and forgets who left long ago."""
        now = self._clock()
        for room in list(self._rooms.values()):
            room.forget(now)
            if room.is_over(now):
                self._close(room)
