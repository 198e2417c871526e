"""Requests and replies of the OpenAI API as plain data."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flipcore.core.finish import OPEN, REFUSAL, STOP, finish_reason
from flipcore.core.records import Call
from flipcore.models.batched import prompt_of
from flipcore.models.cards import ModelCard
from flipcore.text.logprobs import usable_alternatives, usable_tokens

# The first is of vLLM and DeepSeek; the second of newer vLLM, OpenRouter and Ollama.
REASONING_FIELDS = ("reasoning_content", "reasoning")
_MAX_TOKENS = 2**31  # a count beyond this is a fault of the server


class Fault(Exception):
    """A reply that breaks the API; `raw` is the reply's text."""

    def __init__(self, sentence: str, raw: str = "") -> None:
        super().__init__(sentence)
        self.raw = raw


def path_of(card: ModelCard) -> str:
    """Return the path below the endpoint for this model's API."""
    return "/chat/completions" if card.api == "chat" else "/completions"


def body_of(call: Call, card: ModelCard) -> dict[str, Any]:
    """Return the body of a request.
    The seed is the study's plus the sample's number: samples differ, and each can be repeated."""
    request = call.request
    parameters: dict[str, Any] = {"temperature": request.temperature, "top_p": request.top_p}
    if request.seed is not None:
        parameters["seed"] = request.seed + call.sample
    if request.stop:
        parameters["stop"] = list(request.stop)
    if request.effort:
        parameters["reasoning_effort"] = request.effort
    body: dict[str, Any] = {"model": card.model}
    body |= {name: value for name, value in parameters.items() if name not in card.refuses}
    body[card.options.get("max_tokens_name", "max_tokens")] = request.max_tokens
    body |= _chat_part(call, card) if card.api == "chat" else _completions_part(call, card)
    budget = BUDGETS[card.preset](request.reasoning_budget) if request.reasoning_budget else {}
    return body | card.options.get("extra_body", {}) | budget


# Preset -> the part of a request that limits the reasoning to n tokens. There is no common form, so
# other servers get no limit.
BUDGETS: dict[str, Callable[[int], dict[str, Any]]] = {
    "anthropic": lambda n: {"thinking": {"type": "enabled", "budget_tokens": n}},
    "openrouter": lambda n: {"reasoning": {"max_tokens": n}},
}


def accepted_reasoning(card: ModelCard) -> frozenset[str]:
    """Return which of "effort" and "reasoning_budget" the model accepts."""
    settings = set()
    if card.api == "chat" and "reasoning_effort" not in card.refuses:
        settings.add("effort")
    if card.preset in BUDGETS:
        settings.add("reasoning_budget")
    return frozenset(settings)


def _chat_part(call: Call, card: ModelCard) -> dict[str, Any]:
    request = call.request
    takes_system = request.system and "system" not in card.refuses
    system = [{"role": "system", "content": request.system}] if takes_system else []
    first, *further = request.messages
    if request.system and not takes_system:
        first = first | {"content": f"{request.system}\n\n{first['content']}"}
    part: dict[str, Any] = {"messages": [*system, first, *further]}
    if request.kind == "first_token":
        part |= {
            "logprobs": True,
            "top_logprobs": min(request.top_k, card.options.get("max_top_logprobs", 20)),
        }
    return part


def _completions_part(call: Call, card: ModelCard) -> dict[str, Any]:
    request = call.request
    prompt = prompt_of(call)
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


def reply_of(text: str) -> Any:
    """Parse a reply; Fault where it is no JSON.
    Some proxies send a stream of events unasked; its parts are joined."""
    try:
        if not text.lstrip().startswith(("data:", ": ", "event:")):
            return json.loads(text)
        events = []
        for line in text.splitlines():
            if line.startswith("data:") and "[DONE]" not in line:
                events.append(json.loads(line[5:]))
        return _joined(events)
    except RecursionError:
        raise Fault("The server's reply is nested too deeply to be read", text[:1000]) from None
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise Fault("The server's reply is not valid JSON", text[:1000]) from error


def _joined(events: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Join the events of a stream into one reply: texts are joined, other values overwritten."""
    message: dict[str, Any] = {}
    reply: dict[str, Any] = {}
    choice: dict[str, Any] = {}
    for event in events:
        for key, value in event.items():
            if key != "choices" and value is not None:
                reply[key] = value
        for part in event.get("choices") or []:
            for key, value in part.items():
                if key not in ("delta", "text") and value is not None:
                    choice[key] = value
            delta = part["delta"] if "delta" in part else {"text": part.get("text")}
            for key, value in delta.items():
                if isinstance(value, str):
                    message[key] = (message.get(key) or "") + value
                else:
                    message[key] = value or message.get(key)
    choice |= {"text": message["text"]} if "text" in message else {"message": message}
    return reply | {"choices": [choice] if events else []}


def fields_of(call: Call, reply: Any, card: ModelCard) -> dict[str, Any]:
    """Return the fields of a Completion that a reply holds; Fault where it has no valid choice.

    Missing log-probabilities and placeholders become None: the readout is then absent, not guessed.
    """
    if not isinstance(reply, dict):
        raise Fault("The server's reply is no JSON object", str(reply)[:1000])
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Fault(f"The server's reply has no choices{_error_words(reply)}", str(reply)[:1000])
    choice = choices[0]
    n_in, n_out, n_reasoning = token_counts(reply)
    text, reasoning, is_refusal = _text(choice, card)
    reason = REFUSAL if is_refusal else finish_reason(choice.get("finish_reason"))
    if reason == STOP and reasoning and not text.strip():
        # The server separates reasoning from text and found no end of the reasoning.
        reason = OPEN
    if call.request.stop and "stop" in card.refuses:
        text, reason = _stopped(text, call.request.stop, reason=reason)
    is_score = call.request.kind == "score"
    is_first_token = call.request.kind == "first_token"
    return {
        "text": "" if is_score else text,
        "reasoning": "" if is_score else reasoning,
        "finish_reason": reason,
        "tokens": usable_tokens(_scored(call, choice, text=text)) if is_score else None,
        "top_logprobs": usable_alternatives(alternatives(choice)) if is_first_token else None,
        "n_tokens_in": n_in,
        "n_tokens_out": n_out,
        "n_tokens_reasoning": n_reasoning,
        "other_model": other_model(card.model, reply.get("model")),
    }


# Suffixes that providers append to a model's name: a date, a revision of three or more digits, a
# channel.
_RELEASE = re.compile(r"[-@:_](?:\d{4}-\d{2}-\d{2}|\d{3,8}|latest|preview|exp|stable)$")
_LONGEST_NAME = 200  # characters


def other_model(asked_name: str, replied_name: Any) -> str:
    """Return the name in the reply where it is not the model that was asked, else "".

    An alias and its dated release are one model ("gpt-4o", "gpt-4o-2024-08-06"), and so are names
    with and without a provider's folder in front. A reply without a name gives "".
    """
    if not isinstance(replied_name, str) or not replied_name.strip():
        return ""
    if _plain_name(asked_name) == _plain_name(replied_name):
        return ""
    return replied_name.strip()[:_LONGEST_NAME]


def _plain_name(name: str) -> str:
    name = name.strip().casefold().rpartition("/")[2]
    while name != (shorter := _RELEASE.sub("", name)):
        name = shorter
    return name


def _text(choice: Mapping[str, Any], card: ModelCard) -> tuple[str, str, bool]:
    """Return (generated text, reasoning in a field of its own, whether the text is a refusal).
    A text of None is an empty answer; another type raises Fault."""
    message = choice.get("message") if card.api == "chat" else choice
    if not isinstance(message, dict):
        raise Fault("The server's choice holds no message", str(choice)[:1000])
    text = message.get("content" if card.api == "chat" else "text")
    is_refusal = text is None and bool(message.get("refusal"))
    text = message.get("refusal") or "" if text is None else text
    reasoning = ""
    if isinstance(text, list):
        text, reasoning = parts_of(text)
    if not isinstance(text, str):
        raise Fault("The server's text is not text", str(choice)[:1000])
    if not reasoning:
        for name in REASONING_FIELDS:
            field_text = message.get(name)
            if isinstance(field_text, str) and field_text:
                reasoning = field_text
                break
    return text, reasoning, is_refusal


def parts_of(content: list[Any]) -> tuple[str, str]:
    """Return (text, reasoning) of a content in parts, as Mistral's reasoning models send it."""
    text, reasoning = [], []
    for part in content:
        if isinstance(part, str):
            text.append(part)
        elif isinstance(part, dict) and part.get("type") in ("thinking", "reasoning"):
            words = (
                part.get("thinking")
                or part.get("reasoning")
                or part.get("text")
                or part.get("summary")
                or ""
            )
            reasoning.append("".join(parts_of(words)) if isinstance(words, list) else str(words))
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            text.append(part["text"])
    return "".join(text), "\n".join(reasoning)


def _stopped(text: str, stops: Sequence[str], reason: str) -> tuple[str, str]:
    """Cut a text at its first stop string, for a server that refuses stop strings."""
    ends = [text.find(stop) for stop in stops if stop in text]
    return (text[: min(ends)], STOP) if ends else (text, reason)


def alternatives(choice: Mapping[str, Any]) -> dict[str, float] | None:
    """Return the first token's alternatives in nats; None if the choice has none.
    The chat API sends a list, the completions API a table."""
    logprobs: Any = choice.get("logprobs")
    try:
        if logprobs.get("content"):
            first = logprobs["content"][0]
            entries = first.get("top_logprobs") or [first]
            return {entry["token"]: float(entry["logprob"]) for entry in entries}
        return {str(token): float(nats) for token, nats in logprobs["top_logprobs"][0].items()}
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        return None


def _scored(call: Call, choice: Mapping[str, Any], text: str) -> list[tuple[str, float]] | None:
    """Return (token, nats) of the continuation in an echoed text; None without an echo.

    A token that reaches from the prompt into the continuation belongs to the continuation, for
    every option alike. Tokens that were generated after it do not.
    """
    logprobs = choice.get("logprobs")
    prompt = prompt_of(call)
    start, end = len(prompt), len(prompt) + len(call.request.continuation)
    if not isinstance(logprobs, dict) or not text.startswith(prompt + call.request.continuation):
        return None
    tokens, nats = logprobs.get("tokens") or [], logprobs.get("token_logprobs") or []
    if len(tokens) != len(nats) or not tokens:
        return None
    token_starts = logprobs.get("text_offset") or []
    if len(token_starts) != len(tokens):
        token_starts = [sum(map(len, tokens[:i])) for i in range(len(tokens))]
    token_ends = [*token_starts[1:], len(text)]
    scored = [
        (str(token), value)
        for token, value, token_start, token_end in zip(
            tokens, nats, token_starts, token_ends, strict=True
        )
        if token_end > start and token_start < end
    ]
    # Without a prompt the first token has no log-probability. Leave it out, not the whole text.
    return scored[1:] if start == 0 and scored and scored[0][1] is None else scored


def token_counts(reply: Mapping[str, Any]) -> tuple[int | None, int | None, int | None]:
    """Return the server's counts (tokens in, tokens out, those of the reasoning); None if unknown.

    Some servers count the reasoning only in the total. It is billed as output all the same, so it
    is added to the tokens out.
    """
    usage = reply.get("usage")
    if not isinstance(usage, dict):
        return None, None, None
    n_in, n_out, total = (
        _count(usage, name) for name in ("prompt_tokens", "completion_tokens", "total_tokens")
    )
    details = usage.get("completion_tokens_details")
    if isinstance(details, dict):
        n_reasoning = _count(details, "reasoning_tokens")
    else:
        n_reasoning = _count(usage, "reasoning_tokens")
    if n_in is not None and n_out is not None and total is not None and total > n_in + n_out:
        n_reasoning, n_out = n_reasoning or total - n_in - n_out, total - n_in
    return n_in, n_out, n_reasoning


def _count(usage: Mapping[str, Any], key: str) -> int | None:
    value = usage.get(key)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MAX_TOKENS:
        return value
    return None


def _error_words(reply: Mapping[str, Any]) -> str:
    """Return the server's own error message as the end of a sentence, or ""."""
    error = reply.get("error")
    message = error.get("message") if isinstance(error, dict) else error
    return f" and says {str(message)[:200]!r}" if message else ""
