"""The checkpoint behind a server that others wrote: `transformers serve`, asked over HTTP, must answer as the model in the box.

It runs where the command `transformers` is on the path with its serving parts (`pip install "transformers[serving]" torch`).
"""

import asyncio
import os
import shutil
import socket
import subprocess
import time
import urllib.request

import pytest

from flipcore.models.cards import ModelCard
from flipcore.models.openai_compatible import OpenAICompatible
from flipcore.models.pocket import CHECKPOINT, Pocket
from flipcore.pocket.items import read_items
from flipcore.pocket.world import FAMILIES
from flipcore.records import Call, Request

SERVER = shutil.which("transformers")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(
    SERVER is None, reason="no third-party server here: `pip install \"transformers[serving]\" torch` puts `transformers` on "
                           "the path")]
WAIT_S = 180


def prompts(n_each: int = 4) -> list[str]:
    """Of every family some items that the model knows by heart and some that it never saw."""
    entries = [entry for family in FAMILIES for which in (lambda e: e.dose == 256, lambda e: e.split == "fresh")
               for entry in [e for e in read_items(family) if which(e)][:n_each]]
    return [entry.document[0] or entry.question[: len(entry.question) // 2].rstrip() for entry in entries]


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = (tmp_path_factory.mktemp("serve") / "log").open("w")
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    command = [SERVER, "serve", str(CHECKPOINT), "--port", str(port), "--device", "cpu", "--dtype", "float32"]
    server = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    try:
        _wait(server, f"http://127.0.0.1:{port}/health", log.name)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait(30)
        log.close()


def _wait(server, health: str, log: str) -> None:
    ends = time.monotonic() + WAIT_S
    while time.monotonic() < ends and server.poll() is None:
        try:
            urllib.request.urlopen(health, timeout=2).close()
            return
        except OSError:
            time.sleep(0.5)
    with open(log) as text:
        pytest.fail(f"transformers serve did not start within {WAIT_S} s:\n{text.read()[-2000:]}")


def served(url: str, api: str, requests: list[Request], **settings):
    card = ModelCard(name="served", backend="openai_compatible", model=str(CHECKPOINT), endpoint=url, api=api, timeout_s=120,
                     **settings)
    return answers(OpenAICompatible(card), requests)


def answers(backend, requests: list[Request]):
    """A completion a request, one after another, and the connections closed."""
    async def main():
        try:
            return [await backend.complete(Call(backend.name, backend.revision, request)) for request in requests]
        finally:
            await backend.close()
    return asyncio.run(main())


@pytest.mark.parametrize("api", ["completions", "chat"])
def test_greedy_answers_are_exactly_those_of_the_embedded_model(url, api):
    requests = [Request("generate", prompt, max_tokens=24, temperature=0.0) for prompt in prompts()]
    ours, theirs = answers(Pocket(), requests), served(url, api, requests)
    assert [(one.status, one.text) for one in theirs] == [("ok", one.text) for one in ours]
    assert len({one.text for one in ours}) > 12 and all(one.text for one in ours)
    assert [one.n_tokens_in for one in theirs] == [one.n_tokens_in for one in ours]


def test_log_probabilities_that_the_server_drops_are_missing_and_never_guessed(url):
    # transformers serve 5.23 takes `logprobs` and returns none, without a word
    request = Request("first_token", prompts(1)[2], max_tokens=1, top_k=5)
    for api in ("completions", "chat"):
        made = served(url, api, [request])[0]
        assert made.status == "ok" and made.top_logprobs is None


def test_scores_that_the_server_cannot_give_fail_or_are_missing(url):
    request = Request("score", prompts(1)[2], continuation=" C")
    made = served(url, "completions", [request], options={"n_attempts": 1})[0]
    assert made.tokens is None and (made.status == "ok" or made.error)
