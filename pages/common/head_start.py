"""Work that the server begins when a browser requests a page, before the page's script runs.

It writes the style of every page into the head of the document and begins to count the flips of the
study.
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
from pages.common.screen import MAX_STEPS, STEP_PX
from pages.navigation import PAGES


def _space_rules(name: str) -> str:
    """Return the CSS rules that give the containers of `screen.reserved_space` their heights."""
    return "".join(
        f'[class*="{name}-{n}-"] {{ min-height: {n * STEP_PX}px; }}\n'
        for n in range(1, MAX_STEPS + 1)
    )


_PAGE_STYLE = (Path(components.__file__).parent / "page.css").read_text(encoding="utf-8")
_SPACE_STYLE = (
    f"@media (min-width: 761px) {{ {_space_rules('st-key-room')} }}\n"
    f"@media (max-width: 760px) {{ {_space_rules('-by')} }}\n"
)
_STYLE = f"<style>\n{_PAGE_STYLE}{_SPACE_STYLE}</style>\n".encode()
_END_OF_HEAD = b"</head>"
# These headers describe the file without the style.
_FILE_HEADERS = (b"content-length", b"etag", b"last-modified", b"accept-ranges")
Message = MutableMapping[str, Any]


# If the style were an element of the page, it would come after the content, and the content would
# move.
class FirstStyle:
    """ASGI middleware that writes the style into the HTML document that Streamlit serves.

    Other responses pass unchanged.
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
        # Without these headers Streamlit sends the whole document, and uncompressed.
        dropped_headers = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")
        scope = {
            **scope,
            "headers": [header for header in scope["headers"] if header[0] not in dropped_headers],
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
                    document = b"".join(parts)
                    document = document.replace(_END_OF_HEAD, _STYLE + _END_OF_HEAD, 1)
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


_names_of_counting_pages: list[str] = []
for _entry in PAGES:
    if _entry.shows_flips:
        # Old links lead to the page by its former names.
        _names_of_counting_pages += [_entry.folder, *_entry.former_links]
COUNTING_PAGES = tuple(f"/{name}" for name in _names_of_counting_pages)


class HeadStart:
    """ASGI middleware that begins to count a study's flips when a page of flips is requested.

    It comes after the gate, which sets the acting person. Nothing is counted before the store is
    open, so that the first page need not wait to draw its heading.
    """

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Callable, send: Callable) -> None:
        if scope["type"] == "http" and scope["path"].endswith(COUNTING_PAGES) and is_open.is_set():
            person = await run_in_threadpool(acting)
            link = parse_qs(scope["query_string"].decode("latin-1")).get("study", [""])[0]

            # The browser needs a second to load the page, so the count begins now.
            def count() -> None:
                with acting_as(person):
                    if names := session.names_of_studies():
                        headline(link if link in names else next(iter(names)))

            # Nobody waits for this work; the page computes the same again and shows any error.
            Work("Counting the flips", count)
        await self._app(scope, receive, send)
