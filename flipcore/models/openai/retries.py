"""Rules for retries: which faults may pass, how long to wait, and how to describe a fault without
revealing a key."""

import json
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from flipcore.models.cards import ModelCard
from flipcore.models.openai.replies import Fault, path_of

LONGEST_WAIT_S = 60.0
FIRST_WAIT_S = 0.5
REDIRECTS = {301, 302, 303, 307, 308}
_RETRIED = {408, 409, 429}  # besides all 5xx
_LONGEST_ADDRESS = 300  # characters
_SECRET = re.compile(r"(?i)\bbearer\s+\S+|\b(?:sk|key|pk|xai|gsk|hf)[-_][\w*.-]{6,}")


def pause(error: Exception, attempt: int, call_id: str) -> float | None:
    """Return the seconds before the next attempt.

    None means no further attempt: it would not help, or the server asks for more than a minute.
    Retried are 408, 409, 429, 5xx, time-outs, dropped connections and unreadable replies. The wait
    is the server's `retry-after`, or else doubles with each attempt. The call's id varies it, so
    that many calls do not return at the same moment.
    """
    status = getattr(error, "status_code", None)
    if status is not None and status not in _RETRIED and status < 500:
        return None
    wait = asked_wait(error)
    if wait is not None:
        return wait if wait <= LONGEST_WAIT_S else None
    if status is None and not _is_passing(error):
        return None
    jitter = 0.5 + int(call_id[:4], 16) / 0x1_0000
    return min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** (attempt - 1) * jitter)


def describe_fault(error: Exception, card: ModelCard) -> tuple[str, str]:
    """Return a sentence about a fault, and the text that the server sent."""
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


def no_credit_sentence(error: Exception, card: ModelCard) -> str:
    """Return a sentence where the account has no credit left, so that waiting does not help; else
    ""."""
    status = getattr(error, "status_code", None)
    raw = _body(getattr(error, "response", None))
    if status is None or status >= 500 or not (status == 402 or _EXHAUSTED.search(raw)):
        return ""
    return (
        f"{card.name} has no quota left (HTTP {status}). Its provider says: {_message(raw)!r}. Add "
        "credit and resume."
    )


def _message(raw: str) -> str:
    """Return the message in an error reply, or the reply itself."""
    try:
        message = json.loads(raw)["error"]
        return str(message["message"] if isinstance(message, dict) else message)[:300]
    except (ValueError, KeyError, TypeError):
        return raw[:300]


def without_key(text: str, key: str) -> str:
    """Return a text without the key and anything like one: servers quote parts of keys."""
    if key:
        text = text.replace(key, "[key]")
    return _SECRET.sub("[key]", text)


def _is_timeout(error: BaseException | None) -> bool:
    """Tell whether a time-out caused the error.

    The chain of causes decides: with aiohttp the client also calls a dropped connection a time-out.
    """
    while error is not None:
        if isinstance(error, TimeoutError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_passing(error: Exception) -> bool:
    """Tell whether a fault may pass: a transport error or a broken reply, no programming error."""
    from openai import APIConnectionError

    # The body of a reply is read outside of the client, so a connection that drops then raises the
    # transport's own error.
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
    """Tell whether the server may have worked on a failed attempt: it got and did not refuse it."""
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
    """Return the seconds to wait that the server asks for; None if it does not.
    It says so in `retry-after-ms`, or in `retry-after` as seconds or as a date."""
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
