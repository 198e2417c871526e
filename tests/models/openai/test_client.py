"""The client over real HTTP, against a server that misbehaves in every way that the issue names."""

import asyncio
import socket
import time

import pytest

from flipcore.core.records import Call, Request
from flipcore.models.cards import ModelCard
from flipcore.models.openai.client import OpenAICompatible
from flipcore.models.openai.retries import LONGEST_WAIT_S
from tests.models.server import TEXT, TOP, Server


@pytest.fixture(autouse=True, scope="module")
def client_at_hand():
    """The first call of a process also imports the client, which on a busy machine takes longer than a call may here."""
    with Server() as server:
        assert ask(server.url, WORDS, timeout_s=30.0).status == "ok"


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    """The waits themselves: test_retries.py."""
    monkeypatch.setattr("flipcore.models.openai.retries.FIRST_WAIT_S", 0.01)


def card(url, **rest):
    return ModelCard(
        "lab",
        "openai_compatible",
        **{"model": "m", "endpoint": url, "price_in": 1.0, "price_out": 2.0, "timeout_s": 2.0} | rest,
    )


def ask(url, request, sample=0, **rest):
    return ask_all(url, [Call("lab", "r", request, sample)], **rest)[0]


def ask_all(url, calls, **rest):
    async def main():
        backend = OpenAICompatible(card(url, **rest))
        try:
            return await asyncio.gather(*(backend.complete(call) for call in calls))
        finally:
            await backend.close()

    return asyncio.run(main())


WORDS = Request("generate", "2 + 2?", system="Be brief.", max_tokens=8, temperature=0.7, top_p=0.9, seed=5, stop=("\n",))
FIRST = Request("first_token", "2 + 2?", max_tokens=1, top_k=20)
SCORE = Request("score", "The metal is", continuation=" red tin")


@pytest.mark.slow
def test_a_text_comes_back_with_its_tokens_price_and_the_parameters_that_matter():
    with Server() as server:
        made = ask(server.url, WORDS, sample=3)
    assert (made.status, made.text, made.finish_reason, made.n_attempts) == ("ok", TEXT, "stop", 1)
    assert made.cost_usd == pytest.approx((20 * 1.0 + 5 * 2.0) / 1e6)
    assert made.latency_s > 0
    sent = server.bodies[0]
    assert sent["messages"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2 + 2?"}]
    assert (sent["seed"], sent["temperature"], sent["top_p"], sent["stop"]) == (8, 0.7, 0.9, ["\n"])  # seed 5 + sample 3


@pytest.mark.slow
def test_neutral_repetition_penalty_is_sent_where_the_card_asks_for_it():
    with Server() as server:
        ask(server.url, WORDS, options={"extra_body": {"repeat_penalty": 1.0}, "max_tokens_name": "max_completion_tokens"})
    assert server.bodies[0]["repeat_penalty"] == 1.0
    assert server.bodies[0]["max_completion_tokens"] == 8 and "max_tokens" not in server.bodies[0]


@pytest.mark.slow
@pytest.mark.parametrize("api", ["chat", "completions"])
def test_first_token_alternatives_come_back_as_the_server_sent_them(api):
    with Server() as server:
        made = ask(server.url, FIRST, api=api)
    assert made.top_logprobs == pytest.approx(TOP)


@pytest.mark.parametrize("api", ["chat", "completions"])
@pytest.mark.parametrize("lie", ["none", "zero"])
def test_missing_and_placeholder_log_probabilities_are_none(api, lie):
    with Server(logprobs=lie) as server:
        made = ask(server.url, FIRST, api=api)
        assert made.status == "ok" and made.top_logprobs is None
        scored = ask(server.url, SCORE, api="completions")
    assert scored.status == "ok" and scored.tokens is None


@pytest.mark.parametrize("score_tokens", [0, 1])
def test_a_score_covers_the_continuation_and_nothing_else(score_tokens):
    # the server gives a token of n characters -n nats: " red" 4, " tin" 4; with score_tokens 1 it appends " more"
    with Server() as server:
        made = ask(server.url, SCORE, api="completions", options={"score_tokens": score_tokens})
    assert made.tokens == ((" red", -4.0), (" tin", -4.0))


def test_a_server_that_does_not_echo_gives_no_score():
    # what it generated after the prompt's 12 characters stands where the continuation's tokens would
    reply = {
        "choices": [
            {"text": " more!", "logprobs": {"tokens": [" more", "!"], "token_logprobs": [-1.0, -1.0], "text_offset": [12, 17]}}
        ]
    }
    with Server(("reply", reply)) as server:
        assert ask(server.url, SCORE, api="completions").tokens is None


def test_a_score_through_chat_is_refused_with_a_reason_and_no_request():
    with Server() as server:
        made = ask(server.url, SCORE)
    assert made.status == "failed" and "chat API" in made.error and server.bodies == []


@pytest.mark.slow
def test_retry_after_is_honoured():
    with Server(("status", 429, {"retry-after": "1"})) as server:
        started = time.perf_counter()
        made = ask(server.url, WORDS)
        waited = time.perf_counter() - started
    assert made.status == "ok" and made.n_attempts == 2
    assert waited >= 1.0  # what the server asked for; our own first wait would be shorter


def test_a_retry_after_of_minutes_gives_up_at_once():
    with Server(("status", 429, {"retry-after": str(LONGEST_WAIT_S + 1)})) as server:
        made = ask(server.url, WORDS)
    assert (made.status, made.n_attempts) == ("failed", 1) and "429" in made.error


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [
        ("status", 500),
        ("status", 503),
        ("malformed",),
        ("half",),
        ("drop",),
        ("reply", {"choices": []}),
        ("reply", []),
        ("reply", {"error": "overloaded"}),
    ],
    ids=lambda fault: "-".join(map(str, fault)),
)
def test_a_passing_fault_is_asked_again(fault):
    with Server(fault) as server:
        made = ask(server.url, WORDS)
    assert (made.status, made.text, made.n_attempts) == ("ok", TEXT, 2)


@pytest.mark.parametrize(
    "fault, word",
    [
        (("status", 500), "500"),
        (("malformed",), "JSON"),
        (("drop",), "reached"),
        (("reply", {"error": {"message": "no such model"}}), "no such model"),
    ],
    ids=lambda value: str(value[0]),
)
def test_a_lasting_fault_becomes_a_failed_completion_with_a_sentence(fault, word):
    with Server(fault, fault) as server:
        made = ask(server.url, WORDS, options={"n_attempts": 2})
        n_asked = len(server.bodies)
    assert (made.status, made.n_attempts, n_asked) == ("failed", 2, 2)
    assert word in made.error and made.error.endswith((".", "?", "}"))
    assert made.cost_usd is None and made.text == ""


@pytest.mark.parametrize("code", [400, 401, 404])
def test_a_refused_request_is_not_asked_again(code):
    with Server(("status", code)) as server:
        made = ask(server.url, WORDS)
        assert len(server.bodies) == 1
    assert made.status == "failed" and str(code) in made.error


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_names_the_new_address(code):
    with Server() as elsewhere, Server(("status", code, {"Location": f"{elsewhere.url}/chat/completions"})) as server:
        made = ask(server.url, WORDS)
        assert len(server.bodies) == 1 and elsewhere.bodies == []
    assert made.status == "failed" and f"sends calls on to {elsewhere.url} (HTTP {code})" in made.error
    assert "nothing was sent there" in made.error


@pytest.mark.parametrize("fault", [("slow", 3.0), ("drip",)], ids=["slow", "drip"])
def test_a_slow_server_and_a_dripping_one_time_out_and_are_asked_again(fault):
    with Server(fault) as server:
        made = ask(server.url, WORDS, timeout_s=0.4)
    assert made.status == "ok" and made.n_attempts >= 2  # a busy machine may time the second attempt out too


def test_a_time_out_that_lasts_is_a_sentence_about_the_time():
    with Server(("slow", 3.0)) as server:
        made = ask(server.url, WORDS, timeout_s=0.2, options={"n_attempts": 1})
    assert made.status == "failed" and "0.2 s" in made.error


def test_a_dead_server_is_a_sentence_and_no_exception():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    made = ask(f"http://127.0.0.1:{port}/v1", WORDS, options={"n_attempts": 2})
    assert made.status == "failed" and "could not be reached" in made.error


@pytest.mark.slow
def test_a_server_that_dies_in_mid_run_fails_the_rest_and_keeps_what_came():
    server = Server(delay_s=0.01)

    async def main():
        backend = OpenAICompatible(card(server.url, options={"n_attempts": 1}))
        first = await asyncio.gather(*(backend.complete(Call("lab", "r", WORDS, i)) for i in range(8)))
        await asyncio.to_thread(server.__exit__)
        rest = await asyncio.gather(*(backend.complete(Call("lab", "r", WORDS, i)) for i in range(8, 16)))
        await backend.close()
        return first, rest

    server.__enter__()
    first, rest = asyncio.run(main())
    assert {one.status for one in first} == {"ok"} and {one.status for one in rest} == {"failed"}


def test_no_key_reaches_an_error_or_a_raw_reply(monkeypatch):
    monkeypatch.setenv("LAB_KEY", "verysecret123")
    said = "Incorrect API key provided: verysecret123; also sk-proj-****abcd and Bearer xyz.123"
    with Server(("status", 401, {}, said), ("status", 400, {}, said)) as server:
        refused = ask(server.url, WORDS, api_key_env="LAB_KEY")
        other = ask(server.url, WORDS, api_key_env="LAB_KEY")
        assert server.headers[0]["Authorization"] == "Bearer verysecret123"
    for made in (refused, other):
        assert made.status == "failed"
        assert not any(part in made.error + made.raw_reply for part in ("verysecret", "****abcd", "xyz.123"))
    assert "LAB_KEY" in refused.error and "[key]" in other.raw_reply


def test_a_missing_key_is_a_sentence_that_names_the_variable_and_asks_nothing(monkeypatch):
    monkeypatch.delenv("LAB_KEY", raising=False)
    with Server() as server:
        made = ask(server.url, WORDS, api_key_env="LAB_KEY")
        assert server.bodies == []
    assert made.status == "failed" and "LAB_KEY" in made.error


def test_unknown_prices_are_an_unknown_cost_and_free_is_zero():
    with Server() as server:
        assert ask(server.url, WORDS, price_out=None).cost_usd is None
        assert ask(server.url, WORDS, price_in=0.0, price_out=0.0).cost_usd == 0.0


def test_a_server_without_usage_leaves_tokens_and_cost_unknown():
    with Server(("reply", {"choices": [{"message": {"content": "4"}}]})) as server:
        made = ask(server.url, WORDS)
    assert (made.text, made.n_tokens_in, made.cost_usd) == ("4", None, None)


def test_a_refusal_is_a_text_and_null_content_an_empty_one():
    with Server(
        ("reply", {"choices": [{"message": {"content": None, "refusal": "No."}}]}),
        ("reply", {"choices": [{"message": {"content": None}}]}),
    ) as server:
        assert ask(server.url, WORDS).text == "No."
        made = ask(server.url, WORDS)
    assert (made.status, made.text) == ("ok", "")


def test_sixty_four_calls_are_in_flight_at_once():
    with Server(delay_s=0.2) as server:
        made = ask_all(server.url, [Call("lab", "r", WORDS, i) for i in range(64)], timeout_s=20.0)
        assert server.most_at_once == 64
    assert {one.status for one in made} == {"ok"}


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        ({"message": {"content": "B"}, "finish_reason": "max_tokens"}, ("B", "length", "")),
        ({"message": {"content": "B"}, "finish_reason": "content_filter"}, ("B", "content_filter", "")),
        ({"message": {"content": "B"}, "finish_reason": None}, ("B", "", "")),
        ({"message": {"content": "B", "reasoning_content": "A?"}, "finish_reason": "stop"}, ("B", "stop", "A?")),
        ({"message": {"content": "B", "reasoning": "A?"}, "finish_reason": "stop"}, ("B", "stop", "A?")),
        ({"message": {"content": "<think>A?</think>\nB"}, "finish_reason": "stop"}, ("B", "stop", "A?")),
        ({"message": {"content": "<think>So A"}, "finish_reason": "stop"}, ("", "open_reasoning", "So A")),
        ({"message": {"content": None, "refusal": "I cannot."}, "finish_reason": "stop"}, ("I cannot.", "refusal", "")),
    ],
)
def test_how_an_answer_ended_and_its_reasoning_are_kept_apart_from_it(choice, wanted):
    with Server() as server:
        server.faults.append(("reply", {"choices": [choice]}))
        made = ask(server.url, WORDS)
    assert (made.text, made.finish_reason, made.reasoning) == wanted


@pytest.mark.parametrize(
    ("usage", "n_out", "n_reasoning"),
    [
        ({"prompt_tokens": 20, "completion_tokens": 6, "total_tokens": 26}, 6, None),
        ({"prompt_tokens": 20, "completion_tokens": 6, "completion_tokens_details": {"reasoning_tokens": 4}}, 6, 4),
        ({"prompt_tokens": 20, "completion_tokens": 6, "total_tokens": 126}, 106, 100),  # counted in the total alone
        ({"prompt_tokens": 20, "completion_tokens": 6, "total_tokens": 3}, 6, None),
    ],
)
def test_reasoning_is_counted_and_billed_as_output(usage, n_out, n_reasoning):
    reply = {"choices": [{"message": {"content": "4", "reasoning": "2 + 2"}, "finish_reason": "stop"}], "usage": usage}
    with Server(("reply", reply)) as server:
        completion = ask(server.url, WORDS)
    assert (completion.text, completion.reasoning) == ("4", "2 + 2")
    assert (completion.n_tokens_out, completion.n_tokens_reasoning) == (n_out, n_reasoning)
    assert completion.cost_usd == pytest.approx((20 * 1.0 + n_out * 2.0) / 1e6)


def test_an_effort_and_a_budget_are_sent_where_the_server_has_a_way_for_them_and_refused_here_otherwise():
    request = Request("generate", "2 + 2?", max_tokens=99, effort="low", reasoning_budget=50)
    with Server() as server:
        completion = ask(server.url, request, preset="openrouter")
        refused = [ask(server.url, request), ask(server.url, request, preset="openrouter", refuses=("reasoning_effort",))]
    assert completion.status == "ok" and len(server.bodies) == 1
    assert (server.bodies[0]["reasoning_effort"], server.bodies[0]["reasoning"]) == ("low", {"max_tokens": 50})
    assert {one.status for one in refused} == {"failed"} and "does not take" in refused[0].error
