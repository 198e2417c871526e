"""What one reply, one entry of a list of models or the headers show of a server."""

from collections.abc import Mapping
from typing import Any

from flipcore.core.finish import LENGTH, reasoning_apart
from flipcore.core.records import Call, Request
from flipcore.models.cards import ModelCard
from flipcore.models.openai.replies import REASONING_FIELDS, fields_of, parts_of, token_counts
from flipcore.models.probe_record import HIDDEN, NO_REASONING, PARTS, TAGS

_ANY = Call("", "", Request("generate", "", max_tokens=16))


def reasoning_place(body: Mapping[str, Any], card: ModelCard) -> tuple[str, int | None]:
    """(where the reasoning of a reply stands, how many tokens it is said to have)."""
    choice = body["choices"][0]
    holder = choice.get("message") if card.api == "chat" else choice
    content = holder.get("content" if card.api == "chat" else "text")
    n_tokens = token_counts(body)[2]
    for name in REASONING_FIELDS:
        if isinstance(holder.get(name), str) and holder[name]:
            return name, n_tokens
    if isinstance(content, list) and parts_of(content)[1]:
        return PARTS, n_tokens
    text = parts_of(content)[0] if isinstance(content, list) else content or ""
    reasoning, _, is_open = reasoning_apart(text)
    if reasoning or is_open:
        return TAGS, n_tokens
    return (HIDDEN, n_tokens) if n_tokens else (NO_REASONING, None)


def notes(body: Mapping[str, Any], card: ModelCard, listed: Mapping[str, dict]) -> tuple[str, ...]:
    """What else the first reply shows."""
    sentences = []
    fields = fields_of(_ANY, body, card)
    message = body["choices"][0].get("message") or {}
    if message.get("tool_calls"):
        sentences.append("It answered a question by calling a tool.")
    elif not fields["text"].strip() and not fields["reasoning"]:
        cut = "; it was cut at the token limit" if fields["finish_reason"] == LENGTH else ""
        sentences.append(f"Its first answer was empty{cut}.")
    if listed and card.model not in listed:
        sentences.append("The server's list does not name this model.")
    if isinstance(body.get("error"), (dict, str)) and body["error"]:
        sentences.append("Its replies hold an error beside the answer.")
    return tuple(sentences)


def list_price(entry: Mapping[str, Any], key: str) -> float | None:
    """US dollars a million tokens, from a price a token as OpenRouter's list has it."""
    prices = entry.get("pricing")
    try:
        price = float(prices[key]) * 1e6 if isinstance(prices, dict) else -1.0
    except (KeyError, TypeError, ValueError):
        return None
    return round(price, 6) if 0 <= price < 1e5 else None


def context_tokens(entry: Mapping[str, Any]) -> int | None:
    """The length of the context in tokens: OpenRouter, vLLM, llama.cpp."""
    meta = entry.get("meta")
    lengths = (
        entry.get("context_length"),
        entry.get("max_model_len"),
        meta.get("n_ctx_train") if isinstance(meta, dict) else None,
    )
    return next((n for n in lengths if isinstance(n, int) and not isinstance(n, bool) and n > 0), None)
