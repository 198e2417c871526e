"""A model that is computed in this process: calls that arrive together are answered as one batch,
off the event loop."""

import asyncio
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from flipcore.core.contracts import Backend
from flipcore.core.records import Call, Completion

GATHER_S = 0.004
Piece = tuple[str, float]  # a token as text, and its log-probability
Spread = tuple[float, float]


@dataclass(frozen=True)
class Generation:
    """`finish_reason` is "stop" (an end token, or a stop string, left out) or "length"."""

    text: str
    n_tokens_in: int
    n_tokens_out: int
    finish_reason: str


class Batched(Backend):
    """`answered` computes a batch of one kind; `batch` is how many calls that may be. `called`
    names the model in sentences."""

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
        # In this moment the other calls of the same round arrive.
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
        """One completion for each call. Where a batch fails, each of its calls is tried alone, so
        that only the one at fault fails."""
        try:
            return self.answered(calls)
        except Exception as error:  # a fault in the model must not leave its callers waiting
            if len(calls) == 1:
                return [
                    Completion(calls[0].call_id, "failed", error=f"{self.called} failed: {error}")
                ]
        completions: list[Completion] = []
        for call in calls:
            completions += self._answered_or_failed([call])
        return completions


class LanguageModel(ABC):
    """Model in memory. Log-probabilities are in nats and at temperature 1 in any case."""

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
        """One continuation a prompt."""

    @abstractmethod
    def first_token_logprobs(self, prompts: Sequence[Any], top_k: int) -> list[dict[str, float]]:
        """The `top_k` likeliest first tokens of each continuation: text -> log-probability."""

    @abstractmethod
    def _scored(
        self, pairs: Sequence[tuple[str, str]], *, with_spread: bool
    ) -> list[tuple[list[Piece], list[Spread]]]: ...

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[list[Piece]]:
        """The tokens of each continuation with their log-probabilities given the prompt, which may
        be empty. Both are read as one text; a token that reaches into the continuation belongs to
        it."""
        return [tokens for tokens, _ in self._scored(pairs, with_spread=False)]

    def score_with_spread(
        self, pairs: Sequence[tuple[str, str]]
    ) -> list[tuple[list[Piece], list[Spread]]]:
        """The same, and of each token (mean, standard deviation) of the log-probabilities over the
        vocabulary."""
        return self._scored(pairs, with_spread=True)


def answers(
    calls: Sequence[Call], model: LanguageModel, prompts: Sequence[Any]
) -> list[Completion]:
    """The likeliest first tokens, or the generated texts, as completions, which cost nothing;
    `calls` ask for the same."""
    request = calls[0].request
    if request.kind == "first_token":
        tops = model.first_token_logprobs(prompts, request.top_k)
        return [
            Completion(call.call_id, "ok", top_logprobs=top, cost_usd=0.0, n_tokens_out=1)
            for call, top in zip(calls, tops, strict=True)
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


def scores(calls: Sequence[Call], model: LanguageModel) -> list[Completion]:
    """The log-probabilities of given texts as completions, with their spread over the vocabulary
    where these calls ask for it."""
    pairs = [(prompt_of(call), call.request.continuation) for call in calls]
    scored = (
        model.score_with_spread(pairs)
        if calls[0].request.spread
        else [(tokens_scored, ()) for tokens_scored in model.score(pairs)]
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
    """Raw text: a system prompt stands before the prompt, as behind every completion API."""
    return (
        f"{call.request.system}\n\n{call.request.prompt}"
        if call.request.system
        else call.request.prompt
    )


def sampling_seed(call: Call) -> int:
    """Another sample, prompt or study seed draws other tokens; asking again draws the same."""
    # A damaged text may hold half of a surrogate pair, which plain UTF-8 refuses.
    text = f"{call.request.seed}\x1f{call.sample}\x1f{call.request.prompt}"
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:6], "big")


def _kind(call: Call) -> tuple:
    r = call.request
    return (r.kind, r.max_tokens, r.temperature, r.top_p, r.stop, r.top_k, r.spread)
