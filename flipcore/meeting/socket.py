"""The websocket of the meetings, a route in the dashboard's own server: reads what members send,
sends what waits for them."""

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
from flipcore.meeting.rooms import Mailbox, Member, Refusal, Room, Rooms, message_of, name_of

PATH = "/meeting/socket"
# a browser slows the timers of a hidden tab to one a minute
HELLO_S, CHECK_S, SILENCE_S = 10.0, 15.0, 150.0
MOST_REFUSALS, MOST_SOCKETS = 20, 500
NO_ACCESS = 4403
ROOMS = Rooms()


def meeting_routes(base: str = "") -> list[WebSocketRoute]:
    """The route, for the list that the server is given. `base` is the path under which the
    dashboard stands."""
    endpoint = Endpoint(ROOMS)
    path = f"/{base.strip('/')}{PATH}" if base.strip("/") else PATH
    return [WebSocketRoute(path, endpoint.serve)]


class Endpoint:
    """One server's meetings on a websocket, for whoever may read results: what is followed is drawn
    from them anyway."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._n_open = 0

    async def serve(self, socket: WebSocket) -> None:
        """One socket from its opening to its end; nothing that is sent raises anything here."""
        if not is_same_origin(socket.headers) or self._n_open >= MOST_SOCKETS:
            await socket.close(1008)  # before it is accepted: HTTP 403
            return
        visit, cookie = visit_of(socket.cookies)
        await socket.accept(headers=[(b"set-cookie", cookie.encode("latin-1"))] if cookie else None)
        self._n_open += 1
        try:
            await self._serve(socket, visit)
        except Refusal as refusal:  # nobody who was refused at the door comes back by themselves
            with suppress(WebSocketDisconnect, RuntimeError):
                await _send(socket, {"kind": "end", "sentence": str(refusal)})
                await socket.close(refusal.code or 1008)
        except (TimeoutError, WebSocketDisconnect, RuntimeError):
            with suppress(WebSocketDisconnect, RuntimeError):
                await socket.close(1001)
        finally:
            self._n_open -= 1

    async def _serve(self, socket: WebSocket, visit: str) -> None:
        person = await _check_access()
        wake = asyncio.Event()
        mailbox = Mailbox(wake.set)
        address = network_of(socket.client.host) if socket.client else ""
        guesser = Guesser(person.invitation or person.name, visit, address=address)
        room, member = self._entered(
            guesser, mailbox, await _as_themselves(message_of(await _text(socket, HELLO_S)))
        )
        sending = asyncio.create_task(_send_on(socket, mailbox, wake=wake))
        try:
            await self._listen(socket, room, member, mailbox, sending)
        except Refusal as refusal:
            if refusal.code in (NO_ACCESS, 4404):
                raise
            await _stop(sending)
            await _send(socket, {"kind": "refusal", "sentence": str(refusal)})
            await socket.close(refusal.code or 1008)
        finally:
            self._rooms.leave(room, member, mailbox)
            await _stop(sending)

    def _entered(self, guesser: Guesser, mailbox: Mailbox, hello: dict) -> tuple[Room, Member]:
        """The first message opens a room or names one."""
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
        """Until either side hangs up. A refused message gets its sentence; too many close the
        socket."""
        n_refused, checked_at = 0, time.monotonic()
        while not sending.done():
            reading = asyncio.create_task(_text(socket, SILENCE_S))
            await asyncio.wait({reading, sending}, return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                await _stop(reading)
                return
            if time.monotonic() - checked_at > CHECK_S:  # an invitation may have expired since
                await _check_access()
                checked_at = time.monotonic()
            try:
                self._rooms.hear(room, member, await _as_themselves(message_of(reading.result())))
            except Refusal as refusal:
                n_refused += 1
                if refusal.code is not None or n_refused > MOST_REFUSALS:
                    raise
                mailbox.deliver({"kind": "refusal", "sentence": str(refusal)})


async def _check_access() -> Person:
    """Return the person who comes. Raises Refusal for whoever may not read results, with the
    reason. Beside the loop, because it may ask the store."""
    try:
        return await asyncio.to_thread(require, Permission.READ)
    except FlipscopeError as error:
        raise Refusal(str(error), NO_ACCESS) from error


async def _as_themselves(message: dict) -> dict:
    """A message under the name of whoever is logged in; the name that was given stands only where
    nobody is."""
    if "name" not in message:
        return message
    return message | {"name": await asyncio.to_thread(signature, name_of(message["name"]))}


async def _send_on(socket: WebSocket, mailbox: Mailbox, wake: asyncio.Event) -> None:
    """Sends what waits, as fast as this socket takes it."""
    while True:
        await wake.wait()
        wake.clear()
        for message in mailbox.take():
            await _send(socket, message)
        if mailbox.is_closed:
            await socket.close(1000)
            return


async def _stop(task: asyncio.Task) -> None:
    """Cancels a task; what it met on a socket that is going away is nobody's concern."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _send(socket: WebSocket, message: dict) -> None:
    await socket.send_text(json.dumps(message, allow_nan=False))


async def _text(socket: WebSocket, seconds: float) -> str:
    """The next text message. Raises asyncio.TimeoutError after `seconds`, Refusal for bytes."""
    message = await asyncio.wait_for(socket.receive(), seconds)
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1005))
    if message.get("text") is None:
        raise Refusal("A message came that is no text. Reload the page.", 1003)
    return message["text"]
