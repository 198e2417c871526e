"""Whether a request or a websocket comes from a page that this server served."""

from __future__ import annotations

from collections.abc import Mapping


def is_same_origin(headers: Mapping[str, str]) -> bool:
    """From its headers, named in small letters. A browser always says where the page of a POST or a websocket came from, so what
    does not say it is no page of ours."""
    origin, host = headers.get("origin", ""), headers.get("host", "")
    return bool(host) and origin.partition("://")[2].lower() == host.lower()
