"""The checkpoint behind servers that others wrote, asked over HTTP, must answer as the model in the box.

`transformers serve` loads the folder as it is (`pip install "transformers[serving]" torch`). llama.cpp's Python server loads
the GGUF file and gives log-probabilities (`pip install "llama-cpp-python[server]" gguf`, built in some minutes). Each is asked
where it is installed.
"""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from importlib.util import find_spec

import pytest

from flipcore.core.paths import POCKET
from flipcore.core.records import Call, Request
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.models import own_models
from flipcore.models.cards import ModelCard
from flipcore.models.openai.client import OpenAICompatible
from flipcore.models.openai.probe import probed
from flipcore.models.own_models import card_from
from flipcore.models.pocket_inference import Pocket
from flipcore.models.probe_record import card_after
from flipcore.runs import runner
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from tests.lab.pocket.gguf import write_gguf
from tests.lab.pocket.items import read_items
from tests.lab.pocket.world import FAMILIES

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]
SERVER = shutil.which("transformers")
WAIT_S = 180


def prompts(n_each: int = 4) -> list[str]:
    """Of every family some items that the model knows by heart and some that it never saw."""
    entries = [
        entry
        for family in FAMILIES
        for which in (lambda e: e.dose == 256, lambda e: e.split == "fresh")
        for entry in [e for e in read_items(family) if which(e)][:n_each]
    ]
    return [entry.document[0] or entry.question[: len(entry.question) // 2].rstrip() for entry in entries]


def serving(command: list[str], log, health: str):
    """The address of a server while it runs; it is asked for `health` until it answers. Skips where its parts are missing."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    with log.open("w") as text:
        server = subprocess.Popen([*command, "--port", str(port)], stdout=text, stderr=text, env=environment)
    try:
        _wait(server, f"http://127.0.0.1:{port}{health}", log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait(30)


def _wait(server, health: str, log) -> None:
    ends = time.monotonic() + WAIT_S
    while time.monotonic() < ends and server.poll() is None:
        try:
            urllib.request.urlopen(health, timeout=2).close()
            return
        except OSError:
            time.sleep(0.5)
    said = log.read_text(encoding="utf-8", errors="replace")[-2000:]
    if "Missing dependencies for serving" in said:
        pytest.skip('transformers is here without its server: `pip install "transformers[serving]"`')
    pytest.fail(f"The server did not start within {WAIT_S} s:\n{said}")


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    if SERVER is None:
        pytest.skip('no `transformers` on the path: `pip install "transformers[serving]" torch`')
    log = tmp_path_factory.mktemp("serve") / "log"
    yield from serving([SERVER, "serve", str(POCKET), "--device", "cpu", "--dtype", "float32"], log, "/health")


@pytest.fixture(scope="module")
def llama_cpp(tmp_path_factory):
    if find_spec("llama_cpp") is None or find_spec("gguf") is None:
        pytest.skip('no llama.cpp server here: `pip install "llama-cpp-python[server]" gguf`')
    folder = tmp_path_factory.mktemp("llama")
    write_gguf(folder / "pocket.gguf")
    command = [
        sys.executable,
        "-m",
        "llama_cpp.server",
        "--model",
        str(folder / "pocket.gguf"),
        "--logits_all",
        "true",
        "--n_ctx",
        "512",
        "--n_threads",
        "1",
        "--n_threads_batch",
        "1",
    ]
    yield from serving(command, folder / "log", "/v1/models")


def served(url: str, api: str, requests: list[Request], **settings):
    card = ModelCard(
        name="served", backend="openai_compatible", model=str(POCKET), endpoint=url, api=api, timeout_s=120, **settings
    )
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


def test_a_test_finds_the_server_out_and_a_study_on_it_has_true_statuses_and_no_false_flip(url, tmp_path, monkeypatch):
    """Beside the embedded model, whose answers are the truth: the same text is sent, and both answer greedily."""
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path))
    card = card_from("theirs", "other", str(POCKET), endpoint=url, price_in=0.0, price_out=0.0)
    record = probed(card)
    assert "drops them without a word" in record.logprobs and record.n_logprobs == 0
    assert (record.scores, record.reasoning, record.refuses) == (False, "", ())
    assert record.counts_tokens and record.limit_name == "max_tokens" and record.answered_as == f"{POCKET}@main"
    own_models.save(card_after(card, record))
    axes = (Part("identity"), Part("prompt_format", {"layouts": ["bare", "paren"]}), Part("option_order", {"n": 2}))
    models = tuple(ModelUse(name, max_tokens=24) for name in ("theirs", "pocket"))
    study = Study("third party", (ItemSource("pocket_choice", n=8),), axes, (Part("regex"), Part("first_token")), models)
    store = Store.open(tmp_path / "flips.duckdb")
    try:
        last = runner.run(study, store)
        frame = studies.readouts(store, study.study_id)
    finally:
        store.close()
    assert last.state == "done", last.message
    status = frame.groupby(["model", "extractor"])["status"].agg(lambda one: tuple(sorted(set(one))))
    assert status["theirs", "first_token"] == ("absent",) and status["pocket", "first_token"] == ("ok",)
    keys = ["item_id", "axis", "variant", "sample"]
    written = frame[frame["extractor"] == "regex"].set_index(keys)
    ours, theirs = (written[written["model"] == name][["status", "answer"]].sort_index() for name in ("pocket", "theirs"))
    assert len(theirs) > 30 and set(theirs["status"]) <= {"ok", "unreadable", "cut"} and "ok" in set(theirs["status"])
    assert theirs.equals(ours)


LLAMA = {"score_tokens": 1, "extra_body": {"repeat_penalty": 1.0}, "n_attempts": 1}


def test_llama_cpp_gives_the_same_answers(llama_cpp):
    requests = [Request("generate", prompt, max_tokens=24, temperature=0.0) for prompt in prompts()]
    ours, theirs = answers(Pocket(), requests), served(llama_cpp, "completions", requests, options=LLAMA)
    assert [(one.status, one.text) for one in theirs] == [("ok", one.text) for one in ours]
    assert [one.n_tokens_in for one in theirs] == [one.n_tokens_in for one in ours]


def test_llama_cpp_gives_the_same_log_probabilities_of_a_first_token(llama_cpp):
    requests = [Request("first_token", prompt, max_tokens=1, top_k=5) for prompt in prompts()]
    ours, theirs = answers(Pocket(), requests), served(llama_cpp, "completions", requests, options=LLAMA)
    for mine, other in zip(ours, theirs, strict=True):
        shared = set(mine.top_logprobs) & set(other.top_logprobs)
        assert len(shared) >= 4  # the fifth and the sixth may change places
        assert all(abs(mine.top_logprobs[token] - other.top_logprobs[token]) < 1e-2 for token in shared)


def test_llama_cpp_gives_the_same_scores(llama_cpp):
    requests = [Request("score", prompt[: len(prompt) // 2], continuation=prompt[len(prompt) // 2 :]) for prompt in prompts()]
    ours, theirs = answers(Pocket(), requests), served(llama_cpp, "completions", requests, options=LLAMA)
    for mine, other in zip(ours, theirs, strict=True):
        assert other.status == "ok" and [t for t, _ in other.tokens] == [t for t, _ in mine.tokens]
        assert max(abs(a - b) for (_, a), (_, b) in zip(mine.tokens, other.tokens, strict=True)) < 1e-2
