"""The backend for servers that speak the OpenAI API, chat or completions.

Servers deviate from the API without an error: they drop log-probabilities, send placeholders,
ignore `echo`, penalize repetition at temperature 0. So all parameters that matter are sent, and
replies are checked before they are used.
"""

import asyncio
import math
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from typing import Any

from flipcore.core.contracts import Backend
from flipcore.core.finish import separate_reasoning
from flipcore.core.records import SPREAD, Call, Completion, Request, digest
from flipcore.models.cards import ModelCard
from flipcore.models.openai import retries
from flipcore.models.openai.pace import Pace, server_of
from flipcore.models.openai.replies import accepted_reasoning, body_of, fields_of, path_of, reply_of
from flipcore.models.openai.retries import (
    REDIRECTS,
    describe_fault,
    may_be_billed,
    no_credit_sentence,
    pause,
    without_key,
)

N_ATTEMPTS = 5
_RAW_CHARS = 4_000  # of a failed reply, which are stored
# The smallest request; a failing server gets it as a test of whether it answers anything.
_CONTROL = Call("", revision="", request=Request("generate", "Hello", max_tokens=1))
_LONGEST_CONTROL_S = 60.0


def revision_of(card: ModelCard) -> str:
    """Return the model's revision, as far as the card tells it.

    Without one of its parameters a model behaves as another one, so refused parameters are named.
    """
    extra = card.options.get("extra_body", {})
    without = f" without {', '.join(sorted(card.refuses))}" if card.refuses else ""
    return f"{card.model}@{digest(card.endpoint, card.api, card.model, extra)[:8]}{without}"


def key_of(card: ModelCard) -> str:
    """Return the key in the environment for this model; "" if none is named or set."""
    return os.environ.get(card.api_key_env, "") if card.api_key_env else ""


def missing_key(card: ModelCard) -> str:
    """Return a sentence where the card names a key that is not set; "" otherwise."""
    if not card.api_key_env or os.environ.get(card.api_key_env):
        return ""
    return (
        f"The environment variable {card.api_key_env}, which should hold the key for {card.name}, "
        "is not set. Set it and run again."
    )


@cache
def _tls_context(cert_file: str | None, cert_folder: str | None) -> Any:
    """Load the certificates that servers are checked against, once per process and place.

    Loading them takes longer than most replies, also for a server without TLS. The arguments are
    the variables that `create_ssl_context` reads.
    """
    import httpx2

    return httpx2.create_ssl_context()


def open_client(card: ModelCard) -> Any:
    """Open a client for the running event loop; it does not retry by itself."""
    from openai import AsyncOpenAI, DefaultAioHttpClient

    return AsyncOpenAI(
        base_url=card.endpoint,
        api_key=key_of(card) or "none",
        max_retries=0,
        timeout=card.timeout_s,
        # aiohttp takes about half the time of the default transport. Redirects are refused: they
        # would carry prompts and the key to an address that nobody entered.
        http_client=DefaultAioHttpClient(
            timeout=card.timeout_s,
            follow_redirects=False,
            verify=_tls_context(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")),
        ),
    )


def error_texts(error: Exception, card: ModelCard) -> tuple[str, str]:
    """Return a sentence about a fault and the server's raw reply, both without the key."""
    sentence, raw = describe_fault(error, card)
    sentence, key = no_credit_sentence(error, card) or sentence, key_of(card)
    return without_key(sentence, key), without_key(raw[:_RAW_CHARS], key)


class OpenAICompatible(Backend):
    """A model on a server.

    `card.options` may hold `extra_body` (sent with every request), `n_attempts`,
    `max_top_logprobs`, `max_tokens_name`, and `score_tokens`: the token limit of a request that
    only scores, which is 0, or 1 for servers that read 0 as unlimited.
    """

    simulated = False

    def __init__(self, card: ModelCard) -> None:
        self.card, self.name = card, card.name
        self.revision = revision_of(card)
        self.abilities = (
            frozenset(card.abilities) - {SPREAD} - ({"score"} if card.api == "chat" else set())
        )
        self.takes = accepted_reasoning(card)
        self._pace = Pace(card, server_of(card))
        self._clients: dict[int, Any] = {}
        self._breaker = Breaker(self._control, lambda error: error_texts(error, card)[0])

    @property
    def down(self) -> str:
        """The sentence that says why nothing more is sent to this server, or ""."""
        return self._breaker.down

    @property
    def trouble(self) -> str:
        """The sentence that a run shows while the server fails and is rarely asked, or ""."""
        return self._breaker.trouble

    def share_limits(self, share: float, *, is_again: bool = False) -> None:
        """Use only this share (0 to 1) of the limits in the card and the server's headers."""
        self._pace.take_share(share, time.monotonic() if is_again else None)

    def halt(self) -> None:
        """Make no further attempt: calls in flight finish, calls that wait for a retry end."""
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
        """Return the completion of the last attempt; faults that may pass are tried again."""
        if not self.abilities & {call.request.ability}:
            return Completion(call.call_id, "failed", error=self.why_not(call.request.ability))
        if (call.request.effort and "effort" not in self.takes) or (
            call.request.reasoning_budget and "reasoning_budget" not in self.takes
        ):
            error = f"{self.name} does not take this reasoning effort or budget."
            return Completion(call.call_id, "failed", error=error)
        self._breaker.down = missing_key(self.card) or self._breaker.down
        n_attempts, n_lost = self.card.options.get("n_attempts", N_ATTEMPTS), 0
        for attempt in range(1, n_attempts + 1):
            await self._pace.wait_for_turn(call, self._breaker.sleep)
            async with self._breaker.slot():
                completion, wait_s = await self._attempt(call, attempt, last=attempt == n_attempts)
            n_lost += completion.n_lost
            completion = replace(completion, n_lost=n_lost)
            if wait_s is None:
                if completion.status != "ok":
                    # Otherwise the last calls of a run would fail and `down` would stay empty.
                    await self._breaker.settle()
                return completion
            await self._breaker.sleep(wait_s)
            if self.down or self._breaker.is_halted:
                return completion
        raise AssertionError("unreachable: the last attempt returns")

    async def _attempt(
        self, call: Call, attempt: int, *, last: bool
    ) -> tuple[Completion, float | None]:
        """Return the outcome of one attempt and the seconds until the next; None for no next."""
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
        # The client and its transport raise many kinds of errors; none may reach the runner.
        except Exception as error:
            headers = getattr(getattr(error, "response", None), "headers", {})
            self._pace.note_headers(headers, time.monotonic())
            failed = self._failed(call, error, attempt, time.perf_counter() - started)
            if no_credit_sentence(error, self.card):
                self._breaker.down = failed.error
                return failed, None
            self._breaker.note_failure(error, failed.error)
            return failed, None if last else pause(error, attempt, call_id=call.call_id)
        self._breaker.note_answer()
        return completion, None

    async def _control(self) -> None:
        """Ask for one token of a harmless prompt, which is not stored; raise the server's fault."""
        try:
            text = await asyncio.wait_for(
                self._reply_text(_CONTROL), min(self.card.timeout_s, _LONGEST_CONTROL_S)
            )
            self._read(_CONTROL, text, 1, 0.0)
        except Exception as error:
            if no_credit_sentence(error, self.card):
                self._breaker.down = error_texts(error, self.card)[0]
            raise

    async def close(self) -> None:
        client = self._clients.pop(id(asyncio.get_running_loop()), None)
        if client is not None:
            await client.close()

    async def _reply_text(self, call: Call) -> str:
        """Send a call and return the reply as text."""
        import httpx2

        # Asking for the plain response avoids the client's typed objects: parsing a reply into them
        # takes longer than the request.
        response = await self._client().post(
            path_of(self.card), body=body_of(call, self.card), cast_to=httpx2.Response
        )
        self._pace.note_headers(response.headers, time.monotonic())
        return response.text

    def _client(self):
        """Return the client of this event loop."""
        loop = id(asyncio.get_running_loop())
        if loop not in self._clients:
            self._clients[loop] = open_client(self.card)
        return self._clients[loop]

    def _read(self, call: Call, text: str, attempt: int, latency_s: float) -> Completion:
        fields = fields_of(call, reply_of(text), card=self.card)
        completion = Completion(
            call.call_id,
            "ok",
            cost_usd=self._cost(fields["n_tokens_in"], fields["n_tokens_out"]),
            latency_s=latency_s,
            n_attempts=attempt,
            **fields,
        )
        return separate_reasoning(completion)

    def _cost(self, n_tokens_in: int | None, n_tokens_out: int | None) -> float | None:
        """Return US dollars by the server's counts; None if a price or a count is unknown."""
        card = self.card
        if card.price_in is None or card.price_out is None:
            return None
        if card.price_in == card.price_out == 0:
            return 0.0
        if n_tokens_in is None or n_tokens_out is None:
            return None
        return (n_tokens_in * card.price_in + n_tokens_out * card.price_out) / 1e6

    def _failed(self, call: Call, error: Exception, attempt: int, latency_s: float) -> Completion:
        sentence, raw = error_texts(error, self.card)
        return Completion(
            call.call_id,
            "failed",
            error=sentence,
            raw_reply=raw,
            n_attempts=attempt,
            latency_s=latency_s,
            n_lost=int(may_be_billed(error)),
        )


# A server that fails is asked rarely, with a small control request. Where it goes on failing, it is
# given up.

SUSPECT_AFTER = 5  # failures in a row, of any calls, after which controls begin
MAX_CONTROLS = 8  # failed ones in a row; then the server is given up, after 40 seconds of waiting
# The least failed controls, and the least seconds, before a server that hangs is given up.
MIN_CONTROLS, OUTAGE_S = 3, 120.0
LIMITED_S = 300.0  # a server whose rate limit refuses every control is given up after this time
N_AFTER_OUTAGE = 4  # calls in flight after an outage; every answer allows one more
_DOUBLINGS = 4  # the wait between controls doubles so often at most
_POLL_S = 0.02
# With these codes a key, a model, a path or an address is wrong. Where a control gets one too, it
# is wrong for every call.
_REFUSES_ALL = {401, 403, 404} | REDIRECTS
_BUSY = {408, 429}


class Breaker:
    """Holds calls back while a server fails; each model of a run has one.

    `down` is the sentence that says why nothing more is sent, or "". `is_halted` is set when the
    run stops. `control` sends the server a harmless request and raises its fault; `explain` turns a
    fault into a sentence.
    """

    def __init__(
        self, control: Callable[[], Awaitable[None]], explain: Callable[[Exception], str]
    ) -> None:
        self._control, self._explain = control, explain
        self.down, self.is_halted = "", False
        self._n_failures = self._n_failed_controls = self._n_in_flight = 0
        self._suspected_at, self._last_sentence, self._asked_wait_s = 0.0, "", 0.0
        self._n_allowed = math.inf
        self._locks: dict[int, asyncio.Lock] = {}  # by event loop

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait until a call may be sent, or until no call will be sent any more."""
        await self.settle()
        while self._n_in_flight >= self._n_allowed and not self._is_over:
            await asyncio.sleep(_POLL_S)
        self._n_in_flight += 1
        try:
            yield
        finally:
            self._n_in_flight -= 1

    async def settle(self) -> None:
        """Wait until a suspected server answers a control or is given up."""
        while self._is_suspect and not self._is_over:
            async with self._locks.setdefault(id(asyncio.get_running_loop()), asyncio.Lock()):
                if self._is_suspect and not self._is_over:
                    await self._try_control()

    async def sleep(self, seconds: float) -> None:
        """Sleep; wake early when the run stops or the server is given up."""
        end = time.monotonic() + seconds
        while not self._is_over and (wait_s := end - time.monotonic()) > 0:
            await asyncio.sleep(min(wait_s, 0.2))

    def note_answer(self) -> None:
        """Note a reply, which may be the refusal of one request: the server works."""
        if self._is_suspect:
            self._n_allowed = N_AFTER_OUTAGE
        else:
            self._n_allowed += 1
        self._n_failures = self._n_failed_controls = 0
        self._asked_wait_s = 0.0

    def note_failure(self, error: Exception, sentence: str) -> None:
        """Count a failed attempt; the refusal of one request counts as an answer."""
        if _is_alive(error):
            self.note_answer()
            return
        self._n_failures += 1
        self._last_sentence = sentence
        if self._n_failures == SUSPECT_AFTER:
            self._suspected_at = time.monotonic()

    @property
    def trouble(self) -> str:
        """The last fault and how often the server is asked, while it fails; else ""."""
        if not self._is_suspect or self._is_over:
            return ""
        return (
            f"{self._last_sentence} It is asked once every {self._interval():.1f} s until it "
            "answers."
        )

    @property
    def _is_suspect(self) -> bool:
        return self._n_failures >= SUSPECT_AFTER

    @property
    def _is_over(self) -> bool:
        return bool(self.down) or self.is_halted

    def _interval(self) -> float:
        """Return the seconds until the next control."""
        return max(
            retries.FIRST_WAIT_S * 2 ** min(self._n_failed_controls, _DOUBLINGS), self._asked_wait_s
        )

    async def _try_control(self) -> None:
        await self.sleep(self._interval())
        if self._is_over:
            return
        try:
            await self._control()
        except Exception as error:  # as in the client: the transport raises many kinds
            if _is_alive(error):
                self.note_answer()
            else:
                self._note_failed_control(error)
        else:
            self.note_answer()

    def _note_failed_control(self, error: Exception) -> None:
        """Wait longer before the next control; after enough of them give the server up."""
        self._n_failed_controls += 1
        self._last_sentence = self._explain(error)
        self._asked_wait_s = min(retries.asked_wait(error) or 0.0, retries.LONGEST_WAIT_S)
        seconds = time.monotonic() - self._suspected_at
        status = getattr(error, "status_code", None)
        if status in _REFUSES_ALL:
            is_gone = True
        elif status == 429:
            is_gone = seconds > LIMITED_S
        else:
            is_gone = self._n_failed_controls >= MAX_CONTROLS or (
                self._n_failed_controls >= MIN_CONTROLS and seconds > OUTAGE_S
            )
        if is_gone:
            self.down = self._last_sentence


def _is_alive(error: Exception) -> bool:
    """Tell whether the server answered, so that its fault concerns this one request."""
    status = getattr(error, "status_code", None)
    return status is not None and status < 500 and status not in _REFUSES_ALL | _BUSY
