"""The two requests of an invitation link: a small page that reads the fragment, and the exchange of its token for a cookie.

The page removes the fragment from the address before anything else. The exchange takes JSON of the same origin alone, so no other
site can log a browser in."""

import base64
import hashlib
import json
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from flipcore.access.acting import is_access_on
from flipcore.access.guesses import Guesser, Guesses, network_of, visit_of
from flipcore.access.origins import is_same_origin
from flipcore.core.errors import FlipscopeError
from flipcore.invitations.links import COOKIE, ENTER, FOREIGN, Entry, enter
from flipcore.store.connection import Store

LEAVE = "/access/leave"
MOST_BYTES = 2_000
TOO_MANY = "Too many links came from here that were not issued here. Wait a minute, then open yours again."
OFF = "Everybody may use this dashboard as it is: no invitation is needed. Open it without the link."
_SCRIPT = """
const token = location.hash.slice(1);
history.replaceState(null, "", location.pathname);
const say = (text) => { document.querySelector("p").textContent = text; };
const again = "This link is not complete. Copy the whole of it from the message that it came in.";
if (!token) { say(again); }
else {
  fetch(location.pathname, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({token})})
    .then((reply) => reply.json())
    .then((entry) => { if (entry.place) { location.replace(entry.place); } else { say(entry.sentence); } })
    .catch(() => say("The server could not be reached. Reload this page by opening the link again."));
}
"""
_PAGE = f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Flipscope</title><style>body {{ font: 1.1rem/1.5 system-ui, sans-serif; margin: 15vh auto; max-width: 36rem; padding: 0 1rem;
color-scheme: light dark }}</style></head><body><h1>Flipscope</h1><p role="status">Opening your invitation …</p>
<noscript>Flipscope needs JavaScript.</noscript><script>{_SCRIPT}</script></body></html>"""
_DIGEST = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": f"default-src 'none'; script-src 'sha256-{_DIGEST}'; style-src 'unsafe-inline'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}


def access_routes(store: Callable[[], Store], base: str = "") -> list[Route]:
    """The routes, for the list that the server is given. `base` is the path under which the dashboard stands."""
    base = f"/{base.strip('/')}" if base.strip("/") else ""

    guesses = Guesses()

    async def page(request: Request) -> Response:
        _, cookie = visit_of(request.cookies)
        return HTMLResponse(_PAGE, headers=_HEADERS | ({"Set-Cookie": cookie} if cookie else {}))

    async def exchange(request: Request) -> Response:
        if not is_same_origin(request.headers) or not request.headers.get("content-type", "").startswith("application/json"):
            return JSONResponse({"sentence": "Open the link itself in a browser."}, 403, _HEADERS)
        token = await _token(request)
        if not is_access_on():
            return JSONResponse({"sentence": OFF}, headers=_HEADERS)
        who = Guesser("", visit_of(request.cookies)[0], network_of(request.client.host) if request.client else "")
        if guesses.are_too_many(who):
            return JSONResponse({"sentence": TOO_MANY}, 429, _HEADERS)
        try:
            entry = await run_in_threadpool(lambda: enter(store(), token, request.cookies.get(COOKIE, "")))
        except FlipscopeError as error:
            return JSONResponse({"sentence": str(error)}, 503, _HEADERS)
        if entry.sentence == FOREIGN:
            guesses.count(who)
        return _reply(request, entry, base)

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


async def _token(request: Request) -> str:
    """The token of the message; "" for a message that is none."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            return ""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    return str(message.get("token") or "") if isinstance(message, dict) else ""


def _reply(request: Request, entry: Entry, base: str) -> Response:
    if not entry.cookie:
        return JSONResponse({"sentence": entry.sentence}, 403, _HEADERS)
    response = JSONResponse({"sentence": entry.sentence, "place": base + entry.place}, headers=_HEADERS)
    is_secure = request.headers.get("x-forwarded-proto", request.url.scheme) == "https"
    response.set_cookie(
        COOKIE, entry.cookie, max_age=entry.seconds, path=base or "/", httponly=True, samesite="lax", secure=is_secure
    )
    return response
