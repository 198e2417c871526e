"""The gate in front of every request and websocket of the server: who comes, and whether anybody may come this way at all.

What a request does, it does as the person whom its cookie names, or as nobody. A connection from another machine is refused while
access is off and nobody said that the network is trusted, however the server was started; so is one that a proxy hands on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse

from flipcore.access import policy
from flipcore.access.acting import acting_as
from flipcore.access.levels import Permission
from flipcore.access.person import NOBODY, Person
from flipcore.core.errors import FlipscopeError
from flipcore.invitations.links import COOKIE, person_of
from flipcore.invitations.start import PROXIED, PROXY_HEADERS, UNTRUSTED, is_local, is_trusted
from flipcore.store.connection import Store

Message = MutableMapping[str, Any]
Login = Callable[[Mapping[str, str], Message], Mapping[str, Any]]
_NEEDS = {"/_stcore/upload_file/": Permission.BRING, "/media/": Permission.READ}


class Gate:
    """ASGI middleware. `store` opens the results; `login` gives the claims of a login from (cookies, scope), {} without one."""

    def __init__(self, app: Callable[..., Awaitable[None]], store: Callable[[], Store], login: Login | None = None) -> None:
        self._app, self._store, self._login = app, store, login

    async def __call__(self, scope: Message, receive: Callable, send: Callable) -> None:
        """Lets a request through as somebody, or answers it with a sentence."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
        elif not policy.is_on():
            refusal = _refusal(scope)
            await (PlainTextResponse(refusal, 403) if refusal else self._app)(scope, receive, send)
        else:
            await self._as_somebody(scope, receive, send)

    async def _as_somebody(self, scope: Message, receive: Callable, send: Callable) -> None:
        cookies = cookies_of(scope)
        needs = next((permission for path, permission in _NEEDS.items() if path in scope["path"]), None)
        if needs is not None:
            person = await run_in_threadpool(self.person, cookies, scope)
            if not person.may(needs):
                await PlainTextResponse(f"You may not {needs}.", 403)(scope, receive, send)
                return
        with acting_as(lambda: self.person(cookies, scope)):
            await self._app(scope, receive, send)

    def person(self, cookies: Mapping[str, str], scope: Message) -> Person:
        """Who comes with these cookies, as of now."""
        return person_named(self._store, cookies.get(COOKIE, ""), self._login(cookies, scope) if self._login else {})


def person_named(store: Callable[[], Store], cookie: str, login: Mapping[str, Any]) -> Person:
    """Whom an invitation's cookie names, else whom a login names, else nobody."""
    try:
        person = person_of(store(), cookie) if cookie else None
        return person or (policy.policy().person(login) if login else NOBODY)
    except FlipscopeError:
        return NOBODY


def cookies_of(scope: Message) -> dict[str, str]:
    """The cookies of a request by name; those that cannot be read are left out."""
    cookies: dict[str, str] = {}
    for name, value in scope.get("headers", ()):
        if name != b"cookie":
            continue
        for part in value.decode("latin-1").split(";"):
            key, _, text = part.strip().partition("=")
            cookies[key] = text.strip('"')
    return cookies


def _refusal(scope: Message) -> str:
    """Why a connection may not come while access is off: it ends at an address that other machines reach, or a proxy hands on what
    other machines send; "" where the network is trusted and where it is this machine's own."""
    if is_trusted():
        return ""
    server = scope.get("server")
    if server and isinstance(server[0], str) and not is_local(server[0]):
        return UNTRUSTED
    names = {name.decode("latin-1").lower() for name, _ in scope.get("headers", ())}
    return PROXIED if names & PROXY_HEADERS else ""
