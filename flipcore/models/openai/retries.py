"""Rules for asking a server again: when, how long to wait, and how to name a fault without giving a
key away."""

import json
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from flipcore.models.cards import ModelCard
from flipcore.models.openai.replies import Fault, path_of

LONGEST_WAIT_S = 60.0
FIRST_WAIT_S = 0.5
REDIRECTS = {301, 302, 303, 307, 308}
_AGAIN = {408, 409, 429}
_LONGEST_ADDRESS = 300  # characters
_SECRET = re.compile(r"(?i)\bbearer\s+\S+|\b(?:sk|key|pk|xai|gsk|hf)[-_][\w*.-]{6,}")


def pause(error: Exception, attempt: int, call_id: str) -> float | None:
    """Seconds to wait before the next attempt; None when another would not help or the server asks
    for more than a minute.

    The server's `retry-after` is honoured; without one the wait doubles, spread by the call's id so
    that many do not return at once. Faults: 408, 409, 429, 5xx, time-outs, dropped connections and
    replies that cannot be read.
    """
    status = getattr(error, "status_code", None)
    if status is not None and status not in _AGAIN and status < 500:
        return None
    wait = asked_wait(error)
    if wait is not None:
        return wait if wait <= LONGEST_WAIT_S else None
    if status is None and not _is_passing(error):
        return None
    spread = 0.5 + int(call_id[:4], 16) / 0x1_0000
    return min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** (attempt - 1) * spread)


def explained(error: Exception, card: ModelCard) -> tuple[str, str]:
    """A sentence for people, and what the server sent as far as it was kept."""
    response = getattr(error, "response", None)
    raw = _body(response)
    status = getattr(error, "status_code", None)
    if status in REDIRECTS:
        location = response.headers.get("location", "") if response is not None else ""
        address = location[:_LONGEST_ADDRESS].removesuffix(path_of(card)) or "another address"
        return (
            f"{card.endpoint} sends calls on to {address} (HTTP {status}), and nothing was sent "
            f"there. If you trust that address, enter it as the endpoint of {card.name} and run "
            "again.",
            raw,
        )
    if status in (401, 403):
        where = f" in {card.api_key_env}" if card.api_key_env else ""
        return (
            f"{card.name} refused the key{where} (HTTP {status}). Check the key and run again.",
            raw,
        )
    if status == 429:
        return (
            f"{card.name} limits its rate (HTTP 429) and did not give way. Lower n_in_flight or "
            "run again later.",
            raw,
        )
    if status is not None and status >= 500:
        return (
            f"{card.name} failed on its side (HTTP {status}). Run again later; only missing calls "
            "are made.",
            raw,
        )
    if status is not None:
        return (
            f"{card.name} refused the request (HTTP {status}): {raw[:300] or 'no reason given'}",
            raw,
        )
    if isinstance(error, Fault):
        return f"{error}, from {card.name}. Check that its server speaks the OpenAI API.", error.raw
    if _is_timeout(error):
        return (
            f"{card.name} did not answer within {card.timeout_s:g} s. Raise its time limit under "
            "Models, or check the server.",
            raw,
        )
    return (
        f"{card.name} could not be reached at {card.endpoint} ({type(error).__name__}). Is its "
        "server running?",
        raw,
    )


_EXHAUSTED = re.compile(
    r"(?i)insufficient[_ ](?:quota|credits?|balance|funds)|billing_(?:hard_limit_reached|"
    r"not_active)|credit balance is too low|exceeded your current quota|out of credits|"
    r"payment required"
)


def exhausted(error: Exception, card: ModelCard) -> str:
    """A sentence with the provider's own words when an account has nothing left, which no waiting
    mends; "" otherwise."""
    status = getattr(error, "status_code", None)
    raw = _body(getattr(error, "response", None))
    if status is None or status >= 500 or not (status == 402 or _EXHAUSTED.search(raw)):
        return ""
    return (
        f"{card.name} has no quota left (HTTP {status}). Its provider says: {_words(raw)!r}. Add "
        "credit and resume."
    )


def _words(raw: str) -> str:
    """The message inside of an error reply, or the reply."""
    try:
        message = json.loads(raw)["error"]
        return str(message["message"] if isinstance(message, dict) else message)[:300]
    except (ValueError, KeyError, TypeError):
        return raw[:300]


def scrubbed(text: str, key: str) -> str:
    """Text without the key and what looks like one (servers quote parts of it)."""
    if key:
        text = text.replace(key, "[key]")
    return _SECRET.sub("[key]", text)


def _is_timeout(error: BaseException | None) -> bool:
    """Judged by the cause underneath: with aiohttp as transport the client calls a dropped
    connection a time-out too."""
    while error is not None:
        if isinstance(error, TimeoutError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_passing(error: Exception) -> bool:
    """Faults of transport and of half-written replies pass; a programming error does not."""
    from openai import APIConnectionError

    # a reply's body is read after the client has let go, so a drop there comes as the transport's
    # own error
    is_transport = type(error).__module__.partition(".")[0] in {
        "httpx2",
        "httpx",
        "aiohttp",
        "httpcore2",
        "httpx_aiohttp",
    }
    return (
        isinstance(error, (Fault, APIConnectionError, OSError))
        or _is_timeout(error)
        or is_transport
    )


def may_be_billed(error: Exception) -> bool:
    """Tell whether an attempt that brought no answer may have been worked on: not where the server
    refused it or never had it."""
    from socket import gaierror

    if getattr(error, "status_code", None) is not None or not _is_passing(error):
        return False
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, (ConnectionRefusedError, gaierror)):
            return False
        cause = cause.__cause__ or cause.__context__
    return True


def asked_wait(error: Exception) -> float | None:
    """Seconds that the server asks for, where it does: `retry-after-ms`, or `retry-after` as
    seconds or as a date."""
    headers = getattr(getattr(error, "response", None), "headers", {})
    try:
        if headers.get("retry-after-ms"):
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        header = headers.get("retry-after")
        if not header:
            return None
        if re.fullmatch(r"\s*\d+(?:\.\d+)?\s*", header):
            return float(header)
        return max(0.0, (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _body(response) -> str:
    try:
        return response.text if response is not None else ""
    except Exception:  # a body that was never read has no text
        return ""
