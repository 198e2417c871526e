"""Work that the server begins as soon as a page is asked for, before its script runs.

The style of every page goes into the head of the document, and the flips of a study begin to be
counted.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool

from flipcore.access.acting import acting, acting_as
from flipcore.core.work import Work
from pages import components
from pages.common import session
from pages.common.headline import headline
from pages.common.opened import is_open
from pages.common.screen import MOST_ROOM, ROOM_STEP_PX
from pages.navigation import PAGES


def _room(name: str) -> str:
    return "".join(
        f'[class*="{name}-{n}-"] {{ min-height: {n * ROOM_STEP_PX}px; }}\n'
        for n in range(1, MOST_ROOM + 1)
    )


_PAGE = (Path(components.__file__).parent / "page.css").read_text(encoding="utf-8")
_ROOMS = (
    f"@media (min-width: 761px) {{ {_room('st-key-room')} }}\n"
    f"@media (max-width: 760px) {{ {_room('-by')} }}\n"
)
_STYLE = f"<style>\n{_PAGE}{_ROOMS}</style>\n".encode()
_END = b"</head>"
# These headers describe the file as it was before the style went in.
_FILE_HEADERS = (b"content-length", b"etag", b"last-modified", b"accept-ranges")
Message = MutableMapping[str, Any]


# A style that comes as an element of the page comes after its content, which then moves.
class FirstStyle:
    """ASGI middleware that writes the style into the document that Streamlit serves.

    Every other answer goes through as it is.
    """

    def __init__(self, app: Callable) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Callable, send: Callable) -> None:
        asks_for_a_page = any(
            name == b"accept" and b"text/html" in value for name, value in scope.get("headers", ())
        )
        if scope["type"] != "http" or scope["method"] != "GET" or not asks_for_a_page:
            await self._app(scope, receive, send)
            return
        # Without these headers the whole document comes, and not compressed.
        left_out = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")
        scope = {
            **scope,
            "headers": [header for header in scope["headers"] if header[0] not in left_out],
        }
        start: Message | None = None
        parts: list[bytes] = []

        async def write(message: Message) -> None:
            nonlocal start
            if (
                message["type"] == "http.response.start"
                and (b"content-type", b"text/html; charset=utf-8") in message["headers"]
            ):
                start = {
                    **message,
                    "headers": [
                        header for header in message["headers"] if header[0] not in _FILE_HEADERS
                    ],
                }
            elif start is None or message["type"] != "http.response.body":
                await send(message)
            else:
                parts.append(message.get("body", b""))
                if not message.get("more_body"):
                    document = b"".join(parts).replace(_END, _STYLE + _END, 1)
                    await send(
                        {
                            **start,
                            "headers": [
                                *start["headers"],
                                (b"content-length", str(len(document)).encode()),
                            ],
                        }
                    )
                    await send({"type": "http.response.body", "body": document})

        await self._app(scope, receive, write)


_counting_names: list[str] = []
for _entry in PAGES:
    if _entry.counts:
        # Old links still lead to the page by its former names.
        _counting_names += [_entry.folder, *_entry.was]
COUNTING_PAGES = tuple(f"/{name}" for name in _counting_names)


class HeadStart:
    """ASGI middleware behind the gate, which says who asks.

    While the store is not open, the page's own heading comes first.
    """

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Callable, send: Callable) -> None:
        if scope["type"] == "http" and scope["path"].endswith(COUNTING_PAGES) and is_open.is_set():
            person = await run_in_threadpool(acting)
            link = parse_qs(scope["query_string"].decode("latin-1")).get("study", [""])[0]

            # A browser needs a second before it asks for the rest, so the count begins now.
            def count() -> None:
                with acting_as(person):
                    if names := session.names_of_studies():
                        headline(link if link in names else next(iter(names)))

            # Nobody waits for it; the page says what goes wrong.
            Work("Counting the flips", count)
        await self._app(scope, receive, send)
