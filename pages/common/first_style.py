"""The style of every page in the head of the document: one that comes as an element of the page comes after its content, which then
moves."""

from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any

from pages import components
from pages.common.screen import MOST_ROOM, ROOM_STEP_PX


def _room(name: str) -> str:
    return "".join(f'[class*="{name}-{n}-"] {{ min-height: {n * ROOM_STEP_PX}px; }}\n' for n in range(1, MOST_ROOM + 1))


_PAGE = (Path(components.__file__).parent / "page.css").read_text(encoding="utf-8")
_ROOMS = f"@media (min-width: 761px) {{ {_room('st-key-room')} }}\n@media (max-width: 760px) {{ {_room('-by')} }}\n"
_STYLE = f"<style>\n{_PAGE}{_ROOMS}</style>\n".encode()
_END = b"</head>"
_OF_THE_FILE = (b"content-length", b"etag", b"last-modified", b"accept-ranges")  # what the document's headers say of it alone
Message = MutableMapping[str, Any]


class FirstStyle:
    """ASGI middleware that writes the style into the document that Streamlit serves; every other answer goes through as it is."""

    def __init__(self, app: Callable) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Callable, send: Callable) -> None:
        asks_for_a_page = any(name == b"accept" and b"text/html" in value for name, value in scope.get("headers", ()))
        if scope["type"] != "http" or scope["method"] != "GET" or not asks_for_a_page:
            await self._app(scope, receive, send)
            return
        left_out = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")  # the whole document, and readable
        scope = {**scope, "headers": [one for one in scope["headers"] if one[0] not in left_out]}
        start: Message | None = None
        parts: list[bytes] = []

        async def write(message: Message) -> None:
            nonlocal start
            if (
                message["type"] == "http.response.start"
                and (b"content-type", b"text/html; charset=utf-8") in message["headers"]
            ):
                start = {**message, "headers": [one for one in message["headers"] if one[0] not in _OF_THE_FILE]}
            elif start is None or message["type"] != "http.response.body":
                await send(message)
            else:
                parts.append(message.get("body", b""))
                if not message.get("more_body"):
                    document = b"".join(parts).replace(_END, _STYLE + _END, 1)
                    await send({**start, "headers": [*start["headers"], (b"content-length", str(len(document)).encode())]})
                    await send({"type": "http.response.body", "body": document})

        await self._app(scope, receive, write)
