"""Finds out what a server does, by about ten small calls: nothing that its documentation says is
believed.

A parameter counts as refused where the server answers the same request without it, and not with it.
What a server drops without a word is seen in its reply.
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
from flipcore.models.openai.retries import exhausted, pause
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

ROOM = 512  # tokens for a first answer: enough to see reasoning begin
FEW = 16
LONGEST_S = 60.0  # of one call of a test
_MOST_WAIT_S = 20.0  # that a server may ask for between two attempts
_N_ATTEMPTS = 4
_MOST_LISTED = 2_000
_LIMITS = ("max_tokens", "max_completion_tokens")
_SUM = "What is 17 times 23? Answer with the number alone."
_LETTERS = "Write eight random letters."
_REFUSALS = {400, 404, 405, 415, 422, 501}
# parameter -> what is sent of it; a study sends the first two always
_PARAMETERS: dict[str, Any] = {"temperature": 0.0, "top_p": 1.0, "seed": 7, "stop": ["\n\n\n"]}


@dataclass(frozen=True)
class Reply:
    """A reply with a choice in it."""

    body: dict[str, Any]
    headers: Mapping[str, str]
    seconds: float

    @property
    def choice(self) -> dict[str, Any]:
        return self.body["choices"][0]


class NotTaken(Exception):
    """The server answered, and not with what was asked for."""


@dataclass
class _Server:
    """One server that is asked; counts its calls."""

    card: ModelCard
    client: Any
    n_calls: int = 0
    seconds: list[float] = field(default_factory=list)
    limit_name: str = "max_tokens"
    headers: dict[str, str] = field(default_factory=dict)

    async def ask(self, body: dict[str, Any], path: str = "") -> Reply:
        """Reply; NotTaken if the server refuses this request, BadInput if it cannot be asked."""
        for attempt in range(1, _N_ATTEMPTS + 1):
            self.n_calls += 1
            try:
                return await self._once(body, path or replies.path_of(self.card))
            except Exception as error:  # the transport raises many kinds
                status = getattr(error, "status_code", None)
                sentence, _ = error_texts(error, self.card)
                if exhausted(error, self.card) or status in (401, 403):
                    raise BadInput(sentence) from error
                if status in _REFUSALS or (
                    isinstance(error, replies.Fault) and attempt == _N_ATTEMPTS - 2
                ):
                    raise NotTaken(sentence) from error
                wait = pause(error, attempt, call_id="8000")
                if wait is None or wait > _MOST_WAIT_S or attempt == _N_ATTEMPTS:
                    raise BadInput(sentence) from error
                await asyncio.sleep(wait)
        raise AssertionError("unreachable: the last attempt raises")

    async def _once(self, body: dict[str, Any], path: str) -> Reply:
        import httpx2

        started = time.perf_counter()
        request = {"model": self.card.model} | self.card.options.get("extra_body", {}) | body
        response = await asyncio.wait_for(
            self.client.post(path, body=request, cast_to=httpx2.Response),
            min(self.card.timeout_s, LONGEST_S),
        )
        took = time.perf_counter() - started
        reply = replies.reply_of(response.text)
        call = Call("", revision="", request=Request("generate", prompt="", max_tokens=FEW))
        card = replace(self.card, api="chat" if path.startswith("/chat") else "completions")
        replies.fields_of(call, reply, card=card)
        self.headers |= {name.lower(): value for name, value in response.headers.items()}
        self.seconds.append(took)
        return Reply(reply, response.headers, seconds=took)

    async def takes(self, body: dict[str, Any], path: str = "") -> Reply | None:
        """A reply, or None where this request is refused. A server that breaks over it refuses it
        too, once it answers again."""
        try:
            return await self.ask(body, path)
        except NotTaken:
            return None
        except BadInput:
            await self.ask(self.words("Hello", FEW))
            return None

    def words(self, text: str, n_tokens: int, system: str = "") -> dict[str, Any]:
        if self.card.api == "completions":
            return {"prompt": text, self.limit_name: n_tokens}
        first = [{"role": "system", "content": system}] if system else []
        return {"messages": [*first, {"role": "user", "content": text}], self.limit_name: n_tokens}


def probed(card: ModelCard) -> ProbeRecord:
    """Record of a test now. Raises BadInput if the model cannot be asked at all."""
    return asyncio.run(probe(card))


def listed_models(card: ModelCard) -> dict[str, dict]:
    """The server's own list of models, name -> what it says of each; empty where it has none.
    BadInput where it cannot be reached or refuses the key."""
    require(Permission.MODELS)

    async def main() -> dict[str, dict]:
        async with open_client(card) as client:
            return await _listed(card, client)

    return asyncio.run(main())


async def probe(card: ModelCard) -> ProbeRecord:
    """As `probed`, in a running event loop."""
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
    return {name.removeprefix("models/"): row for name, row in rows_by_name[:_MOST_LISTED] if name}


async def _first_answer(server: _Server, listed: Mapping[str, dict]) -> Reply:
    """An answer to the smallest request there is, and by the way the name of the token limit."""
    card = server.card
    room = ROOM if card.api == "chat" else FEW * 2
    names = dict.fromkeys((card.options.get("max_tokens_name", "max_tokens"), *_LIMITS))
    words = ""
    for name in names:
        server.limit_name = name
        try:
            return await server.ask(server.words(_SUM, room))
        except NotTaken as error:
            words = words or str(error)
    hint = ""
    if listed and card.model not in listed:
        some_names = ", ".join(list(listed)[:8])
        hint = f" Its list of models does not name {card.model!r}; it names {some_names}."
    raise BadInput(f"{words}{hint}")


async def _findings(server: _Server, first: Reply, listed: Mapping[str, dict]) -> ProbeRecord:
    card, entry = server.card, listed.get(server.card.model) or {}
    place, n_reasoning = reasoning_place(first.body, card)
    room = ROOM if place != NO_REASONING else FEW
    refuses = await _refusals(server, room)
    tops, n_tops, logprobs = await _first_tokens(server, room)
    scores, score_tokens, elsewhere = await _scores(server)
    seed = REFUSES if "seed" in refuses else await _seed(server, refuses, room=room)
    n_out = replies.token_counts(first.body)[1]
    return ProbeRecord(
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        answered_as=str(first.body.get("model") or "")[:200],
        is_listed=card.model in listed if listed else None,
        n_logprobs=n_tops,
        top_logprobs=tops,
        logprobs=logprobs,
        scores=scores,
        scores_elsewhere=elsewhere,
        score_tokens=score_tokens,
        seed=seed,
        refuses=refuses,
        limit_name=server.limit_name,
        reasoning=place,
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


async def _refusals(server: _Server, room: int) -> tuple[str, ...]:
    """Parameters that are left out: none where all are taken together, else those that are refused
    on top of the ones taken."""
    is_chat = server.card.api == "chat"
    refuses = []
    if not await server.takes(
        server.words(_SUM, room, "Be brief." if is_chat else "") | _PARAMETERS
    ):
        if is_chat and not await server.takes(server.words(_SUM, room, "Be brief.")):
            refuses.append("system")
        accepted: dict[str, Any] = {}
        for name, value in _PARAMETERS.items():
            if await server.takes(server.words(_SUM, room) | accepted | {name: value}):
                accepted[name] = value
            else:
                refuses.append(name)
    if not is_chat or not await server.takes(
        server.words(_SUM, room) | {"reasoning_effort": "low"}
    ):
        refuses.append("reasoning_effort")
    return tuple(refuses)


async def _first_tokens(server: _Server, room: int) -> tuple[int, int, str]:
    """(how many alternatives may be asked for, how many came, why none)."""
    for k in (20, 5, 1):
        logprobs = (
            {"logprobs": True, "top_logprobs": k} if server.card.api == "chat" else {"logprobs": k}
        )
        reply = await server.takes(server.words(_SUM, room) | logprobs)
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
    """(whether a given text is scored, with how many tokens beyond it, whether the other API of a
    chat model does it)."""
    card = replace(server.card, api="completions")
    request = Request("score", "The sky above the meadow is", continuation=" blue today")
    call = Call("", revision="", request=request)
    text = call.request.prompt + call.request.continuation
    for n_tokens in (0, 1):
        body = {"prompt": text, "echo": True, "logprobs": 1, server.limit_name: n_tokens}
        reply = await server.takes(body, replies.path_of(card))
        if reply is not None and replies.fields_of(call, reply.body, card=card)["tokens"]:
            return (True, n_tokens, False) if server.card.api == "completions" else (False, 0, True)
        if reply is None and server.card.api == "chat":
            break  # it has no such API
    return False, 0, False


async def _seed(server: _Server, refuses: tuple[str, ...], room: int) -> str:
    """Find out if a seed gives one text and another seed another, at temperature 1 if taken."""
    warm = {} if "temperature" in refuses else {"temperature": 1.0}
    texts = []
    for seed in (11, 11, 12):
        reply = await server.takes(server.words(_LETTERS, room) | warm | {"seed": seed})
        if reply is None:
            return UNCLEAR
        texts.append(
            json.dumps(reply.choice.get("message") or reply.choice.get("text"), sort_keys=True)
        )
    if texts[0] != texts[1]:
        return IGNORED
    return REPEATS if texts[0] != texts[2] else UNCLEAR


# What one reply, one entry of a list of models or the headers show of a server.

_ANY = Call("", revision="", request=Request("generate", prompt="", max_tokens=16))


def reasoning_place(body: Mapping[str, Any], card: ModelCard) -> tuple[str, int | None]:
    """(where the reasoning of a reply stands, how many tokens it is said to have)."""
    choice = body["choices"][0]
    holder = choice.get("message") if card.api == "chat" else choice
    content = holder.get("content" if card.api == "chat" else "text")
    n_tokens = replies.token_counts(body)[2]
    for name in replies.REASONING_FIELDS:
        if isinstance(holder.get(name), str) and holder[name]:
            return name, n_tokens
    if isinstance(content, list) and replies.parts_of(content)[1]:
        return PARTS, n_tokens
    text = replies.parts_of(content)[0] if isinstance(content, list) else content or ""
    reasoning, _, is_open = reasoning_apart(text)
    if reasoning or is_open:
        return TAGS, n_tokens
    return (HIDDEN, n_tokens) if n_tokens else (NO_REASONING, None)


def notes(body: Mapping[str, Any], card: ModelCard, listed: Mapping[str, dict]) -> tuple[str, ...]:
    """Further findings in the first reply."""
    sentences = []
    fields = replies.fields_of(_ANY, body, card=card)
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
    return next(
        (n for n in lengths if isinstance(n, int) and not isinstance(n, bool) and n > 0), None
    )
