"""The gate in front of every request and websocket: who sends it, and whether it is allowed.

A request acts as the person whom its cookie names, or as nobody. Requests of pages of other sites
are always refused. While access is off and the network is not trusted, three more are refused,
however the server was started: a connection from another machine, one through a proxy, and one
whose Host is neither a name of this machine nor given by the user.
"""

import base64
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping
from contextlib import suppress
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from flipcore.access import policy
from flipcore.access.acting import NOBODY, Level, Permission, Person, acting_as, is_access_on
from flipcore.access.guesses import Guesser, Guesses, network_of, visit_of
from flipcore.access.origins import OWN_NAMES, has_allowed_name, is_address, is_same_origin
from flipcore.core.errors import FlipscopeError
from flipcore.invitations.links import COOKIE, ENTER, FOREIGN, Entry, enter, person_of
from flipcore.invitations.start import (
    ELSEWHERE,
    FAULT,
    NO_ORIGIN,
    PROXIED,
    PROXY_HEADERS,
    UNNAMED,
    UNTRUSTED,
    is_local,
    is_trusted,
)
from flipcore.store.connection import Store

Message = MutableMapping[str, Any]
Login = Callable[[Mapping[str, str], Message], Mapping[str, Any]]
# Part of a path -> the permission that it needs.
_NEEDS = {
    "/_stcore/upload_file/": Permission.BRING,
    "/media/": Permission.READ,
    "/_stcore/metrics": Permission.ACCESS,
}
# Fonts of Streamlit's own pages, which hold nothing of a study; their path has `/media/` in it too.
_FONT = re.compile(r"^(/(?!media/)[\w.-]+)*/static/media/[\w.-]+\.woff2$")
# Every page loads this before it connects, also the one where people log in.
_CONFIGURATION = "/_stcore/host-config"
# What somebody without access gets instead: a configuration that says nothing of this server.
_EMPTY_CONFIGURATION = {
    "allowedOrigins": [],
    "useExternalAuthToken": False,
    "enableCustomParentMessages": False,
    "enforceDownloadInNewTab": False,
    "metricsUrl": "",
    "blockErrorDialogs": False,
    "resourceCrossOriginMode": None,
}


class Gate:
    """The ASGI middleware of the gate.

    `store` opens the results. `login` returns the claims of a login, given (cookies, scope), and {}
    without one. `hosts` are the names of this server, as in Streamlit's `server.allowedHosts`.
    """

    def __init__(
        self,
        app: Callable[..., Awaitable[None]],
        store: Callable[[], Store],
        login: Login | None = None,
        hosts: Collection[str] = (),
    ) -> None:
        self._app, self._store, self._login, self._hosts = app, store, login, hosts

    async def __call__(self, scope: Message, receive: Callable, send: Callable) -> None:
        """Pass a request on as the person who sends it, or answer it with a refusal."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        is_on, headers = is_access_on(), headers_of(scope)
        refusal = "" if is_on else _connection_refusal(scope, headers)
        refusal = refusal or self._host_refusal(headers, is_on=is_on)
        if not refusal and "origin" in headers and not is_same_origin(headers):
            # Here, because Streamlit's own check looks up this server's public address first.
            refusal = ELSEWHERE
        if not refusal and not is_on and scope["type"] == "websocket" and "origin" not in headers:
            refusal = NO_ORIGIN
        send = with_headers(send)
        if refusal:
            await PlainTextResponse(refusal, 403)(scope, receive, send)
            return
        try:
            await (self._as_person if is_on else self._app)(scope, receive, send)
        except ClientDisconnect:
            pass  # The browser left in the middle of an upload, which is no fault.
        except Exception:
            # Answered here, because an outer layer's answer would lack the security headers.
            if scope["type"] == "http":
                with suppress(RuntimeError):  # if an answer has begun
                    await PlainTextResponse(FAULT, 500)(scope, receive, send)
            raise

    def _host_refusal(self, headers: Mapping[str, str], *, is_on: bool) -> str:
        """Return why the Host of a request is refused; "" if it is allowed."""
        host = headers.get("host", "")
        # With access on every name is safe: a page acts by a cookie, which other names do not get.
        if has_allowed_name(host, (*OWN_NAMES, *self._hosts)) or (is_on and not self._hosts):
            return ""
        return "" if is_trusted() and not is_on and is_address(host) else UNNAMED

    async def _as_person(self, scope: Message, receive: Callable, send: Callable) -> None:
        """Pass a request on as its person, if the path needs no permission that they lack."""
        cookies = cookies_of(scope)
        permission = None
        if not _FONT.search(scope["path"]):
            permission = next(
                (needed for path, needed in _NEEDS.items() if path in scope["path"]), None
            )
        is_configuration = scope["path"].endswith(_CONFIGURATION)
        if permission is not None or is_configuration:
            person = await run_in_threadpool(self.person, cookies, scope)
            if permission is not None and not person.may(permission):
                await PlainTextResponse(f"You may not {permission}.", 403)(scope, receive, send)
                return
            if is_configuration and person.level is Level.NONE:
                await JSONResponse(_EMPTY_CONFIGURATION)(scope, receive, send)
                return
        with acting_as(lambda: self.person(cookies, scope)):
            await self._app(scope, receive, send)

    def person(self, cookies: Mapping[str, str], scope: Message) -> Person:
        """Return the person whom these cookies name, by the current invitations and levels."""
        login = self._login(cookies, scope) if self._login else {}
        return person_named(self._store, cookies.get(COOKIE, ""), login=login)


def person_named(store: Callable[[], Store], cookie: str, login: Mapping[str, Any]) -> Person:
    """Return the person of an invitation's cookie, else of a login, else NOBODY."""
    try:
        person = person_of(store(), cookie) if cookie else None
        return person or (policy.policy().person(login) if login else NOBODY)
    except FlipscopeError:
        return NOBODY


def cookies_of(scope: Message) -> dict[str, str]:
    """Return the cookies of a request, by name."""
    cookies: dict[str, str] = {}
    for name, value in scope.get("headers", ()):
        if name != b"cookie":
            continue
        for part in value.decode("latin-1").split(";"):
            key, _, text = part.strip().partition("=")
            cookies[key] = text.strip('"')
    return cookies


def headers_of(scope: Message) -> dict[str, str]:
    """Return the headers by name in small letters; repeated ones are joined by commas."""
    headers: dict[str, str] = {}
    for raw_name, value in scope.get("headers", ()):
        name, text = raw_name.decode("latin-1").lower(), value.decode("latin-1")
        headers[name] = f"{headers[name]}, {text}" if name in headers else text
    return headers


def _connection_refusal(scope: Message, headers: Mapping[str, str]) -> str:
    """Return why a connection is refused while access is off; "" if it is allowed.

    Unless the network is trusted, refuse connections to an address that other machines reach, and
    those through a proxy.
    """
    if is_trusted():
        return ""
    server = scope.get("server")
    if server and isinstance(server[0], str) and not is_local(server[0]):
        return UNTRUSTED
    return PROXIED if headers.keys() & PROXY_HEADERS else ""


# Security headers of every answer: no site may frame these pages, and they load nothing of others.
# The hash is that of an inline script of Streamlit's page.
_INLINE = "'sha256-THxz9J9+wf7rhwR2YkXJoSZ13UCmYyC+3lNDv2+8ugA='"
HEADERS = {
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'none'",
            f"script-src 'self' blob: {_INLINE}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "manifest-src 'self'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    ),
    "X-Frame-Options": "DENY",  # for browsers that do not know frame-ancestors
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # because links name studies
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def with_headers(
    send: Callable[[Message], Awaitable[None]],
) -> Callable[[Message], Awaitable[None]]:
    """Return a `send` that adds those of `HEADERS` that an answer lacks."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            headers = list(message.get("headers", ()))
            present_names = {name.lower() for name, _ in headers}
            for name, value in HEADERS.items():
                raw_name = name.lower().encode("ascii")
                if raw_name not in present_names:
                    headers.append((raw_name, value.encode("ascii")))
            message = {**message, "headers": headers}
        await send(message)

    return send_with_headers


# An invitation link makes two requests: for a page that reads the token from the fragment, and to
# exchange the token for a cookie. The page first removes the fragment from the address. The
# exchange takes only JSON of the same origin, so that no other site can log a browser in.
LEAVE = "/access/leave"
MAX_BYTES = 2_000
TOO_MANY = (
    "Too many links came from here that were not issued here. Wait a minute, then open yours again."
)
OFF = (
    "Everybody may use this dashboard as it is: no invitation is needed. Open it without the link."
)
_SCRIPT = """
const token = location.hash.slice(1);
history.replaceState(null, "", location.pathname);
const say = (text) => { document.querySelector("p").textContent = text; };
const again = "This link is not complete. Copy the whole of it from the message that it came in.";
if (!token) { say(again); }
else {
  fetch(location.pathname, {method: "POST", headers: {"Content-Type": "application/json"}, \
body: JSON.stringify({token})})
    .then((reply) => reply.json())
    .then((entry) => { if (entry.place) { location.replace(entry.place); } \
else { say(entry.sentence); } })
    .catch(() => say("The server could not be reached. Reload this page by opening the link \
again."));
}
"""
_PAGE = f"""<!doctype html><html lang="en"><head><meta charset="utf-8">\
<meta name="viewport" content="width=device-width">
<title>Flipscope</title><style>body {{ font: 1.1rem/1.5 system-ui, sans-serif; margin: 15vh auto; \
max-width: 36rem; padding: 0 1rem;
color-scheme: light dark }}</style></head><body><h1>Flipscope</h1>\
<p role="status">Opening your invitation …</p>
<noscript>Flipscope needs JavaScript.</noscript><script>{_SCRIPT}</script></body></html>"""
_DIGEST = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": f"default-src 'none'; script-src 'sha256-{_DIGEST}'; style-src "
    "'unsafe-inline'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
}


def access_routes(store: Callable[[], Store], base: str = "") -> list[Route]:
    """Return the routes to enter and to leave; `base` is the path of the dashboard."""
    base = f"/{base.strip('/')}" if base.strip("/") else ""
    guesses = Guesses()

    async def page(request: Request) -> Response:
        _, cookie = visit_of(request.cookies)
        return HTMLResponse(_PAGE, headers=_HEADERS | ({"Set-Cookie": cookie} if cookie else {}))

    async def exchange(request: Request) -> Response:
        content_type = request.headers.get("content-type", "")
        if not is_same_origin(request.headers) or not content_type.startswith("application/json"):
            return JSONResponse({"sentence": "Open the link itself in a browser."}, 403, _HEADERS)
        token = await _read_token(request)
        if not is_access_on():
            return JSONResponse({"sentence": OFF}, headers=_HEADERS)
        address = network_of(request.client.host) if request.client else ""
        guesser = Guesser("", visit_of(request.cookies)[0], address=address)
        if guesses.are_too_many(guesser):
            return JSONResponse({"sentence": TOO_MANY}, 429, _HEADERS)
        try:
            entry = await run_in_threadpool(
                lambda: enter(store(), token, cookie=request.cookies.get(COOKIE, ""))
            )
        except FlipscopeError as error:
            return JSONResponse({"sentence": str(error)}, 503, _HEADERS)
        if entry.sentence == FOREIGN:
            guesses.count(guesser)
        return _reply(request, entry, base=base)

    async def leave(request: Request) -> Response:
        if not is_same_origin(request.headers):
            return JSONResponse({"sentence": "Leave from the dashboard itself."}, 403, _HEADERS)
        response = JSONResponse({"sentence": "You left.", "place": f"{base}/"}, headers=_HEADERS)
        response.delete_cookie(COOKIE, path=base or "/")
        return response

    return [
        Route(base + ENTER, page, methods=["GET"]),
        Route(base + ENTER, exchange, methods=["POST"]),
        Route(base + LEAVE, leave, methods=["POST"]),
    ]


async def _read_token(request: Request) -> str:
    """Return the token of a request's JSON; "" if the body is too long or has none."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BYTES:
            return ""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    return str(message.get("token") or "") if isinstance(message, dict) else ""


def _reply(request: Request, entry: Entry, base: str) -> Response:
    """Answer the exchange of a token: with a cookie and the place to go, or with a refusal."""
    if not entry.cookie:
        return JSONResponse({"sentence": entry.sentence}, 403, _HEADERS)
    response = JSONResponse(
        {"sentence": entry.sentence, "place": base + entry.place}, headers=_HEADERS
    )
    is_secure = request.headers.get("x-forwarded-proto", request.url.scheme) == "https"
    response.set_cookie(
        COOKIE,
        entry.cookie,
        max_age=entry.seconds,
        path=base or "/",
        httponly=True,
        samesite="lax",
        secure=is_secure,
    )
    return response
