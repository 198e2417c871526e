"""Any server that speaks the OpenAI API, through the `openai` client: chat or completions,
first-token alternatives, echo.

Servers lie quietly: they drop log-probabilities, send placeholders, ignore `echo`, penalise
repetition at temperature 0. So the parameters that matter are sent, and what came back is looked at
before it is believed.
"""

import asyncio
import math
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from flipcore.core.contracts import Backend
from flipcore.core.finish import separate_reasoning
from flipcore.core.records import SPREAD, Call, Completion, Request, digest
from flipcore.models.cards import ModelCard
from flipcore.models.openai import retries
from flipcore.models.openai.pace import Pace, server_of
from flipcore.models.openai.replies import body_of, fields_of, path_of, reply_of, taken_reasoning
from flipcore.models.openai.retries import (
    REDIRECTS,
    exhausted,
    explained,
    may_be_billed,
    pause,
    scrubbed,
)

N_ATTEMPTS = 5
_RAW_CHARS = 4_000
# asked of a server that fails: does it answer anything?
_CONTROL = Call("", revision="", request=Request("generate", "Hello", max_tokens=1))
_LONGEST_CONTROL_S = 60.0


def revision_of(card: ModelCard) -> str:
    """Revision of what is asked, as far as it is known. A parameter that is left out makes it
    another model in effect, so it is named."""
    extra = card.options.get("extra_body", {})
    without = f" without {', '.join(sorted(card.refuses))}" if card.refuses else ""
    return f"{card.model}@{digest(card.endpoint, card.api, card.model, extra)[:8]}{without}"


def key_of(card: ModelCard) -> str:
    """The key that the environment holds for this model, "" where none is named or set."""
    return os.environ.get(card.api_key_env, "") if card.api_key_env else ""


def missing_key(card: ModelCard) -> str:
    """A sentence where a key is named and not set; "" otherwise."""
    if not card.api_key_env or os.environ.get(card.api_key_env):
        return ""
    return (
        f"The environment variable {card.api_key_env}, which should hold the key for {card.name}, "
        "is not set. Set it and run again."
    )


def open_client(card: ModelCard) -> Any:
    """A client without retries of its own, for the running event loop."""
    from openai import AsyncOpenAI, DefaultAioHttpClient

    return AsyncOpenAI(
        base_url=card.endpoint,
        api_key=key_of(card) or "none",
        max_retries=0,
        timeout=card.timeout_s,
        # A redirect would carry prompts and the key to an address that nobody entered.
        http_client=DefaultAioHttpClient(timeout=card.timeout_s, follow_redirects=False),
    )


def error_texts(error: Exception, card: ModelCard) -> tuple[str, str]:
    """A sentence about a fault and what the server sent, both without the key."""
    sentence, raw = explained(error, card)
    return scrubbed(exhausted(error, card) or sentence, key_of(card)), scrubbed(
        raw[:_RAW_CHARS], key_of(card)
    )


class OpenAICompatible(Backend):
    """`card.options` may hold `extra_body` (sent with every request), `n_attempts`,
    `max_top_logprobs`, `score_tokens` (what the server takes for "none": 0, or 1 where 0 means
    unlimited) and `max_tokens_name`."""

    simulated = False

    def __init__(self, card: ModelCard) -> None:
        self.card, self.name = card, card.name
        self.revision = revision_of(card)
        self.abilities = (
            frozenset(card.abilities) - {SPREAD} - ({"score"} if card.api == "chat" else set())
        )
        self.takes = taken_reasoning(card)
        self._pace = Pace(card, server_of(card))
        self._clients: dict[int, Any] = {}
        self._breaker = Breaker(self._control, lambda error: error_texts(error, card)[0])

    @property
    def down(self) -> str:
        """Reason for which nothing more is sent to this server, or ""."""
        return self._breaker.down

    @property
    def trouble(self) -> str:
        """Sentence that a run shows while the server fails and is asked rarely, or ""."""
        return self._breaker.trouble

    def share_limits(self, share: float, *, is_again: bool = False) -> None:
        """Limits of the card and of the server's headers count by this share."""
        self._pace.take_share(share, time.monotonic() if is_again else None)

    def halt(self) -> None:
        """Makes no further attempt: calls that are on their way come in, those that wait for
        another attempt end."""
        self._breaker.is_halted = True

    def why_not(self, ability: str) -> str:
        if ability in self.abilities:
            return ""
        if ability == SPREAD:
            return (
                f"{self.name} is asked through an API, which gives the likeliest tokens and not "
                "the whole vocabulary."
            )
        if ability == "score" and self.card.api == "chat":
            return (
                f"{self.name} is asked through the chat API, which gives no log-probabilities of "
                "a given text."
            )
        return (
            f"{self.name} does not give {ability.replace('_', ' ')}, says its entry under Models."
        )

    async def complete(self, call: Call) -> Completion:
        """One completion, after as many attempts as the server's faults make worth while."""
        if not self.abilities & {call.request.ability}:
            return Completion(call.call_id, "failed", error=self.why_not(call.request.ability))
        if (call.request.effort and "effort" not in self.takes) or (
            call.request.reasoning_budget and "reasoning_budget" not in self.takes
        ):
            error = f"{self.name} does not take this reasoning effort or budget."
            return Completion(call.call_id, "failed", error=error)
        self._breaker.down = missing_key(self.card) or self._breaker.down
        most, n_lost = self.card.options.get("n_attempts", N_ATTEMPTS), 0
        for attempt in range(1, most + 1):
            await self._pace.turn(call, self._breaker.rest)
            async with self._breaker.turn():
                completion, wait = await self._attempt(call, attempt, last=attempt == most)
            n_lost += completion.n_lost
            completion = replace(completion, n_lost=n_lost)
            if wait is None:
                if completion.status != "ok":
                    # else the last calls of a run would fail without a word on the server
                    await self._breaker.verdict()
                return completion
            await self._breaker.rest(wait)
            if self.down or self._breaker.is_halted:
                return completion
        raise AssertionError("unreachable: the last attempt returns")

    async def _attempt(
        self, call: Call, attempt: int, *, last: bool
    ) -> tuple[Completion, float | None]:
        """Outcome of one attempt, and the seconds until the next; None when there is none."""
        if self.down or self._breaker.is_halted:
            return Completion(
                call.call_id,
                "failed",
                error=self.down or "The run was stopped.",
                n_attempts=attempt - 1,
            ), None
        started = time.perf_counter()
        try:
            text = await asyncio.wait_for(self._reply_text(call), self.card.timeout_s)
            completion = self._read(call, text, attempt, time.perf_counter() - started)
        # the client raises many kinds, also through its transport; none may reach the runner
        except Exception as error:
            self._pace.hear(
                getattr(getattr(error, "response", None), "headers", {}), time.monotonic()
            )
            failed = self._failed(call, error, attempt, time.perf_counter() - started)
            if exhausted(error, self.card):
                self._breaker.down = failed.error
                return failed, None
            self._breaker.failed(error, failed.error)
            return failed, None if last else pause(error, attempt, call_id=call.call_id)
        self._breaker.answered()
        return completion, None

    async def _control(self) -> None:
        """One token of a harmless prompt, not stored; raises whatever the server's fault raises."""
        try:
            text = await asyncio.wait_for(
                self._reply_text(_CONTROL), min(self.card.timeout_s, _LONGEST_CONTROL_S)
            )
            self._read(_CONTROL, text, 1, 0.0)
        except Exception as error:
            if exhausted(error, self.card):
                self._breaker.down = error_texts(error, self.card)[0]
            raise

    async def close(self) -> None:
        client = self._clients.pop(id(asyncio.get_running_loop()), None)
        if client is not None:
            await client.close()

    async def _reply_text(self, call: Call) -> str:
        """The server's reply as text; parsing it into the client's typed objects would cost more
        than the request."""
        import httpx2

        response = await self._client().post(
            path_of(self.card), body=body_of(call, self.card), cast_to=httpx2.Response
        )
        self._pace.hear(response.headers, time.monotonic())
        return response.text

    def _client(self):
        """One client per event loop; aiohttp takes about half the time of the default transport."""
        loop = id(asyncio.get_running_loop())
        if loop not in self._clients:
            self._clients[loop] = open_client(self.card)
        return self._clients[loop]

    def _read(self, call: Call, text: str, attempt: int, latency_s: float) -> Completion:
        parts = fields_of(call, reply_of(text), card=self.card)
        completion = Completion(
            call.call_id,
            "ok",
            cost_usd=self._cost(parts),
            latency_s=latency_s,
            n_attempts=attempt,
            **parts,
        )
        return separate_reasoning(completion)

    def _cost(self, parts: Mapping[str, Any]) -> float | None:
        """US dollars from the tokens that the server counted; None where a price or a count is
        unknown."""
        card = self.card
        if card.price_in is None or card.price_out is None:
            return None
        if card.price_in == card.price_out == 0:
            return 0.0
        if parts["n_tokens_in"] is None or parts["n_tokens_out"] is None:
            return None
        return (parts["n_tokens_in"] * card.price_in + parts["n_tokens_out"] * card.price_out) / 1e6

    def _failed(self, call: Call, error: Exception, attempt: int, latency_s: float) -> Completion:
        sentence, raw = error_texts(error, self.card)
        lost = int(may_be_billed(error))
        return Completion(
            call.call_id,
            "failed",
            error=sentence,
            raw_reply=raw,
            n_attempts=attempt,
            latency_s=latency_s,
            n_lost=lost,
        )


# How a server that fails is asked: rarely, by a question of its own, and not at all once it stays
# away.

SUSPECT = 5  # failures in a row, of any calls
PROBES = 8  # controls in a row that fail before the server counts as gone: 40 seconds of waiting
FEWEST_PROBES = 3
OUTAGE_S = 120.0  # so long a server may hang on every control, once FEWEST_PROBES failed
LIMITED_S = 300.0  # so long a rate limit may refuse every control
START = 4  # calls at once after an outage; one more with every answer
_DOUBLINGS = 4
_POLL_S = 0.02
# a key, a model, a path or an address that is wrong for every call, if a control is refused as well
_REFUSES_ALL = {401, 403, 404} | REDIRECTS
_BUSY = {408, 429}


class Breaker:
    """One for each model and run. `down` is the sentence that says why nothing more is sent, or "";
    `is_halted` is set when the run stops. `control` asks the server something harmless and raises
    its fault, `explain` says the fault."""

    def __init__(
        self, control: Callable[[], Awaitable[None]], explain: Callable[[Exception], str]
    ) -> None:
        self._control, self._explain = control, explain
        self.down, self.is_halted = "", False
        self._n_failures = self._n_probes = self._n_now = 0
        self._suspected_at, self._last_words, self._asked_wait = 0.0, "", 0.0
        self._allowed = math.inf
        self._locks: dict[int, asyncio.Lock] = {}

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Waits until a call may be sent, or until there is no point in it any more."""
        await self.verdict()
        while self._n_now >= self._allowed and not self._is_over:
            await asyncio.sleep(_POLL_S)
        self._n_now += 1
        try:
            yield
        finally:
            self._n_now -= 1

    async def verdict(self) -> None:
        """While the server is under suspicion: waits until it answers a control or is given up."""
        while self._is_suspect and not self._is_over:
            async with self._locks.setdefault(id(asyncio.get_running_loop()), asyncio.Lock()):
                if self._is_suspect and not self._is_over:
                    await self._probe()

    async def rest(self, seconds: float) -> None:
        """Sleeps, and wakes when the run stops or the server is given up."""
        end = time.monotonic() + seconds
        while not self._is_over and (wait_s := end - time.monotonic()) > 0:
            await asyncio.sleep(min(wait_s, 0.2))

    def answered(self) -> None:
        """Something came back, be it a refusal of this one request."""
        if self._is_suspect:
            self._allowed = START
        else:
            self._allowed += 1
        self._n_failures = self._n_probes = 0
        self._asked_wait = 0.0

    def failed(self, error: Exception, sentence: str) -> None:
        """Count a failed attempt. A refusal shows that the server lives: the count starts again."""
        if _is_alive(error):
            self.answered()
            return
        self._n_failures += 1
        self._last_words = sentence
        if self._n_failures == SUSPECT:
            self._suspected_at = time.monotonic()

    @property
    def trouble(self) -> str:
        """Sentence on what is going on while the server fails, with the requests that are still
        sent; "" while it answers."""
        if not self._is_suspect or self._is_over:
            return ""
        return (
            f"{self._last_words} It is asked once every {self._interval():.1f} s until it answers."
        )

    @property
    def _is_suspect(self) -> bool:
        return self._n_failures >= SUSPECT

    @property
    def _is_over(self) -> bool:
        return bool(self.down) or self.is_halted

    def _interval(self) -> float:
        return max(retries.FIRST_WAIT_S * 2 ** min(self._n_probes, _DOUBLINGS), self._asked_wait)

    async def _probe(self) -> None:
        await self.rest(self._interval())
        if self._is_over:
            return
        try:
            await self._control()
        except Exception as error:  # as in the client: the transport raises many kinds
            if _is_alive(error):
                self.answered()
            else:
                self._control_failed(error)
        else:
            self.answered()

    def _control_failed(self, error: Exception) -> None:
        """A control that failed: the next one waits longer, and after enough of them the server is
        given up."""
        self._n_probes += 1
        self._last_words = self._explain(error)
        self._asked_wait = min(retries.asked_wait(error) or 0.0, retries.LONGEST_WAIT_S)
        seconds = time.monotonic() - self._suspected_at
        status = getattr(error, "status_code", None)
        if status in _REFUSES_ALL:
            is_gone = True
        elif status == 429:
            is_gone = seconds > LIMITED_S
        else:
            is_gone = self._n_probes >= PROBES or (
                self._n_probes >= FEWEST_PROBES and seconds > OUTAGE_S
            )
        if is_gone:
            self.down = self._last_words


def _is_alive(error: Exception) -> bool:
    """Tell whether the server answered, so that its fault concerns this one request."""
    status = getattr(error, "status_code", None)
    return status is not None and status < 500 and status not in _REFUSES_ALL | _BUSY
