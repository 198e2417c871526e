"""A real HTTP server on localhost that speaks the OpenAI API, and misbehaves when told to.

`faults` are consumed one a request, in order of arrival: ("status", code, headers), ("malformed",), ("half",), ("drop",),
("slow", seconds), ("drip",), ("reply", object). When none is left it answers properly.
"""

from __future__ import annotations

import asyncio
import json
import math
import threading
from collections import deque

from aiohttp import web

TEXT = "The answer is (B)."
TOP = {" B": math.log(0.6), " A": math.log(0.2), "The": math.log(0.1)}


class Server:
    """Use as a context manager; `url` is the endpoint, `bodies` are the requests that came, `most_at_once` the peak."""

    def __init__(self, *faults: tuple, delay_s: float = 0.0, logprobs: str = "true"):
        self.faults, self.delay_s, self.logprobs = deque(faults), delay_s, logprobs
        self.bodies: list[dict] = []
        self.headers: list[dict] = []
        self.now = self.most_at_once = 0
        self._ready = threading.Event()

    def __enter__(self) -> Server:
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _run(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        app = web.Application(client_max_size=2**24)
        self.routes(app)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self._stop = asyncio.Event()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    def routes(self, app: web.Application) -> None:
        """What is answered where."""
        app.router.add_post("/v1/chat/completions", self._answer)
        app.router.add_post("/v1/completions", self._answer)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        self.now += 1
        self.most_at_once = max(self.most_at_once, self.now)
        try:
            if self.delay_s:
                await asyncio.sleep(self.delay_s)
            fault = self.faults.popleft() if self.faults else ("none",)
            return await self._misbehaved(request, fault, body)
        finally:
            self.now -= 1

    async def _misbehaved(self, request: web.Request, fault: tuple, body: dict) -> web.StreamResponse:
        kind, *rest = fault
        if kind == "status":
            code, headers = rest[0], rest[1] if len(rest) > 1 else {}
            said = rest[2] if len(rest) > 2 else "a planted fault"
            return web.json_response({"error": {"message": said}}, status=code, headers=headers)
        if kind == "malformed":
            return web.Response(text='{"choices": [{"message": ', content_type="application/json")
        if kind == "reply":
            return web.json_response(rest[0])
        if kind == "drop":
            request.transport.abort()
            return web.Response()
        if kind == "slow":
            await asyncio.sleep(rest[0])
        if kind in ("half", "drip"):
            return await self._in_pieces(request, kind, json.dumps(self._proper(request, body)).encode())
        return web.json_response(self._proper(request, body))

    async def _in_pieces(self, request: web.Request, kind: str, data: bytes) -> web.StreamResponse:
        """Half a body and then a dropped connection, or a byte every so often for ever."""
        response = web.StreamResponse(headers={"Content-Length": str(len(data)), "Content-Type": "application/json"})
        await response.prepare(request)
        if kind == "half":
            await response.write(data[: len(data) // 2])
            request.transport.abort()
            return response
        for i in range(len(data)):
            await response.write(data[i : i + 1])
            await asyncio.sleep(0.05)
        return response

    def _proper(self, request: web.Request, body: dict) -> dict:
        usage = {"prompt_tokens": 20, "completion_tokens": 5}
        if request.path.endswith("chat/completions"):
            choice = {"message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}
            if body.get("logprobs") and self.logprobs != "none":
                top = [{"token": t, "logprob": self._nats(v)} for t, v in TOP.items()][: body["top_logprobs"]]
                choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
            return {"choices": [choice], "usage": usage}
        return {"choices": [self._completion(body)], "usage": usage}

    def _completion(self, body: dict) -> dict:
        if not body.get("echo"):
            held = {
                "tokens": [" B"],
                "token_logprobs": [TOP[" B"]],
                "text_offset": [len(body["prompt"])],
                "top_logprobs": [{t: self._nats(v) for t, v in TOP.items()}],
            }
            return {
                "text": f" {TEXT}",
                "finish_reason": "stop",
                "logprobs": held if body.get("logprobs") and self.logprobs != "none" else None,
            }
        text = body["prompt"] + (" more" if body["max_tokens"] else "")
        tokens, offsets = [], []
        for word in text.split(" "):
            offsets.append(sum(map(len, tokens)))
            tokens.append(word if not tokens else f" {word}")
        nats = [None, *(self._nats(-float(len(token))) for token in tokens[1:])]
        return {
            "text": text,
            "finish_reason": "length",
            "logprobs": {"tokens": tokens, "token_logprobs": nats, "text_offset": offsets} if self.logprobs != "none" else None,
        }

    def _nats(self, value: float) -> float:
        return 0.0 if self.logprobs == "zero" else value
