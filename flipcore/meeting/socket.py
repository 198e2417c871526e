"""The websocket of meetings, a route of the dashboard's server.

It reads members' messages and sends the messages of their mailboxes.
"""

import asyncio
import json
import time
from contextlib import suppress

from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from flipcore.access.acting import Permission, Person, require, signature
from flipcore.access.guesses import Guesser, network_of, visit_of
from flipcore.access.origins import is_same_origin
from flipcore.core.errors import FlipscopeError
from flipcore.meeting.rooms import (
    NO_ROOM_CODE,
    Mailbox,
    Member,
    Refusal,
    Room,
    Rooms,
    message_of,
    name_of,
)

PATH = "/meeting/socket"
# Seconds to wait for the first message, between checks of access, and for any later message. The
# last is long, because a browser slows the timers of a hidden tab to one per minute.
HELLO_S, CHECK_S, SILENCE_S = 10.0, 15.0, 150.0
MAX_REFUSALS, MAX_SOCKETS = 20, 500
NO_ACCESS_CODE = 4403  # closes the socket of somebody who may not read results
ROOMS = Rooms()


def meeting_routes(base: str = "") -> list[WebSocketRoute]:
    """Return the route of the websocket; `base` is the path of the dashboard."""
    endpoint = Endpoint(ROOMS)
    path = f"/{base.strip('/')}{PATH}" if base.strip("/") else PATH
    return [WebSocketRoute(path, endpoint.serve)]


class Endpoint:
    """The endpoint of all meetings of one server, for people who may read results."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._n_open = 0

    async def serve(self, socket: WebSocket) -> None:
        """Serve one socket until it closes; errors that its messages cause are answered here."""
        if not is_same_origin(socket.headers) or self._n_open >= MAX_SOCKETS:
            await socket.close(1008)  # not accepted yet, so this is HTTP 403
            return
        visit, cookie = visit_of(socket.cookies)
        await socket.accept(headers=[(b"set-cookie", cookie.encode("latin-1"))] if cookie else None)
        self._n_open += 1
        try:
            await self._serve(socket, visit)
        except Refusal as refusal:
            # The kind "end" keeps the browser from connecting again by itself.
            with suppress(WebSocketDisconnect, RuntimeError):
                await _send(socket, {"kind": "end", "sentence": str(refusal)})
                await socket.close(refusal.code or 1008)
        except (TimeoutError, WebSocketDisconnect, RuntimeError):
            with suppress(WebSocketDisconnect, RuntimeError):
                await socket.close(1001)
        finally:
            self._n_open -= 1

    async def _serve(self, socket: WebSocket, visit: str) -> None:
        """Enter a room by the first message, and serve the member until the socket closes."""
        person = await _check_access()
        wake = asyncio.Event()
        mailbox = Mailbox(wake.set)
        address = network_of(socket.client.host) if socket.client else ""
        guesser = Guesser(person.invitation or person.name, visit, address=address)
        hello = await _with_own_name(message_of(await _receive_text(socket, HELLO_S)))
        room, member = self._enter(guesser, mailbox, hello)
        sending = asyncio.create_task(_send_mailbox(socket, mailbox, wake=wake))
        try:
            await self._listen(socket, room, member, mailbox, sending)
        except Refusal as refusal:
            if refusal.code in (NO_ACCESS_CODE, NO_ROOM_CODE):
                raise
            await _stop(sending)
            await _send(socket, {"kind": "refusal", "sentence": str(refusal)})
            await socket.close(refusal.code or 1008)
        finally:
            self._rooms.leave(room, member, mailbox)
            await _stop(sending)

    def _enter(self, guesser: Guesser, mailbox: Mailbox, hello: dict) -> tuple[Room, Member]:
        """Open or join a room, by the first message. Raises Refusal."""
        if hello["do"] == "open":
            return self._rooms.open(mailbox, hello.get("name"))
        if hello["do"] == "join":
            return self._rooms.join(
                hello.get("code"),
                mailbox,
                name=hello.get("name"),
                ticket=hello.get("ticket"),
                guesser=guesser,
            )
        raise Refusal("The first message must open a meeting or join one. Reload the page.", 1008)

    async def _listen(
        self, socket: WebSocket, room: Room, member: Member, mailbox: Mailbox, sending: asyncio.Task
    ) -> None:
        """Handle messages until either side closes the socket.

        A refused message is answered with its reason. Raises Refusal after too many of them, or if
        the refusal has a code.
        """
        n_refused, checked_at = 0, time.monotonic()
        while not sending.done():
            reading = asyncio.create_task(_receive_text(socket, SILENCE_S))
            await asyncio.wait({reading, sending}, return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                await _stop(reading)
                return
            # Check again, because an invitation may have expired.
            if time.monotonic() - checked_at > CHECK_S:
                await _check_access()
                checked_at = time.monotonic()
            try:
                message = await _with_own_name(message_of(reading.result()))
                self._rooms.hear(room, member, message)
            except Refusal as refusal:
                n_refused += 1
                if refusal.code is not None or n_refused > MAX_REFUSALS:
                    raise
                mailbox.deliver({"kind": "refusal", "sentence": str(refusal)})


async def _check_access() -> Person:
    """Return the person of this socket. Raises Refusal if they may not read results."""
    # In a thread, because it may ask the store and must not block the event loop.
    try:
        return await asyncio.to_thread(require, Permission.READ)
    except FlipscopeError as error:
        raise Refusal(str(error), NO_ACCESS_CODE) from error


async def _with_own_name(message: dict) -> dict:
    """Return the message with the name of the logged-in person, else with the given name."""
    if "name" not in message:
        return message
    return message | {"name": await asyncio.to_thread(signature, name_of(message["name"]))}


async def _send_mailbox(socket: WebSocket, mailbox: Mailbox, wake: asyncio.Event) -> None:
    """Send the messages of the mailbox, as fast as the socket takes them."""
    while True:
        await wake.wait()
        wake.clear()
        for message in mailbox.take():
            await _send(socket, message)
        if mailbox.is_closed:
            await socket.close(1000)
            return


async def _stop(task: asyncio.Task) -> None:
    """Cancel a task and wait for its end."""
    task.cancel()
    # Errors of a socket that is closing anyway are ignored.
    await asyncio.gather(task, return_exceptions=True)


async def _send(socket: WebSocket, message: dict) -> None:
    await socket.send_text(json.dumps(message, allow_nan=False))


async def _receive_text(socket: WebSocket, seconds: float) -> str:
    """Return the next text. Raises TimeoutError, WebSocketDisconnect, or Refusal for bytes."""
    message = await asyncio.wait_for(socket.receive(), seconds)
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1005))
    if message.get("text") is None:
        raise Refusal("A message came that is no text. Reload the page.", 1003)
    return message["text"]
