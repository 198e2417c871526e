"""The pocket model as a backend: calls that arrive together are answered as one batch, off the event loop."""

from __future__ import annotations

import asyncio
import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from flipcore.core.contracts import Backend
from flipcore.core.errors import MissingAbility
from flipcore.core.paths import POCKET
from flipcore.core.records import ABILITIES, Call, Completion

BATCH = 32
GATHER_S = 0.004


class Pocket(Backend):
    """`generate`, `first_token_logprobs` and `score` on the shipped checkpoint, deterministic for a seed and sample."""

    simulated = False
    abilities = frozenset(ABILITIES)

    def __init__(self, name: str = "pocket", path: Path | None = None) -> None:
        from flipcore.models.pocket_inference import PocketModel

        path = path or POCKET
        if not (path / "model.safetensors").is_file():
            raise MissingAbility(f"The pocket model is not in {path}: train it with `python -m flipcore.lab.pocket train`.")
        self._model = PocketModel.load(path)
        self.name, self.revision = name, self._model.revision
        self._waiting: list[tuple[Call, asyncio.Future]] = []
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="pocket")
        self._task: asyncio.Task | None = None

    def why_not(self, ability: str) -> str:
        return ""

    async def complete(self, call: Call) -> Completion:
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((call, future))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._serve())
        return await future

    async def close(self) -> None:
        self._worker.shutdown(wait=False)

    async def _serve(self) -> None:
        """Answers what is waiting, a batch of one kind at a time, until nothing is."""
        loop = asyncio.get_running_loop()
        await asyncio.sleep(GATHER_S)
        while self._waiting:
            kind = _kind(self._waiting[0][0])
            batch = [pair for pair in self._waiting if _kind(pair[0]) == kind][:BATCH]
            self._waiting = [pair for pair in self._waiting if pair not in batch]
            calls = [call for call, _ in batch]
            completions = await loop.run_in_executor(self._worker, self._answered_or_failed, calls)
            for (_, future), completion in zip(batch, completions, strict=True):
                if not future.done():
                    future.set_result(completion)

    def _answered_or_failed(self, calls: list[Call]) -> list[Completion]:
        """A completion a call. Where a batch fails, each of its calls is tried alone, so that only what is at fault fails."""
        try:
            return self._answered(calls)
        except Exception as error:  # a fault in the model must not leave its callers waiting
            if len(calls) == 1:
                return [Completion(calls[0].call_id, "failed", error=f"The pocket model failed: {error}")]
        return [completion for call in calls for completion in self._answered_or_failed([call])]

    def _answered(self, calls: list[Call]) -> list[Completion]:
        request = calls[0].request
        prompts = [_prompt(call) + (call.request.continuation if request.kind != "score" else "") for call in calls]
        if request.kind == "score":
            scored = self._model.score([(_prompt(call), call.request.continuation) for call in calls])
            return [
                Completion(call.call_id, "ok", tokens=tuple(tokens), cost_usd=0.0, n_tokens_out=0)
                for call, tokens in zip(calls, scored, strict=True)
            ]
        if request.kind == "first_token":
            tops = self._model.first_token_logprobs(prompts, top_k=request.top_k)
            return [
                Completion(call.call_id, "ok", top_logprobs=top, cost_usd=0.0, n_tokens_out=1)
                for call, top in zip(calls, tops, strict=True)
            ]
        generations = self._model.generate(
            prompts,
            max_tokens=request.max_tokens,
            temperature=request.temperature,
            seeds=[_seed(call) for call in calls],
            top_p=request.top_p,
            stop=request.stop,
        )
        return [
            Completion(
                call.call_id,
                "ok",
                one.text,
                one.finish_reason,
                n_tokens_in=one.n_tokens_in,
                n_tokens_out=one.n_tokens_out,
                cost_usd=0.0,
            )
            for call, one in zip(calls, generations, strict=True)
        ]


def _prompt(call: Call) -> str:
    """It was trained on plain text: a system prompt stands before the prompt, as behind every completion API."""
    return f"{call.request.system}\n\n{call.request.prompt}" if call.request.system else call.request.prompt


def _kind(call: Call) -> tuple:
    r = call.request
    return (r.kind, r.max_tokens, r.temperature, r.top_p, r.stop, r.top_k)


def _seed(call: Call) -> int:
    """Another sample, prompt or study seed draws other tokens; asking again draws the same."""
    text = f"{call.request.seed}\x1f{call.sample}\x1f{call.request.prompt}"
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:6], "big")
