"""Finds out what open weights do in this process, by a few small calls: the same record as of a server."""

import asyncio
import time
from datetime import UTC, datetime

from flipcore.core.errors import BadInput
from flipcore.core.records import Call, Completion, Request
from flipcore.models.cards import ModelCard
from flipcore.models.probe_record import IGNORED, NO_REASONING, REPEATS, TAGS, UNCLEAR, ProbeRecord
from flipcore.models.weights.backend import OpenWeights
from flipcore.models.weights.files import config_of, folder_of
from flipcore.text.logprobs import usable_alternatives, usable_tokens

ROOM, FEW = 256, 16
N_TOPS = 20
_SUM = "What is 17 times 23? Answer with the number alone."
_LETTERS = "Write eight random letters."


def probed(card: ModelCard) -> ProbeRecord:
    """The record of a test now. Raises BadInput with the reason where the checkpoint cannot be computed here."""
    backend = OpenWeights(card)
    try:
        model = backend.open()
        refuses = ("reasoning_effort", *_system_refusal(backend))
        first, seconds = _timed(backend, Request("generate", _SUM, max_tokens=ROOM if card.api == "chat" else FEW))
        top = usable_alternatives(_completion(backend, Request("first_token", _SUM, max_tokens=1, top_k=N_TOPS)).top_logprobs)
        return ProbeRecord(
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            answered_as=f"{model.config.model_type}, {model.n_parameters / 1e6:,.3g} million parameters, {model.place}",
            n_logprobs=len(top or {}),
            top_logprobs=N_TOPS,
            logprobs="" if top else "its numbers are no distribution",
            scores=card.api == "completions" and _scores(backend),
            scores_elsewhere=card.api == "chat",
            seed=_seed(backend),
            refuses=refuses,
            reasoning=TAGS if first.reasoning else NO_REASONING,
            seconds=round(seconds, 3),
            tokens_per_s=round(first.n_tokens_out / seconds, 1) if first.n_tokens_out else None,
            context_tokens=model.limit,
            n_calls=6,
            notes=_ignored_settings(card),
        )
    finally:
        asyncio.run(backend.close())


def _completion(backend: OpenWeights, request: Request, sample: int = 0) -> Completion:
    """A completion that came; BadInput with what failed."""
    (completion,) = backend.answered([Call(backend.name, backend.revision, request, sample)])
    if completion.status != "ok":
        raise BadInput(completion.error)
    return completion


def _timed(backend: OpenWeights, request: Request) -> tuple[Completion, float]:
    started = time.perf_counter()
    completion = _completion(backend, request)
    return completion, time.perf_counter() - started


def _system_refusal(backend: OpenWeights) -> tuple[str, ...]:
    """Whether the chat template takes no system prompt; it then stands before the question."""
    if backend.card.api == "completions":
        return ()
    model = backend.open()
    model.chat(_SUM)  # says so where there is no template at all
    try:
        model.chat(_SUM, "Be brief.")
    except BadInput:
        return ("system",)
    return ()


def _scores(backend: OpenWeights) -> bool:
    request = Request("score", "The sky above the meadow is", continuation=" blue today")
    return usable_tokens(_completion(backend, request).tokens) is not None


def _seed(backend: OpenWeights) -> str:
    """Whether one seed gives one text and another another, at temperature 1."""
    same, again, other = (
        _completion(backend, Request("generate", _LETTERS, max_tokens=FEW, temperature=1.0, seed=seed)).text
        for seed in (11, 11, 12)
    )
    if same != again:
        return IGNORED
    return REPEATS if same != other else UNCLEAR


def _ignored_settings(card: ModelCard) -> tuple[str, ...]:
    """A checkpoint may bring sampling settings that its servers apply; here a study's own are all there is."""
    folder = folder_of(card.model)
    if not (folder / "generation_config.json").is_file():
        return ()
    names = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty")
    own = [name for name in names if config_of(folder, "generation_config.json").get(name) is not None]
    return (f"Its own {', '.join(own)} are not applied; a study's settings are.",) if own else ()
