"""A local server with one manner of today's servers each: what it refuses, where it puts reasoning, what it leaves out.

It knows one thing: sums. Whatever the wording, the same sum gets the same answer, so no flip between two wordings is real.
`MANNERS` says of each what a test has to find out (`finds`, fields of `ProbeRecord`), how readouts of a study end (`statuses`),
and, where no model can be asked, a word of the sentence (`problem`).
"""

import asyncio
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from flipcore.models.probe_record import HIDDEN, IGNORED, NO_REASONING, PARTS, REFUSES, REPEATS, TAGS, UNCLEAR
from tests.models.server import Server

THOUGHT = "17 times 23: 17 * 20 = 340, and 17 * 3 = 51."
TOP = {" 391": math.log(0.7), " 390": math.log(0.2), "The": math.log(0.05)}
ALL = ("temperature", "top_p", "seed", "stop")


@dataclass(frozen=True)
class Manner:
    """`refuses` are answered with 400, `breaks` with 500. `shape` turns a choice with its plain text into the manner's own,
    `reply` a whole reply. `limited` requests are refused with 429 before the others are answered."""

    name: str
    refuses: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()
    refuses_value: Mapping[str, Any] = field(default_factory=dict)
    shape: Callable[[dict, str, dict], None] = lambda choice, text, body: None
    reply: Callable[[dict], Any] = lambda reply: reply
    every: int = 1
    logprobs: str = "true"
    most_logprobs: int = 20
    has_completions: bool = False
    models: Any = "default"
    headers: Mapping[str, str] = field(default_factory=dict)
    limited: int = 0
    limited_headers: Mapping[str, str] = field(default_factory=dict)
    delivers: str = "whole"
    honours_seed: bool = True
    finds: Mapping[str, Any] = field(default_factory=dict)
    statuses: tuple[str, ...] = ("ok",)
    problem: str = ""


class Mannered(Server):
    """As a context manager: a server with that manner. `limited` counts down."""

    def __init__(self, manner: Manner) -> None:
        super().__init__()
        self.manner, self.limited, self.n = manner, manner.limited, 0

    def routes(self, app: web.Application) -> None:
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/v1/chat/completions", self._mannered)
        if self.manner.has_completions:
            app.router.add_post("/v1/completions", self._answer)

    async def _models(self, request: web.Request) -> web.Response:
        held = self.manner.models
        if held is None:
            return web.json_response({"error": "not here"}, status=404)
        return web.json_response({"data": [{"id": "m"}, {"id": "other"}]} if held == "default" else held)

    async def _mannered(self, request: web.Request) -> web.StreamResponse:
        manner, body = self.manner, await request.json()
        self.bodies.append(body)
        self.n += 1
        if refusal := self._refusal(body):
            return refusal
        if self.limited:
            self.limited -= 1
            return self._error(429, "rate limit", manner.limited_headers)
        reply = self._sum(body)
        reply = manner.reply(reply) if self.n % manner.every == 0 else reply
        if manner.delivers == "stream":
            return self._events(reply)
        if manner.delivers == "drip":
            return await self._dripped(request, json.dumps(reply).encode())
        return web.json_response(reply, headers=dict(manner.headers))

    def _refusal(self, body: dict) -> web.Response | None:
        manner = self.manner
        said = {*body} | ({"system"} if body["messages"][0]["role"] == "system" else set())
        for name in manner.breaks:
            if name in said:
                return self._error(500, "internal error")
        wrong = [name for name in manner.refuses if name in said]
        wrong += [name for name, value in manner.refuses_value.items() if name in body and body[name] != value]
        if "temperature+top_p" in manner.refuses and {"temperature", "top_p"} <= said:
            wrong.append("temperature and top_p together")
        if body.get("top_logprobs", 0) > manner.most_logprobs:
            wrong.append("top_logprobs")
        return self._error(400, f"Unsupported parameter: '{wrong[0]}' is not supported with this model.") if wrong else None

    @staticmethod
    def _error(status: int, words: str, headers: Mapping[str, str] | None = None) -> web.Response:
        return web.json_response({"error": {"message": words, "type": "server"}}, status=status, headers=dict(headers or {}))

    def _sum(self, body: dict) -> dict:
        question = body["messages"][-1]["content"]
        numbers = [int(n) for n in re.findall(r"\d+", question)[:2]]
        text = f"The answer is {sum(numbers)}." if len(numbers) == 2 else self._letters(body)
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        if body.get("logprobs") and self.manner.logprobs != "none":
            top = [{"token": token, "logprob": 0.0 if self.manner.logprobs == "zero" else nats} for token, nats in TOP.items()][
                : 1 if self.manner.logprobs == "one" else body["top_logprobs"]
            ]
            choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
        self.manner.shape(choice, text, body)
        usage = {"prompt_tokens": 20, "completion_tokens": 6, "total_tokens": 26}
        return {"id": "1", "model": body["model"], "choices": [choice], "usage": usage}

    def _letters(self, body: dict) -> str:
        decides = body.get("seed", 0) if self.manner.honours_seed else self.n
        return "".join("ABCDEFGH"[(decides * 7 + i * decides) % 8] for i in range(8))

    def _events(self, reply: dict) -> web.Response:
        """The reply as a stream of events, which nobody asked for."""
        choice = reply["choices"][0]
        text = choice["message"]["content"]
        deltas = [{"role": "assistant", "content": ""}, *({"content": text[i : i + 5]} for i in range(0, len(text), 5)), {}]
        head = {"id": "1", "model": reply["model"], "object": "chat.completion.chunk"}
        events = [head | {"choices": [{"index": 0, "delta": one, "finish_reason": None}]} for one in deltas]
        events[-1]["choices"][0]["finish_reason"] = choice["finish_reason"]
        events.append(head | {"choices": [], "usage": reply["usage"]})
        lines = "".join(f"data: {json.dumps(one)}\n\n" for one in events) + "data: [DONE]\n\n"
        return web.Response(text=": comment\n\n" + lines, content_type="text/event-stream")

    async def _dripped(self, request: web.Request, data: bytes) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": str(len(data)), "Content-Type": "application/json"})
        await response.prepare(request)
        for start in range(0, len(data), 40):
            await response.write(data[start : start + 40])
            await asyncio.sleep(0.004)
        return response


def message(**fields):
    """A shape that sets fields of the message; a callable is given the plain text."""

    def shape(choice, text, body):
        choice["message"] |= {key: value(text) if callable(value) else value for key, value in fields.items()}

    return shape


def ended(reason, **fields):
    def shape(choice, text, body):
        message(**fields)(choice, text, body)
        choice["finish_reason"] = reason

    return shape


def usage(change):
    return lambda reply: reply | {"usage": change(reply["usage"])}


def think(text):
    return f"<think>{THOUGHT}</think>\n{text}"


OPEN_THINKING = [{"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}]
CUT, UNREADABLE, ABSENT = ("cut",), ("unreadable",), ("absent",)
PRICED = {"data": [{"id": "m", "context_length": 8192, "pricing": {"prompt": "0.00000015", "completion": "0.0000006"}}]}

MANNERS = (
    Manner("plain", finds={"refuses": (), "n_logprobs": 3, "seed": REPEATS, "reasoning": NO_REASONING, "counts_tokens": True}),
    Manner("refuses temperature", ("temperature",), finds={"refuses": ("temperature",)}),
    Manner("refuses top_p", ("top_p",), finds={"refuses": ("top_p",)}),
    Manner("refuses seed", ("seed",), finds={"refuses": ("seed",), "seed": REFUSES}),
    Manner("refuses stop", ("stop",), finds={"refuses": ("stop",)}),
    Manner("refuses a system prompt", ("system",), finds={"refuses": ("system",)}),
    Manner("refuses reasoning effort", ("reasoning_effort",), finds={"refuses": ("reasoning_effort",)}),
    Manner("refuses max_tokens", ("max_tokens",), finds={"limit_name": "max_completion_tokens", "refuses": ()}),
    Manner("refuses max_completion_tokens", ("max_completion_tokens",), finds={"limit_name": "max_tokens"}),
    Manner("refuses log-probabilities", ("logprobs",), finds={"n_logprobs": 0, "logprobs": "the server refuses to give them"}),
    Manner("refuses all sampling", (*ALL, "max_tokens"), finds={"refuses": ALL, "limit_name": "max_completion_tokens"}),
    Manner("one of temperature and top_p", ("temperature+top_p",), finds={"refuses": ("top_p",)}),
    Manner("temperature 1 alone", refuses_value={"temperature": 1}, finds={"refuses": ("temperature",)}),
    Manner("breaks over a seed", breaks=("seed",), finds={"refuses": ("seed",)}),
    Manner("reasoning_content", shape=message(reasoning_content=THOUGHT), finds={"reasoning": "reasoning_content"}),
    Manner("reasoning", shape=message(reasoning=THOUGHT), finds={"reasoning": "reasoning"}),
    Manner("think tags", shape=message(content=think), finds={"reasoning": TAGS}),
    Manner("only the closing tag", shape=message(content=lambda text: f"{THOUGHT}</think>{text}"), finds={"reasoning": TAGS}),
    Manner(
        "an open tag", shape=message(content=f"<think>{THOUGHT} So the answer is 12"), finds={"reasoning": TAGS}, statuses=CUT
    ),
    Manner(
        "channels",
        shape=message(
            content=lambda text: (
                f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{text}"
            )
        ),
        finds={"reasoning": TAGS},
    ),
    Manner(
        "reasoning as a part",
        shape=message(content=lambda text: [*OPEN_THINKING, {"type": "text", "text": text}]),
        finds={"reasoning": PARTS},
    ),
    Manner("text as a part", shape=message(content=lambda text: [{"type": "text", "text": text}]), finds={"reasoning": ""}),
    Manner("reasoning that is never left", shape=message(content=None, reasoning_content=THOUGHT), statuses=CUT),
    Manner(
        "reasoning that is cut",
        shape=ended("length", content="", reasoning_content=THOUGHT),
        finds={"reasoning": "reasoning_content"},
        statuses=CUT,
    ),
    Manner(
        "reasoning counted and hidden",
        reply=usage(lambda held: held | {"completion_tokens_details": {"reasoning_tokens": 4}}),
        finds={"reasoning": HIDDEN, "n_reasoning_tokens": 4},
    ),
    Manner(
        "reasoning in the total alone",
        reply=usage(lambda held: held | {"total_tokens": 126}),
        finds={"reasoning": HIDDEN, "n_reasoning_tokens": 100},
    ),
    Manner(
        "a tool call",
        shape=ended("tool_calls", content=None, tool_calls=[{"id": "1", "type": "function", "function": {"name": "add"}}]),
        finds={"notes": ("It answered a question by calling a tool.",)},
        statuses=UNREADABLE,
    ),
    Manner("a refusal", shape=message(content=None, refusal="I cannot add."), statuses=UNREADABLE),
    Manner("null content", shape=message(content=None), finds={"notes": ("Its first answer was empty.",)}, statuses=UNREADABLE),
    Manner("empty content", shape=message(content=""), finds={"notes": ("Its first answer was empty.",)}, statuses=UNREADABLE),
    Manner("a filter", shape=ended("content_filter"), statuses=CUT),
    Manner("the limit", shape=ended("length"), statuses=CUT),
    Manner("no finish reason", shape=ended(None)),
    Manner("end_turn", shape=ended("end_turn")),
    Manner("another name", reply=lambda reply: reply | {"model": "cheaper"}, finds={"answered_as": "cheaper"}),
    Manner("a dated id", reply=lambda reply: reply | {"model": "m-2026-03-01"}, finds={"answered_as": "m-2026-03-01"}),
    Manner("an error inside", reply=lambda reply: {"error": {"message": "overloaded"}}, problem="overloaded", statuses=ABSENT),
    Manner(
        "an error inside at times", reply=lambda reply: {"error": {"message": "overloaded"}}, every=5, finds={"refuses": ()}
    ),
    Manner("no choices", reply=lambda reply: reply | {"choices": []}, problem="no choices", statuses=ABSENT),
    Manner("a slow stream", delivers="drip", finds={"refuses": ()}),
    Manner("events that nobody asked for", delivers="stream", finds={"refuses": (), "counts_tokens": True}),
    Manner("no usage", reply=usage(lambda held: None), finds={"counts_tokens": False}),
    Manner(
        "usage in words",
        reply=usage(lambda held: {"prompt_tokens": "20", "completion_tokens": None}),
        finds={"counts_tokens": False},
    ),
    Manner(
        "limits with headers",
        headers={"x-ratelimit-limit-requests": "500", "x-ratelimit-limit-tokens": "200000"},
        limited=3,
        limited_headers={"retry-after": "0.05"},
        finds={"requests_per_minute": 500, "tokens_per_minute": 200_000},
    ),
    Manner("limits without headers", limited=3, finds={"requests_per_minute": None, "refuses": ()}),
    Manner("no list of models", models=None, finds={"is_listed": None}),
    Manner("a list without the model", models={"data": [{"id": "n"}]}, finds={"is_listed": False}),
    Manner("a bare list", models=[{"name": "models/m"}], finds={"is_listed": True}),
    Manner("prices in the list", models=PRICED, finds={"price_in": 0.15, "price_out": 0.6, "context_tokens": 8192}),
    Manner(
        "log-probabilities dropped",
        logprobs="none",
        finds={"n_logprobs": 0, "logprobs": "the server drops them without a word"},
    ),
    Manner("log-probabilities of 0", logprobs="zero", finds={"n_logprobs": 0, "logprobs": "the server sends placeholders"}),
    Manner("one log-probability", logprobs="one", finds={"n_logprobs": 1}),
    Manner("at most 5 log-probabilities", most_logprobs=5, finds={"top_logprobs": 5, "n_logprobs": 3}),
    Manner("a completions API beside it", has_completions=True, finds={"scores": False, "scores_elsewhere": True}),
    Manner("a seed that is ignored", honours_seed=False, finds={"seed": IGNORED}),
    Manner(
        "always the same letters",
        shape=message(content=lambda text: text if "answer" in text else "AAAA"),
        finds={"seed": UNCLEAR},
    ),
)
