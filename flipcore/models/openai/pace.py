"""Pace of a server's requests and tokens per minute: what the user or a test said, refined by the
server's own headers.

A request goes when its share of the minute is free (a leaky bucket that lets `BURST_S` seconds'
worth go at once). Without a limit nothing waits. A limit of the headers counts where it is the
smaller one; nothing left counts until the time that they name. Runs of one process that ask the
same model at once share its minute.
"""

import re
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from weakref import WeakValueDictionary

from flipcore.core.records import Call
from flipcore.models.cards import ModelCard

BURST_S = 6.0
# that headers may ask for; what is longer ends as a refused request, with its sentence
LONGEST_S = 60.0
_CHARS_PER_TOKEN = 4
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_KINDS = ("requests", "tokens")


class Server:
    """State of one model's server that all runs of this process share: when the next call is free,
    and what its headers said."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.free_at: dict[str, float] = {}
        self.heard: dict[str, float] = {}


_servers: WeakValueDictionary[tuple[str, str, str], Server] = WeakValueDictionary()
_servers_lock = threading.Lock()


def server_of(card: ModelCard) -> Server:
    """The server that this model is asked at with this key; the same one for all that ask it now,
    since they share its minute."""
    with _servers_lock:
        return _servers.setdefault((card.endpoint, card.model, card.api_key_env), Server())


class Pace:
    """One for each model and run; those of one `server` take their turns from the same minute."""

    def __init__(self, card: ModelCard, server: Server | None = None) -> None:
        card_limits = {"requests": card.requests_per_minute, "tokens": card.tokens_per_minute}
        self._own: dict[str, float] = {kind: float(n) for kind, n in card_limits.items() if n}
        self._server = server or Server()
        self._share = 1.0

    @property
    def per_minute(self) -> dict[str, float]:
        """Limits that count: the card's, and smaller or only ones from headers."""
        heard = self._server.heard
        return self._own | {kind: min(n, self._own.get(kind, n)) for kind, n in heard.items()}

    def take_share(self, share: float, since: float | None = None) -> None:
        """From now on this share of every limit, apart from what others here ask; `since` is when
        another pace with this share may have used up its burst; None where there was none."""
        self._share = share
        if share < 1.0:
            self._server = Server()
        if since is not None:
            self._server.free_at |= dict.fromkeys(self.per_minute, since + BURST_S)

    async def turn(self, call: Call, sleep: Callable[[float], Awaitable[None]]) -> None:
        """Wait by `sleep` until the call may be sent; give the place back if `sleep` ends early."""
        started = time.monotonic()
        wait = self.reserve(call, started)
        if wait <= 0:
            return
        await sleep(wait)
        if time.monotonic() < started + wait:
            self._give_back(call)

    def reserve(self, call: Call, now: float) -> float:
        """Takes the call's share of the minute and returns the seconds until it is free."""
        wait, limits, free_at = 0.0, self.per_minute, self._server.free_at
        with self._server.lock:
            for kind, n in _amounts(call):
                limit = limits.get(kind)
                if limit is None and kind not in free_at:
                    continue
                free = max(free_at.get(kind, now), now)
                wait = max(wait, free - now - BURST_S)
                free_at[kind] = free + (60.0 * n / (limit * self._share) if limit else 0.0)
        return wait

    def _give_back(self, call: Call) -> None:
        """A call that was not sent takes nothing of the minute."""
        limits = self.per_minute
        with self._server.lock:
            for kind, n in _amounts(call):
                if kind in limits and kind in self._server.free_at:
                    self._server.free_at[kind] -= 60.0 * n / (limits[kind] * self._share)

    def hear(self, headers: Mapping[str, str], now: float) -> None:
        """Takes in what a reply's headers say of limits."""
        with self._server.lock:
            for kind in _KINDS:
                limit = minute_limit(headers, kind)
                if limit is not None:
                    self._server.heard[kind] = min(limit, self._server.heard.get(kind, limit))
                left = headers.get(f"x-ratelimit-remaining-{kind}") or headers.get(
                    f"anthropic-ratelimit-{kind}-remaining"
                )
                if left is not None and left.strip() in ("0", "-1"):
                    pause = min(seconds_of(headers.get(f"x-ratelimit-reset-{kind}", "")), LONGEST_S)
                    if pause > 0:
                        self._server.free_at[kind] = max(
                            self._server.free_at.get(kind, 0.0), now + pause + BURST_S
                        )


def _amounts(call: Call) -> tuple[tuple[str, int], ...]:
    return ("requests", 1), ("tokens", n_tokens(call))


def n_tokens(call: Call) -> int:
    """About what a server counts against its limit: the prompt and the room for an answer."""
    request = call.request
    n_chars = len(request.system) + len(request.prompt) + len(request.continuation)
    return n_chars // _CHARS_PER_TOKEN + request.max_tokens


def seconds_of(text: str) -> float:
    """Seconds of "1s", "6m0s" or "250ms"; 0 where it is none of them, as with a date."""
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|h|m|s)", text)
    if "".join(number + unit for number, unit in parts) != text.strip():
        if re.fullmatch(r"\d+(\.\d+)?", text.strip()) and float(text) < LONGEST_S * 60:
            return float(text)
        return 0.0
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def minute_limit(headers: Mapping[str, str], unit: str) -> int | None:
    """Number of requests or tokens per minute that the server's headers allow."""
    for name in (f"x-ratelimit-limit-{unit}", f"anthropic-ratelimit-{unit}-limit"):
        try:
            n = int(float(headers.get(name, "")))
        except (ValueError, OverflowError):
            continue
        if 0 < n <= 10_000_000_000:
            return n
    return None
