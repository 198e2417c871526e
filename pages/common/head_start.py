"""A study's flips are counted from the moment that its page is asked for: a browser needs a second before it asks for the rest."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool

from flipcore.access.acting import acting, acting_as
from flipcore.core.work import Work
from pages.common import session
from pages.common.headline import headline
from pages.common.opened import is_open
from pages.navigation import PAGES

COUNTING_PAGES = tuple(f"/{name}" for one in PAGES if one.counts for name in (one.folder, *one.was))
Message = MutableMapping[str, Any]


class HeadStart:
    """ASGI middleware behind the gate, which says who asks. While the store is not open, the page's own heading comes first."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Callable, send: Callable) -> None:
        if scope["type"] == "http" and scope["path"].endswith(COUNTING_PAGES) and is_open.is_set():
            person = await run_in_threadpool(acting)
            link = parse_qs(scope["query_string"].decode("latin-1")).get("study", [""])[0]

            def count() -> None:
                with acting_as(person):
                    if names := session.names_of_studies():
                        headline(link if link in names else next(iter(names)))

            Work("Counting the flips", count)  # nobody waits for it; what goes wrong, the page says
        await self._app(scope, receive, send)
