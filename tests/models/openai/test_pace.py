"""Requests and tokens a minute: nothing waits without a limit, a limit is kept, and the server's headers refine it."""

import asyncio
import threading
import time

import pytest

from flipcore.core.records import Call, Request
from flipcore.models.cards import ModelCard
from flipcore.models.openai import pace as paces
from flipcore.models.openai.client import OpenAICompatible
from flipcore.models.openai.pace import BURST_S, Pace, minute_limit, n_tokens, seconds_of, server_of
from tests.models.server import Server

CALL = Call("lab", "r", Request("generate", "x" * 400, max_tokens=100))  # about 200 tokens


def pace(**limits):
    return Pace(ModelCard("lab", "openai_compatible", **limits))


def within_a_minute(one: Pace, n: int = 5_000) -> int:
    """How many of many calls that all come at once go in the first minute."""
    return sum(one.reserve(CALL, 0.0) <= 60.0 for _ in range(n))


def test_without_a_limit_nothing_waits():
    assert within_a_minute(pace()) == 5_000


def test_a_limit_is_kept_to_a_burst_of_a_tenth_more():
    most = 1 + BURST_S / 60
    assert 600 <= within_a_minute(pace(requests_per_minute=600)) <= 600 * most + 1
    assert n_tokens(CALL) == 200
    assert 300 <= within_a_minute(pace(tokens_per_minute=60_000)) <= 300 * most + 1
    assert within_a_minute(pace(requests_per_minute=600, tokens_per_minute=60_000)) <= 300 * most + 1


def test_a_slow_stream_of_calls_never_waits():
    one = pace(requests_per_minute=60)
    assert [one.reserve(CALL, float(second)) for second in range(100)] == [0.0] * 100


def test_headers_lower_a_limit_and_never_raise_the_users():
    one = pace(requests_per_minute=600)
    one.note_headers({"x-ratelimit-limit-requests": "9000", "x-ratelimit-limit-tokens": "1000"}, 0.0)
    assert one.per_minute == {"requests": 600, "tokens": 1000}
    one.note_headers({"x-ratelimit-limit-requests": "60"}, 0.0)
    assert one.per_minute["requests"] == 60
    one.note_headers({"x-ratelimit-limit-requests": "many", "x-ratelimit-limit-tokens": "-1"}, 0.0)
    assert one.per_minute == {"requests": 60, "tokens": 1000}


def test_nothing_left_waits_until_the_time_that_the_server_names():
    one = pace()
    one.note_headers({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "12s"}, 100.0)
    assert one.reserve(CALL, 100.0) == pytest.approx(12.0) and one.reserve(CALL, 113.0) == 0.0
    one.note_headers({"x-ratelimit-remaining-tokens": "7", "x-ratelimit-reset-tokens": "12s"}, 200.0)
    assert one.reserve(CALL, 200.0) == 0.0
    one.note_headers({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "9h"}, 300.0)
    assert one.reserve(CALL, 300.0) == pytest.approx(60.0)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1s", 1),
        ("6m0s", 360),
        ("250ms", 0.25),
        ("1h2m", 3720),
        ("2.5", 2.5),
        ("", 0),
        ("soon", 0),
        ("2026-01-01T00:00:00Z", 0),
    ],
)
def test_times_are_read_in_the_forms_that_servers_use(text, seconds):
    assert seconds_of(text) == seconds


def test_anthropics_names_are_read_too():
    assert minute_limit({"anthropic-ratelimit-requests-limit": "50"}, "requests") == 50 and minute_limit({}, "tokens") is None


@pytest.mark.slow
def test_a_refused_request_tells_the_next_one_when_to_come():
    headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "700ms", "retry-after-ms": "1"}
    with Server(("status", 429, headers)) as server:

        async def main():
            backend = OpenAICompatible(ModelCard("lab", "openai_compatible", "m", server.url, price_in=0.0, price_out=0.0))
            started = time.monotonic()
            try:
                completion = await backend.complete(CALL)
            finally:
                await backend.close()
            return completion, time.monotonic() - started

        completion, seconds = asyncio.run(main())
    assert completion.status == "ok" and completion.n_attempts == 2 and seconds >= 0.7


def test_two_paces_of_one_server_share_its_minute_each_by_its_own_limit():
    quick, slow = (ModelCard("lab", "openai_compatible", "m", "http://one/v1", requests_per_minute=n) for n in (600, 300))
    ours, theirs = Pace(quick, server_of(quick)), Pace(slow, server_of(slow))
    n = sum(one.reserve(CALL, 0.0) <= 60.0 for _ in range(1_000) for one in (ours, theirs))
    assert 395 <= n <= 400 * (1 + BURST_S / 60) + 2  # one after the other: a tenth and a fifth of a second each
    theirs.note_headers({"x-ratelimit-limit-requests": "60"}, 0.0)
    assert ours.per_minute == {"requests": 60}


@pytest.mark.parametrize("other", [{"endpoint": "http://two/v1"}, {"model": "n"}, {"api_key_env": "OTHER_KEY"}])
def test_another_server_model_or_key_has_a_minute_of_its_own(other):
    one, two = (
        ModelCard("lab", "openai_compatible", **{"model": "m", "endpoint": "http://one/v1"} | more) for more in ({}, other)
    )
    ours, theirs = server_of(one), server_of(two)
    assert ours is not theirs and server_of(one) is ours


def test_a_share_of_a_cluster_is_not_shared_again_within_its_process():
    card = ModelCard("lab", "openai_compatible", "m", "http://one/v1", requests_per_minute=600)
    whole, part = Pace(card, server_of(card)), Pace(card, server_of(card))
    part.take_share(0.5)
    assert within_a_minute(whole) >= 600 and within_a_minute(part) >= 300


def test_a_call_that_ends_before_its_turn_leaves_its_place_to_others():
    one = pace(requests_per_minute=60, tokens_per_minute=60_000)

    async def stopped(_seconds):
        return None

    async def many():
        for _ in range(500):
            await one.wait_for_turn(CALL, stopped)

    asyncio.run(many())
    assert one.reserve(CALL, time.monotonic()) < 3.0


def test_two_runs_of_one_model_at_once_keep_to_one_limit_a_minute(monkeypatch):
    monkeypatch.setattr(paces, "BURST_S", 0.2)
    with Server() as server:
        card = ModelCard("lab", "openai_compatible", "m", server.url, price_in=0.0, price_out=0.0, requests_per_minute=1200)
        times: list[float] = []

        async def run(start: int):
            backend = OpenAICompatible(card)
            try:
                for i in range(start, start + 8):
                    call = Call("lab", "r", Request("generate", f"Say {i}", max_tokens=4))
                    assert (await backend.complete(call)).status == "ok"
                    times.append(time.monotonic())
            finally:
                await backend.close()

        begun = time.monotonic()
        threads = [threading.Thread(target=lambda i=i: asyncio.run(run(100 * i))) for i in range(2)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert len(times) == 16 and max(times) - begun >= 15 / 20 - 0.2  # alone each would be through in 7 / 20 - .2
