"""The pocket model behind an OpenAI-compatible server on this machine, for harnesses that know nothing of Flipscope."""

import asyncio
import threading

from aiohttp import web

from flipcore.core.records import Call, Request
from flipcore.models import open_backend


class PocketServer:
    """Use as a context manager; `url` is the endpoint, `replies` what was answered by prompt. A chat is its last user message, as
    the pocket model knows no roles."""

    def __init__(self):
        self.n_requests, self.replies, self._ready = 0, {}, threading.Event()

    def __enter__(self):
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self._ready.wait(60)
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def _serve(self):
        self._loop, self._stop, self._model = asyncio.get_running_loop(), asyncio.Event(), open_backend("pocket")
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/completions", self._text)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()
        await self._model.close()

    async def _chat(self, request):
        body = await request.json()
        content = body["messages"][-1]["content"]
        text = content if isinstance(content, str) else "".join(part["text"] for part in content)
        done = await self._answer(text, body)
        message = {"role": "assistant", "content": done.text}
        return self._reply(body, done, "chat.completion", {"message": message})

    async def _text(self, request):
        body = await request.json()
        prompt = body["prompt"] if isinstance(body["prompt"], str) else body["prompt"][0]
        done = await self._answer(prompt, body)
        return self._reply(body, done, "text_completion", {"text": done.text, "logprobs": None})

    async def _answer(self, prompt, body):
        self.n_requests += 1
        n_most = body.get("max_completion_tokens") or body.get("max_tokens") or 16
        stop = body.get("stop") or ()
        planned = Request(
            "generate",
            prompt,
            max_tokens=n_most,
            temperature=body.get("temperature") or 0.0,
            top_p=body.get("top_p") or 1.0,
            seed=0,
            stop=(stop,) if isinstance(stop, str) else tuple(stop),
        )
        done = await self._model.complete(Call("pocket", "", planned))
        self.replies[prompt] = done.text
        return done

    def _reply(self, body, done, kind, choice):
        usage = {"prompt_tokens": done.n_tokens_in, "completion_tokens": done.n_tokens_out}
        usage["total_tokens"] = sum(usage.values())
        choice = {"index": 0, "finish_reason": done.finish_reason} | choice
        head = {"id": f"r{self.n_requests}", "object": kind, "created": 0, "model": body.get("model", "pocket")}
        return web.json_response(head | {"choices": [choice], "usage": usage})
