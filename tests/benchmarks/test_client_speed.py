"""2,000 requests, 64 in flight, a server that takes 20 ms: our client beside a bare loop over the default AsyncOpenAI."""

import asyncio
import time

import pytest

from flipcore.core.records import Call, Request
from flipcore.models.cards import ModelCard
from flipcore.models.openai.client import OpenAICompatible
from tests.models.server import TEXT, Server

N, IN_FLIGHT = 2_000, 64


async def bounded(n, one):
    """`one(i)` for all i, at most IN_FLIGHT at once; results in order, and the wall time."""
    gate = asyncio.Semaphore(IN_FLIGHT)

    async def held(i):
        async with gate:
            return await one(i)

    started = time.perf_counter()
    made = await asyncio.gather(*(held(i) for i in range(n)))
    return made, time.perf_counter() - started


async def ours(url, n=N):
    backend = OpenAICompatible(ModelCard("lab", "openai_compatible", model="m", endpoint=url, price_in=0.0, price_out=0.0))
    calls = [Call("lab", "r", Request("generate", f"{i}?", max_tokens=8), 0) for i in range(n)]
    try:
        return await bounded(n, lambda i: backend.complete(calls[i]))
    finally:
        await backend.close()


async def bare(url, n=N):
    from openai import AsyncOpenAI

    async with AsyncOpenAI(base_url=url, api_key="x") as client:
        return await bounded(
            n,
            lambda i: client.chat.completions.create(model="m", messages=[{"role": "user", "content": f"{i}?"}], max_tokens=8),
        )


@pytest.mark.soak
def test_both_loops_get_every_answer_and_the_ratio_is_printed(capsys):
    """Ratios are printed, not asserted: a busy machine decides them."""
    ratios = []
    with Server(delay_s=0.02) as server:
        asyncio.run(bare(server.url, 64))  # imports and first connections
        asyncio.run(ours(server.url, 64))
        for _ in range(3):
            replies, bare_s = asyncio.run(bare(server.url))
            made, our_s = asyncio.run(ours(server.url))
            ratios.append(our_s / bare_s)
    assert [one.text for one in made] == [TEXT] * N
    assert [reply.choices[0].message.content for reply in replies] == [TEXT] * N
    with capsys.disabled():
        print(f"\nours {our_s:.2f} s, bare default client {bare_s:.2f} s; ratios {', '.join(f'{r:.2f}' for r in ratios)}")
