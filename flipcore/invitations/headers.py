"""What every answer tells a browser: nobody frames these pages, and they load nothing of any other site.

The content policy is the narrowest that Streamlit's pages live with: it styles elements as it draws them, its components are modules at
addresses that they make themselves (`blob:`), and formulas have their fonts in the style sheet. A text that became markup runs nowhere.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
_INLINE = "'sha256-THxz9J9+wf7rhwR2YkXJoSZ13UCmYyC+3lNDv2+8ugA='"  # of Streamlit's page: it says that it is not yet drawn
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
    "X-Frame-Options": "DENY",  # for browsers that do not read the policy
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # a link names a study
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def with_headers(send: Callable[[Message], Awaitable[None]]) -> Callable[[Message], Awaitable[None]]:
    """Sends every answer with these headers, each where the answer has none of that name."""

    async def sending(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            present = list(message.get("headers", ()))
            names = {name.lower() for name, _ in present}
            ours = [(name.lower().encode("ascii"), value.encode("ascii")) for name, value in HEADERS.items()]
            message = {**message, "headers": present + [one for one in ours if one[0] not in names]}
        await send(message)

    return sending
