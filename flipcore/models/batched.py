"""A model that is computed in this process: calls that arrive together are answered as one batch, off the event loop."""

import asyncio
import hashlib
from abc import abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from flipcore.core.contracts import Backend
from flipcore.core.records import Call, Completion

GATHER_S = 0.004


@dataclass(frozen=True)
class Generation:
    """`finish_reason` is "stop" (an end token, or a stop string, which the text leaves out) or "length"."""

    text: str
    n_tokens_in: int
    n_tokens_out: int
    finish_reason: str


class Batched(Backend):
    """`answered` computes a batch of one kind; `batch` is how many calls that may be. `called` names the model in sentences."""

    simulated = False
    called: str = "The model"
    batch: int = 32

    def __init__(self) -> None:
        self._waiting: list[tuple[Call, asyncio.Future]] = []
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="batched")
        self._task: asyncio.Task | None = None

    @abstractmethod
    def answered(self, calls: list[Call]) -> list[Completion]:
        """One completion for each call. Where it raises, each call of the batch is tried alone."""

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
        """Answers the waiting calls, a batch of one kind at a time, until none is left."""
        loop = asyncio.get_running_loop()
        await asyncio.sleep(GATHER_S)
        while self._waiting:
            kind = _kind(self._waiting[0][0])
            batch = [pair for pair in self._waiting if _kind(pair[0]) == kind][: self.batch]
            self._waiting = [pair for pair in self._waiting if pair not in batch]
            calls = [call for call, _ in batch]
            completions = await loop.run_in_executor(self._worker, self._answered_or_failed, calls)
            for (_, future), completion in zip(batch, completions, strict=True):
                if not future.done():
                    future.set_result(completion)

    def _answered_or_failed(self, calls: list[Call]) -> list[Completion]:
        """One completion for each call. Where a batch fails, each of its calls is tried alone, so that only the one at fault
        fails."""
        try:
            return self.answered(calls)
        except Exception as error:  # a fault in the model must not leave its callers waiting
            if len(calls) == 1:
                return [Completion(calls[0].call_id, "failed", error=f"{self.called} failed: {error}")]
        return [completion for call in calls for completion in self._answered_or_failed([call])]


def completions(calls: Sequence[Call], generations: Sequence[Generation]) -> list[Completion]:
    """The generated texts as completions, which cost nothing."""
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


class Scoring(Protocol):
    """What gives log-probabilities of the tokens of given texts, and how they lie over the vocabulary."""

    def score(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Sequence[tuple[str, float]]]: ...

    def score_with_spread(
        self, pairs: Sequence[tuple[str, str]]
    ) -> Sequence[tuple[Sequence[tuple[str, float]], Sequence[tuple[float, float]]]]: ...


def scores(calls: Sequence[Call], model: Scoring) -> list[Completion]:
    """The log-probabilities of given texts as completions, with their spread over the vocabulary where these calls ask for it."""
    pairs = [(prompt_of(call), call.request.continuation) for call in calls]
    scored = model.score_with_spread(pairs) if calls[0].request.spread else [(one, ()) for one in model.score(pairs)]
    return [
        Completion(
            call.call_id,
            "ok",
            tokens=tuple(tokens),
            cost_usd=0.0,
            n_tokens_out=0,
            spread=tuple(spread) if call.request.spread else None,
        )
        for call, (tokens, spread) in zip(calls, scored, strict=True)
    ]


def prompt_of(call: Call) -> str:
    """Raw text: a system prompt stands before the prompt, as behind every completion API."""
    return f"{call.request.system}\n\n{call.request.prompt}" if call.request.system else call.request.prompt


def sampling_seed(call: Call) -> int:
    """Another sample, prompt or study seed draws other tokens; asking again draws the same."""
    text = f"{call.request.seed}\x1f{call.sample}\x1f{call.request.prompt}"
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:6], "big")


def _kind(call: Call) -> tuple:
    r = call.request
    return (r.kind, r.max_tokens, r.temperature, r.top_p, r.stop, r.top_k, r.spread)
