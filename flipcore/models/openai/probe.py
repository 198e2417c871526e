"""Tests what a server really does, with about ten small calls.

Its documentation is not trusted. A parameter counts as refused where the server answers the same
request without it but not with it. Where a server drops something silently, its reply shows it.
"""

import asyncio
import json
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from flipcore.access.acting import Permission, require
from flipcore.core.errors import BadInput
from flipcore.core.finish import LENGTH, reasoning_apart
from flipcore.core.records import Call, Request
from flipcore.models.cards import ModelCard
from flipcore.models.openai import replies
from flipcore.models.openai.client import error_texts, missing_key, open_client
from flipcore.models.openai.pace import minute_limit
from flipcore.models.openai.retries import no_credit_sentence, pause
from flipcore.models.probe_record import (
    HIDDEN,
    IGNORED,
    NO_REASONING,
    PARTS,
    REFUSES,
    REPEATS,
    TAGS,
    UNCLEAR,
    ProbeRecord,
)
from flipcore.text.logprobs import usable_alternatives

LONG_LIMIT = 512  # token limit of the first answer: enough to see reasoning begin
SHORT_LIMIT = 16  # token limit where no reasoning is expected
LONGEST_S = 60.0  # of one call of a test
_MAX_WAIT_S = 20.0  # a server may ask for no longer wait between two attempts
_N_ATTEMPTS = 4
_MAX_LISTED = 2_000  # models of a server's list
_LIMIT_NAMES = ("max_tokens", "max_completion_tokens")
_SUM = "What is 17 times 23? Answer with the number alone."
_LETTERS = "Write eight random letters."
_REFUSAL_CODES = {400, 404, 405, 415, 422, 501}
# Parameter -> the value that the test sends; a study always sends the first two.
_PARAMETERS: dict[str, Any] = {"temperature": 0.0, "top_p": 1.0, "seed": 7, "stop": ["\n\n\n"]}


@dataclass(frozen=True)
class Reply:
    """A valid reply, and how long it took."""

    body: dict[str, Any]
    seconds: float

    @property
    def choice(self) -> dict[str, Any]:
        return self.body["choices"][0]


class Refused(Exception):
    """The server answered, but refused the request or broke the API."""


@dataclass
class _Server:
    """The server under test; counts its calls and keeps its headers."""

    card: ModelCard
    client: Any
    n_calls: int = 0
    seconds: list[float] = field(default_factory=list)
    limit_name: str = "max_tokens"
    headers: dict[str, str] = field(default_factory=dict)

    async def ask(self, body: dict[str, Any], path: str = "") -> Reply:
        """Return a reply; Refused if the server refuses this request, BadInput if it fails."""
        for attempt in range(1, _N_ATTEMPTS + 1):
            self.n_calls += 1
            try:
                return await self._attempt(body, path or replies.path_of(self.card))
            except Exception as error:  # the transport raises many kinds
                status = getattr(error, "status_code", None)
                sentence, _ = error_texts(error, self.card)
                if no_credit_sentence(error, self.card) or status in (401, 403):
                    raise BadInput(sentence) from error
                # A broken reply may be chance; the same on a second attempt counts as a refusal.
                is_broken = isinstance(error, replies.Fault) and attempt == 2
                if status in _REFUSAL_CODES or is_broken:
                    raise Refused(sentence) from error
                wait = pause(error, attempt, call_id="8000")
                if wait is None or wait > _MAX_WAIT_S or attempt == _N_ATTEMPTS:
                    raise BadInput(sentence) from error
                await asyncio.sleep(wait)
        raise AssertionError("unreachable: the last attempt raises")

    async def _attempt(self, body: dict[str, Any], path: str) -> Reply:
        import httpx2

        started = time.perf_counter()
        request = {"model": self.card.model} | self.card.options.get("extra_body", {}) | body
        response = await asyncio.wait_for(
            self.client.post(path, body=request, cast_to=httpx2.Response),
            min(self.card.timeout_s, LONGEST_S),
        )
        seconds = time.perf_counter() - started
        reply = replies.reply_of(response.text)
        card = replace(self.card, api="chat" if path.startswith("/chat") else "completions")
        replies.fields_of(_ANY_CALL, reply, card=card)  # raises Fault for a broken reply
        self.headers |= {name.lower(): value for name, value in response.headers.items()}
        self.seconds.append(seconds)
        return Reply(reply, seconds)

    async def try_request(self, body: dict[str, Any], path: str = "") -> Reply | None:
        """Return a reply, or None if this request is refused.
        A server that fails at this request and then answers a plain one refuses it too."""
        try:
            return await self.ask(body, path)
        except Refused:
            return None
        except BadInput:
            await self.ask(self.prompt_part("Hello", SHORT_LIMIT))
            return None

    def prompt_part(self, text: str, n_tokens: int, system: str = "") -> dict[str, Any]:
        """Return the part of a body that holds the prompt and the token limit."""
        if self.card.api == "completions":
            return {"prompt": text, self.limit_name: n_tokens}
        first = [{"role": "system", "content": system}] if system else []
        return {"messages": [*first, {"role": "user", "content": text}], self.limit_name: n_tokens}


def probed(card: ModelCard) -> ProbeRecord:
    """Test the model now and return the record; BadInput if it cannot be asked at all."""
    return asyncio.run(probe(card))


def listed_models(card: ModelCard) -> dict[str, dict]:
    """Return the server's own list of models, name -> its entry; empty where it has none.
    BadInput where it cannot be reached or refuses the key."""
    require(Permission.MODELS)

    async def main() -> dict[str, dict]:
        async with open_client(card) as client:
            return await _listed(card, client)

    return asyncio.run(main())


async def probe(card: ModelCard) -> ProbeRecord:
    """Do the same as `probed`, in a running event loop."""
    if sentence := missing_key(card):
        raise BadInput(sentence)
    async with open_client(card) as client:
        server = _Server(card, client)
        listed = await _listed(card, client)
        first = await _first_answer(server, listed)
        return await _findings(server, first, listed=listed)


async def _listed(card: ModelCard, client: Any) -> dict[str, dict]:
    import httpx2

    try:
        response = await asyncio.wait_for(
            client.get("/models", cast_to=httpx2.Response), min(card.timeout_s, LONGEST_S)
        )
        rows = json.loads(response.text)
    except Exception as error:
        status = getattr(error, "status_code", None)
        if status in (401, 403) or (status is None and not isinstance(error, ValueError)):
            raise BadInput(error_texts(error, card)[0]) from error
        return {}
    rows = rows.get("data", rows.get("models", [])) if isinstance(rows, dict) else rows
    rows_by_name = [
        (str(row.get("id") or row.get("name") or ""), row)
        for row in rows or []
        if isinstance(row, dict)
    ]
    return {name.removeprefix("models/"): row for name, row in rows_by_name[:_MAX_LISTED] if name}


async def _first_answer(server: _Server, listed: Mapping[str, dict]) -> Reply:
    """Return the answer to a minimal request; find the name of the token limit with it."""
    card = server.card
    max_tokens = LONG_LIMIT if card.api == "chat" else SHORT_LIMIT * 2
    names = dict.fromkeys((card.options.get("max_tokens_name", "max_tokens"), *_LIMIT_NAMES))
    refusal = ""
    for name in names:
        server.limit_name = name
        try:
            return await server.ask(server.prompt_part(_SUM, max_tokens))
        except Refused as error:
            refusal = refusal or str(error)
    hint = ""
    if listed and card.model not in listed:
        some_names = ", ".join(list(listed)[:8])
        hint = f" Its list of models does not name {card.model!r}; it names {some_names}."
    raise BadInput(f"{refusal}{hint}")


async def _findings(server: _Server, first: Reply, listed: Mapping[str, dict]) -> ProbeRecord:
    card, entry = server.card, listed.get(server.card.model) or {}
    reasoning, n_reasoning = reasoning_place(first.body, card)
    max_tokens = LONG_LIMIT if reasoning != NO_REASONING else SHORT_LIMIT
    refuses = await _refusals(server, max_tokens)
    n_alternatives, n_received, why_none = await _first_tokens(server, max_tokens)
    scores, score_tokens, scores_elsewhere = await _scores(server)
    seed = REFUSES if "seed" in refuses else await _seed(server, refuses, max_tokens=max_tokens)
    _, n_out, _ = replies.token_counts(first.body)
    return ProbeRecord(
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        answered_as=str(first.body.get("model") or "")[:200],
        is_listed=card.model in listed if listed else None,
        n_logprobs=n_received,
        top_logprobs=n_alternatives,
        logprobs=why_none,
        scores=scores,
        scores_elsewhere=scores_elsewhere,
        score_tokens=score_tokens,
        seed=seed,
        refuses=refuses,
        limit_name=server.limit_name,
        reasoning=reasoning,
        n_reasoning_tokens=n_reasoning,
        counts_tokens=n_out is not None,
        seconds=round(statistics.median(server.seconds), 3),
        tokens_per_s=round(n_out / first.seconds, 1) if n_out else None,
        price_in=list_price(entry, "prompt"),
        price_out=list_price(entry, "completion"),
        context_tokens=context_tokens(entry),
        requests_per_minute=minute_limit(server.headers, "requests"),
        tokens_per_minute=minute_limit(server.headers, "tokens"),
        n_calls=server.n_calls,
        notes=notes(first.body, card, listed=listed),
    )


async def _refusals(server: _Server, max_tokens: int) -> tuple[str, ...]:
    """Return the parameters that the server refuses.

    All are sent together first. Only if that is refused, each is tried on top of those accepted.
    """
    is_chat = server.card.api == "chat"
    refuses = []
    system = "Be brief." if is_chat else ""
    if not await server.try_request(server.prompt_part(_SUM, max_tokens, system) | _PARAMETERS):
        if is_chat and not await server.try_request(server.prompt_part(_SUM, max_tokens, system)):
            refuses.append("system")
        accepted: dict[str, Any] = {}
        for name, value in _PARAMETERS.items():
            if await server.try_request(
                server.prompt_part(_SUM, max_tokens) | accepted | {name: value}
            ):
                accepted[name] = value
            else:
                refuses.append(name)
    if not is_chat or not await server.try_request(
        server.prompt_part(_SUM, max_tokens) | {"reasoning_effort": "low"}
    ):
        refuses.append("reasoning_effort")
    return tuple(refuses)


async def _first_tokens(server: _Server, max_tokens: int) -> tuple[int, int, str]:
    """Return (alternatives that may be asked for, alternatives that came, why there are none)."""
    for k in (20, 5, 1):
        wanted = (
            {"logprobs": True, "top_logprobs": k} if server.card.api == "chat" else {"logprobs": k}
        )
        reply = await server.try_request(server.prompt_part(_SUM, max_tokens) | wanted)
        if reply is None:
            continue
        top = replies.alternatives(reply.choice)
        usable = usable_alternatives(top)
        if usable is None:
            return (
                0,
                0,
                "the server sends placeholders" if top else "the server drops them without a word",
            )
        return k, len(usable), ""
    return 0, 0, "the server refuses to give them"


async def _scores(server: _Server) -> tuple[bool, int, bool]:
    """Return (whether a given text is scored, the token limit that this needs, whether only the
    completions API of a chat model does it)."""
    card = replace(server.card, api="completions")
    request = Request("score", "The sky above the meadow is", continuation=" blue today")
    call = Call("", revision="", request=request)
    text = call.request.prompt + call.request.continuation
    for n_tokens in (0, 1):
        body = {"prompt": text, "echo": True, "logprobs": 1, server.limit_name: n_tokens}
        reply = await server.try_request(body, replies.path_of(card))
        if reply is not None and replies.fields_of(call, reply.body, card=card)["tokens"]:
            return (True, n_tokens, False) if server.card.api == "completions" else (False, 0, True)
        if reply is None and server.card.api == "chat":
            break  # the server has no completions API
    return False, 0, False


async def _seed(server: _Server, refuses: tuple[str, ...], max_tokens: int) -> str:
    """Find out if the same seed gives the same text and another seed another text.
    Temperature is 1, unless the server refuses it."""
    temperature = {} if "temperature" in refuses else {"temperature": 1.0}
    texts = []
    for seed in (11, 11, 12):
        reply = await server.try_request(
            server.prompt_part(_LETTERS, max_tokens) | temperature | {"seed": seed}
        )
        if reply is None:
            return UNCLEAR
        texts.append(
            json.dumps(reply.choice.get("message") or reply.choice.get("text"), sort_keys=True)
        )
    if texts[0] != texts[1]:
        return IGNORED
    return REPEATS if texts[0] != texts[2] else UNCLEAR


# Findings in one reply, or in one entry of a list of models.

_ANY_CALL = Call("", revision="", request=Request("generate", prompt="", max_tokens=SHORT_LIMIT))


def reasoning_place(body: Mapping[str, Any], card: ModelCard) -> tuple[str, int | None]:
    """Return (where a reply holds its reasoning, the server's count of its tokens)."""
    choice = body["choices"][0]
    message = choice.get("message") if card.api == "chat" else choice
    content = message.get("content" if card.api == "chat" else "text")
    _, _, n_tokens = replies.token_counts(body)
    for name in replies.REASONING_FIELDS:
        if isinstance(message.get(name), str) and message[name]:
            return name, n_tokens
    text = content or ""
    if isinstance(content, list):
        text, reasoning = replies.parts_of(content)
        if reasoning:
            return PARTS, n_tokens
    reasoning, _, is_open = reasoning_apart(text)
    if reasoning or is_open:
        return TAGS, n_tokens
    return (HIDDEN, n_tokens) if n_tokens else (NO_REASONING, None)


def notes(body: Mapping[str, Any], card: ModelCard, listed: Mapping[str, dict]) -> tuple[str, ...]:
    """Return a sentence for each oddity of the first reply."""
    sentences = []
    fields = replies.fields_of(_ANY_CALL, body, card=card)
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
    """Return US dollars per million tokens from OpenRouter's price per token; None without one."""
    prices = entry.get("pricing")
    try:
        price = float(prices[key]) * 1e6 if isinstance(prices, dict) else -1.0
    except (KeyError, TypeError, ValueError):
        return None
    return round(price, 6) if 0 <= price < 1e5 else None


def context_tokens(entry: Mapping[str, Any]) -> int | None:
    """Return the length of the context in tokens; None if the entry does not say it."""
    meta = entry.get("meta")
    lengths = (
        entry.get("context_length"),  # OpenRouter
        entry.get("max_model_len"),  # vLLM
        meta.get("n_ctx_train") if isinstance(meta, dict) else None,  # llama.cpp
    )
    for n in lengths:
        if isinstance(n, int) and not isinstance(n, bool) and n > 0:
            return n
    return None
