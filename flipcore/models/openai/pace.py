"""Keeps calls within a server's requests and tokens per minute.

The limits are those of the model's card and of the server's headers; the smaller one counts. A
leaky bucket spaces the requests, and lets `BURST_S` seconds' worth go at once. Without a limit
nothing waits. Where the headers say that nothing is left, calls wait until the time that they name.
Runs of one process that ask the same model share its limits.
"""

import re
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from weakref import WeakValueDictionary

from flipcore.core.records import Call
from flipcore.models.cards import ModelCard

BURST_S = 6.0
# The longest wait that headers may impose. A longer limit ends as a refused request, whose sentence
# the user sees.
LONGEST_S = 60.0
_CHARS_PER_TOKEN = 4  # an estimate
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_KINDS = ("requests", "tokens")


class Server:
    """The state of one model's server, which all runs of this process share.

    `free_at` is when the bucket of "requests" or "tokens" is next free, in seconds of the monotonic
    clock; `header_limits` are the limits per minute that its headers named.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.free_at: dict[str, float] = {}
        self.header_limits: dict[str, float] = {}


_servers: WeakValueDictionary[tuple[str, str, str], Server] = WeakValueDictionary()
_servers_lock = threading.Lock()


def server_of(card: ModelCard) -> Server:
    """Return the state of the card's server, one for all runs with its endpoint, model and key."""
    with _servers_lock:
        return _servers.setdefault((card.endpoint, card.model, card.api_key_env), Server())


class Pace:
    """The pace of one model in one run; paces with the same `server` share its limits."""

    def __init__(self, card: ModelCard, server: Server | None = None) -> None:
        card_limits = {"requests": card.requests_per_minute, "tokens": card.tokens_per_minute}
        self._card_limits: dict[str, float] = {
            kind: float(n) for kind, n in card_limits.items() if n
        }
        self._server = server or Server()
        self._share = 1.0

    @property
    def per_minute(self) -> dict[str, float]:
        """The limits that apply: the smaller ones of the card and the headers."""
        limits = dict(self._card_limits)
        for kind, n in self._server.header_limits.items():
            limits[kind] = min(n, limits.get(kind, n))
        return limits

    def take_share(self, share: float, since: float | None = None) -> None:
        """Use only this share of every limit, apart from other runs of this process. `since` is
        when another pace with this share may have used up its burst; None if there was none."""
        self._share = share
        if share < 1.0:
            self._server = Server()
        if since is not None:
            self._server.free_at |= dict.fromkeys(self.per_minute, since + BURST_S)

    async def wait_for_turn(self, call: Call, sleep: Callable[[float], Awaitable[None]]) -> None:
        """Wait by `sleep` until the call may be sent; undo the reservation if it ends early."""
        started = time.monotonic()
        wait = self.reserve(call, started)
        if wait <= 0:
            return
        await sleep(wait)
        if time.monotonic() < started + wait:
            self._give_back(call)

    def reserve(self, call: Call, now: float) -> float:
        """Reserve the call's part of the limits; return the seconds until it may be sent."""
        wait, limits, free_at = 0.0, self.per_minute, self._server.free_at
        with self._server.lock:
            for kind, amount in _amounts(call):
                limit = limits.get(kind)
                if limit is None and kind not in free_at:
                    continue
                free = max(free_at.get(kind, now), now)
                wait = max(wait, free - now - BURST_S)
                free_at[kind] = free + (60.0 * amount / (limit * self._share) if limit else 0.0)
        return wait

    def _give_back(self, call: Call) -> None:
        """Undo the reservation of a call that was not sent."""
        limits = self.per_minute
        with self._server.lock:
            for kind, amount in _amounts(call):
                if kind in limits and kind in self._server.free_at:
                    self._server.free_at[kind] -= 60.0 * amount / (limits[kind] * self._share)

    def note_headers(self, headers: Mapping[str, str], now: float) -> None:
        """Apply the limits in a reply's headers."""
        with self._server.lock:
            for kind in _KINDS:
                limit = minute_limit(headers, kind)
                if limit is not None:
                    limits = self._server.header_limits
                    limits[kind] = min(limit, limits.get(kind, limit))
                n_left = headers.get(f"x-ratelimit-remaining-{kind}") or headers.get(
                    f"anthropic-ratelimit-{kind}-remaining"
                )
                if n_left is not None and n_left.strip() in ("0", "-1"):
                    pause = min(seconds_of(headers.get(f"x-ratelimit-reset-{kind}", "")), LONGEST_S)
                    if pause > 0:
                        self._server.free_at[kind] = max(
                            self._server.free_at.get(kind, 0.0), now + pause + BURST_S
                        )


def _amounts(call: Call) -> tuple[tuple[str, int], ...]:
    return ("requests", 1), ("tokens", n_tokens(call))


def n_tokens(call: Call) -> int:
    """Estimate the tokens that count against a server's limit: the prompt's and the most output."""
    request = call.request
    n_chars = len(request.system) + len(request.prompt) + len(request.continuation)
    return n_chars // _CHARS_PER_TOKEN + request.max_tokens


def seconds_of(text: str) -> float:
    """Return the seconds of "1s", "6m0s", "250ms" or a plain number; 0 for a date and others."""
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|h|m|s)", text)
    if "".join(number + unit for number, unit in parts) != text.strip():
        if re.fullmatch(r"\d+(\.\d+)?", text.strip()) and float(text) < LONGEST_S * 60:
            return float(text)
        return 0.0
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def minute_limit(headers: Mapping[str, str], unit: str) -> int | None:
    """Return the "requests" or "tokens" per minute in the headers; None if they name none."""
    for name in (f"x-ratelimit-limit-{unit}", f"anthropic-ratelimit-{unit}-limit"):
        try:
            n = int(float(headers.get(name, "")))
        except (ValueError, OverflowError):
            continue
        if 0 < n <= 10_000_000_000:
            return n
    return None
