"""Models that are computed in this process.

Calls that arrive together are answered as one batch, in a thread of the model's own.
"""

import asyncio
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from flipcore.core.contracts import Backend
from flipcore.core.records import Call, Completion

GATHER_S = 0.004  # how long the first call of a batch waits for others
Piece = tuple[str, float]  # a token's text, and its log-probability in nats
# Mean and standard deviation, in nats, of the log-probabilities over the vocabulary.
Spread = tuple[float, float]


@dataclass(frozen=True)
class Generation:
    """One generated text.

    `finish_reason` is "length", or "stop" after an end token or a stop string; `text` has neither.
    """

    text: str
    n_tokens_in: int
    n_tokens_out: int
    finish_reason: str


class Batched(Backend):
    """Base of backends that compute batches. `batch` limits the calls of one batch; `called` names
    the model in sentences."""

    simulated = False
    called: str = "The model"
    batch: int = 32

    def __init__(self) -> None:
        self._waiting: list[tuple[Call, asyncio.Future]] = []
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="batched")
        self._task: asyncio.Task | None = None

    @abstractmethod
    def complete_batch(self, calls: list[Call]) -> list[Completion]:
        """Return one completion per call; all calls have the same settings (`_batch_key`).
        Where it raises, each call of the batch is tried alone."""

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
        """Answer the waiting calls in batches until none is left."""
        loop = asyncio.get_running_loop()
        # Wait for the other calls that are sent together with the first one.
        await asyncio.sleep(GATHER_S)
        while self._waiting:
            first_call, _ = self._waiting[0]
            key = _batch_key(first_call)
            batch = [pair for pair in self._waiting if _batch_key(pair[0]) == key][: self.batch]
            self._waiting = [pair for pair in self._waiting if pair not in batch]
            calls = [call for call, _ in batch]
            completions = await loop.run_in_executor(self._worker, self._complete_or_fail, calls)
            for (_, future), completion in zip(batch, completions, strict=True):
                if not future.done():
                    future.set_result(completion)

    def _complete_or_fail(self, calls: list[Call]) -> list[Completion]:
        """Return one completion per call.
        Where a batch fails, each call is tried alone, so that only the one at fault fails."""
        try:
            return self.complete_batch(calls)
        except Exception as error:  # a fault in the model must not leave its callers waiting
            if len(calls) == 1:
                return [
                    Completion(calls[0].call_id, "failed", error=f"{self.called} failed: {error}")
                ]
        completions: list[Completion] = []
        for call in calls:
            completions += self._complete_or_fail([call])
        return completions


class LanguageModel(ABC):
    """A model in memory. Log-probabilities are in nats, always at temperature 1."""

    @abstractmethod
    def generate(
        self,
        prompts: Sequence[Any],
        *,
        max_tokens: int,
        temperature: float,
        seeds: Sequence[int],
        top_p: float = 1.0,
        stop: Sequence[str] = (),
    ) -> list[Generation]:
        """Generate one continuation per prompt, each with its own seed."""

    @abstractmethod
    def first_token_logprobs(self, prompts: Sequence[Any], top_k: int) -> list[dict[str, float]]:
        """Return the `top_k` likeliest first tokens per prompt: text -> log-probability."""

    @abstractmethod
    def _scored(
        self, pairs: Sequence[tuple[str, str]], *, with_spread: bool
    ) -> list[tuple[list[Piece], list[Spread]]]: ...

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[list[Piece]]:
        """Return the continuation's tokens and log-probabilities for each (prompt, continuation).

        The prompt may be empty. Both are tokenized as one text; a token that reaches from the
        prompt into the continuation counts as part of the continuation.
        """
        return [tokens for tokens, _ in self._scored(pairs, with_spread=False)]

    def score_with_spread(
        self, pairs: Sequence[tuple[str, str]]
    ) -> list[tuple[list[Piece], list[Spread]]]:
        """Return the same with a `Spread` for each token."""
        return self._scored(pairs, with_spread=True)


def answer_calls(
    calls: Sequence[Call], model: LanguageModel, prompts: Sequence[Any]
) -> list[Completion]:
    """Return the likeliest first tokens or the generated texts, as completions that cost nothing.
    All calls have the same settings; `prompts` has one prompt per call."""
    request = calls[0].request
    if request.kind == "first_token":
        rows = model.first_token_logprobs(prompts, request.top_k)
        return [
            Completion(call.call_id, "ok", top_logprobs=logprobs, cost_usd=0.0, n_tokens_out=1)
            for call, logprobs in zip(calls, rows, strict=True)
        ]
    generations = model.generate(
        prompts,
        max_tokens=request.max_tokens,
        temperature=request.temperature,
        seeds=[sampling_seed(call) for call in calls],
        top_p=request.top_p,
        stop=request.stop,
    )
    return [
        Completion(
            call.call_id,
            "ok",
            text=generation.text,
            finish_reason=generation.finish_reason,
            n_tokens_in=generation.n_tokens_in,
            n_tokens_out=generation.n_tokens_out,
            cost_usd=0.0,
        )
        for call, generation in zip(calls, generations, strict=True)
    ]


def score_calls(calls: Sequence[Call], model: LanguageModel) -> list[Completion]:
    """Return the log-probabilities of given texts, with the spread where it is asked for."""
    pairs = [(prompt_of(call), call.request.continuation) for call in calls]
    scored = (
        model.score_with_spread(pairs)
        if calls[0].request.spread
        else [(tokens, ()) for tokens in model.score(pairs)]
    )
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
    """Return the prompt as raw text, after its system prompt if it has one."""
    system, prompt = call.request.system, call.request.prompt
    return f"{system}\n\n{prompt}" if system else prompt


def sampling_seed(call: Call) -> int:
    """Return the seed of a call's draws, a hash of the study's seed, the sample and the prompt."""
    # A damaged text may hold half of a surrogate pair, which plain UTF-8 refuses.
    text = f"{call.request.seed}\x1f{call.sample}\x1f{call.request.prompt}"
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:6], "big")


def _batch_key(call: Call) -> tuple:
    """Return the settings that all calls of a batch share."""
    r = call.request
    return (r.kind, r.max_tokens, r.temperature, r.top_p, r.stop, r.top_k, r.spread)
