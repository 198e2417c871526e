"""Requests and replies of the OpenAI API as plain data: what is sent for a call, and what can be believed of the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flipcore.core.finish import REFUSAL, finish_reason
from flipcore.core.records import Call
from flipcore.models.cards import ModelCard
from flipcore.text.logprobs import usable_alternatives, usable_tokens

_MOST_TOKENS = 2**31  # a count beyond it is a fault of the server, not a bill


class Fault(Exception):
    """A reply that is not what the API promises; `raw` is what came."""

    def __init__(self, sentence: str, raw: str = "") -> None:
        super().__init__(sentence)
        self.raw = raw


def path_of(card: ModelCard) -> str:
    """The address below the endpoint that this model is asked at."""
    return "/chat/completions" if card.api == "chat" else "/completions"


def body_of(call: Call, card: ModelCard) -> dict[str, Any]:
    """The request's body. The seed is the request's plus the sample's number, so that samples differ and repeat."""
    request = call.request
    body: dict[str, Any] = {"model": card.model, "temperature": request.temperature, "top_p": request.top_p}
    body[card.options.get("max_tokens_name", "max_tokens")] = request.max_tokens
    if request.seed is not None:
        body["seed"] = request.seed + call.sample
    if request.stop:
        body["stop"] = list(request.stop)
    body |= _chat_part(call, card) if card.api == "chat" else _completions_part(call, card)
    return body | card.options.get("extra_body", {})


def _chat_part(call: Call, card: ModelCard) -> dict[str, Any]:
    request = call.request
    system = [{"role": "system", "content": request.system}] if request.system else []
    part: dict[str, Any] = {"messages": [*system, {"role": "user", "content": request.prompt}]}
    if request.kind == "first_token":
        part |= {"logprobs": True, "top_logprobs": min(request.top_k, card.options.get("max_top_logprobs", 20))}
    return part


def _completions_part(call: Call, card: ModelCard) -> dict[str, Any]:
    request = call.request
    prompt = _prompt(call)
    if request.kind == "score":
        return {
            "prompt": prompt + request.continuation,
            "echo": True,
            "logprobs": 1,
            card.options.get("max_tokens_name", "max_tokens"): card.options.get("score_tokens", 0),
        }
    if request.kind == "first_token":
        return {
            "prompt": prompt + request.continuation,
            "logprobs": min(request.top_k, card.options.get("max_top_logprobs", 20)),
        }
    return {"prompt": prompt}


def _prompt(call: Call) -> str:
    return f"{call.request.system}\n\n{call.request.prompt}" if call.request.system else call.request.prompt


def fields_of(call: Call, reply: Any, card: ModelCard) -> dict[str, Any]:
    """Text, finish, tokens and alternatives for a Completion; raises Fault when the reply has no choice to read.

    Log-probabilities that are missing or placeholders become None: the readout is then absent, not guessed.
    """
    if not isinstance(reply, dict):
        raise Fault("The server's reply is no JSON object", str(reply)[:1000])
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Fault(f"The server's reply has no choices{_error_words(reply)}", str(reply)[:1000])
    choice = choices[0]
    raw_usage = reply.get("usage")
    usage = raw_usage if isinstance(raw_usage, dict) else {}
    text, reasoning, refused = _text(choice, card)
    scoring = call.request.kind == "score"
    return {
        "text": "" if scoring else text,
        "reasoning": "" if scoring else reasoning,
        "finish_reason": REFUSAL if refused else finish_reason(choice.get("finish_reason")),
        "tokens": usable_tokens(_scored(call, choice, text)) if scoring else None,
        "top_logprobs": usable_alternatives(_alternatives(choice)) if call.request.kind == "first_token" else None,
        "n_tokens_in": _count(usage, "prompt_tokens"),
        "n_tokens_out": _count(usage, "completion_tokens"),
    }


def _text(choice: Mapping[str, Any], card: ModelCard) -> tuple[str, str, bool]:
    """(generated text, reasoning that the server sends apart, whether the text is a refusal). None of a text is an empty
    answer, another type is a fault."""
    holder = choice.get("message") if card.api == "chat" else choice
    if not isinstance(holder, dict):
        raise Fault("The server's choice holds no message", str(choice)[:1000])
    text = holder.get("content" if card.api == "chat" else "text")
    refused = text is None and bool(holder.get("refusal"))
    text = holder.get("refusal") or "" if text is None else text
    if not isinstance(text, str):
        raise Fault("The server's text is not text", str(choice)[:1000])
    apart = (holder.get(name) for name in ("reasoning_content", "reasoning"))  # vLLM and DeepSeek; OpenRouter and Ollama
    return text, next((one for one in apart if isinstance(one, str) and one), ""), refused


def _alternatives(choice: Mapping[str, Any]) -> dict[str, float] | None:
    """The first token's alternatives, in the form of the chat API (a list) or of the completions API (a table)."""
    logprobs: Any = choice.get("logprobs")
    try:
        if logprobs.get("content"):
            first = logprobs["content"][0]
            return {one["token"]: float(one["logprob"]) for one in first.get("top_logprobs") or [first]}
        return {str(token): float(nats) for token, nats in logprobs["top_logprobs"][0].items()}
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        return None


def _scored(call: Call, choice: Mapping[str, Any], text: str) -> list[tuple[str, float]] | None:
    """(token, nats) of the continuation in an echoed text; None where the server did not echo.

    A token that reaches from the prompt into the continuation belongs to the continuation, for every option alike; tokens
    generated after it do not.
    """
    logprobs = choice.get("logprobs")
    start, end = len(_prompt(call)), len(_prompt(call)) + len(call.request.continuation)
    if not isinstance(logprobs, dict) or not text.startswith(_prompt(call) + call.request.continuation):
        return None
    tokens, nats = logprobs.get("tokens") or [], logprobs.get("token_logprobs") or []
    if len(tokens) != len(nats) or not tokens:
        return None
    begins = logprobs.get("text_offset") or []
    if len(begins) != len(tokens):
        begins = [sum(map(len, tokens[:i])) for i in range(len(tokens))]
    ends = [*begins[1:], len(text)]
    scored = [
        (str(token), value)
        for token, value, begin, stop in zip(tokens, nats, begins, ends, strict=True)
        if stop > start and begin < end
    ]
    # from nothing the first token has no log-probability: it is left out, not the whole text
    return scored[1:] if start == 0 and scored and scored[0][1] is None else scored


def _count(usage: Mapping[str, Any], key: str) -> int | None:
    value = usage.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS else None


def _error_words(reply: Mapping[str, Any]) -> str:
    """What the server says instead, where it does."""
    error = reply.get("error")
    message = error.get("message") if isinstance(error, dict) else error
    return f" and says {str(message)[:200]!r}" if message else ""
