"""A server of its own process with planted latency: `python -m tests.runs.cluster.planted_server PORT SECONDS LOG`.

It speaks as much of the OpenAI API as a study needs, answers by a hash of the prompt alone, refuses a key that ends in -wrong, and
writes down when each request came (a line: seconds, the prompt's hash, how many it then had at once, the key)."""

import asyncio
import hashlib
import os
import sys
import time

from aiohttp import web


def key_of(prompt: str) -> str:
    return hashlib.sha256(prompt.encode()).hexdigest()[:16]


def serve(port: int, latency_s: float, log: str) -> None:
    lines = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    n_now = 0

    async def answer(request: web.Request) -> web.Response:
        nonlocal n_now
        n_now += 1
        try:
            return await reply(request)
        finally:
            n_now -= 1

    async def reply(request: web.Request) -> web.Response:
        prompt = (await request.json())["messages"][-1]["content"]
        key = key_of(prompt)
        authorization = request.headers.get("authorization", "")
        os.write(lines, f"{time.time():.3f} {key} {n_now} {authorization.removeprefix('Bearer ')}\n".encode())
        if authorization.endswith("-wrong"):
            return web.json_response({"error": {"message": "Incorrect API key provided."}}, status=401)
        if latency_s:
            await asyncio.sleep(latency_s * (0.5 + int(key[:4], 16) / 0xFFFF))  # a mean of latency_s
        text = f"The answer is ({'ABCD'[int(key[4], 16) % 4]})."
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": 6}
        return web.json_response({"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    web.run_app(app, host="127.0.0.1", port=port, print=None, access_log=None)


if __name__ == "__main__":
    serve(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3])
