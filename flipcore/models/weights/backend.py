"""Open weights as a backend.

A checkpoint is loaded at the first call, shared by all backends that use it, and freed after the
last of them.
"""

import asyncio
import hashlib
import json
import threading
import time
from datetime import UTC, datetime
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from flipcore.access.acting import is_access_on
from flipcore.core import folders
from flipcore.core.errors import BadInput, MissingPackage
from flipcore.core.finish import separate_reasoning
from flipcore.core.records import SPREAD, Call, Completion, Request, digest
from flipcore.models.batched import Batched, answer_calls, prompt_of, score_calls
from flipcore.models.cards import ModelCard
from flipcore.models.probe_record import IGNORED, NO_REASONING, REPEATS, TAGS, UNCLEAR, ProbeRecord
from flipcore.models.weights.inference import OpenModel, Text
from flipcore.text.logprobs import usable_alternatives, usable_tokens

# Nothing is downloaded and no code of a checkpoint is run: a model of the hub is looked up in this
# machine's cache, and only safetensors files are read.

CONFIG = "config.json"
_WHOLE = 64 * 2**20  # bytes of the largest file that is hashed whole
_N_BLOCKS, _BLOCK = 256, 2**18  # blocks that are hashed of a larger file, and bytes per block


def check_packages() -> None:
    """Raise MissingPackage if torch or transformers is not installed."""
    missing = [name for name in ("torch", "transformers") if find_spec(name) is None]
    if missing:
        raise MissingPackage(
            f"Open weights need {' and '.join(missing)} here, not installed: run `pip install -r "
            "requirements-transformers.txt`."
        )


def folder_of(model: str) -> Path:
    """Return the folder of a checkpoint: the named one, or a hub model's in this machine's cache.

    Where access control is on, the admin must allow a named folder. BadInput where there is no
    checkpoint, or none with safetensors files.
    """
    path = Path(model).expanduser()
    if _is_folder(path):
        folder = folders.allowed(path) if is_access_on() else path.resolve()
    else:
        folder = _cached(model)
    if not (folder / CONFIG).is_file():
        raise BadInput(
            f"{model[:200]!r} holds no {CONFIG}, so it is no checkpoint. Name the folder of a "
            "model."
        )
    if not sorted(folder.glob("*.safetensors")):
        raise BadInput(
            f"{model[:200]!r} holds no .safetensors file, the only kind of weights that is read. "
            "Convert it first."
        )
    return folder


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # no folder can have this name
        return False


def _cached(model: str) -> Path:
    from huggingface_hub import try_to_load_from_cache

    try:
        config = try_to_load_from_cache(model, CONFIG)
    except ValueError:  # no model of the hub can have this name
        config = None
    if not isinstance(config, str):
        raise BadInput(
            f"{model[:200]!r} is neither a folder nor a model in the Hugging Face cache of this "
            "machine. Fetch it first by `hf download NAME`, or name the folder that holds it."
        )
    return Path(config).parent


def config_of(folder: Path, name: str) -> dict[str, Any]:
    """Read a JSON configuration file of the checkpoint; BadInput where it cannot be read."""
    try:
        config = json.loads((folder / name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"The {name} of {folder.name!r} cannot be read: {error}.") from error
    if not isinstance(config, dict):
        raise BadInput(f"The {name} of {folder.name!r} holds no table.")
    return config


def weights_digest(folder: Path) -> str:
    """Return 12 digits that change with the weights, the tokenizer and the configuration.

    Of a large file 256 evenly spaced blocks are hashed: training changes numbers everywhere, and
    reading all of it would take minutes.
    """
    names = (
        "*.safetensors",
        CONFIG,
        "tokenizer*",
        "vocab*",
        "merges.txt",
        "special_tokens_map.json",
        "chat_template*",
    )
    paths = set()
    for name in names:
        paths |= {path for path in folder.glob(name) if path.is_file()}
    parts = []
    for path in sorted(paths):
        stat = path.stat()
        parts.append((path.name, _file_digest(path, stat.st_size, changed_ns=stat.st_mtime_ns)))
    return digest(*parts)[:12]


@lru_cache(maxsize=512)
def _file_digest(path: Path, n_bytes: int, changed_ns: int) -> str:
    """Hash a file; it is read again only when its size or its time of change differs."""
    file_hash = hashlib.sha256(str(n_bytes).encode())
    with path.open("rb") as file:
        if n_bytes <= _WHOLE:
            file_hash.update(file.read())
        else:
            for block in range(_N_BLOCKS):
                file.seek(block * (n_bytes - _BLOCK) // (_N_BLOCKS - 1))
                file_hash.update(file.read(_BLOCK))
    return file_hash.hexdigest()


BATCH = 16
DTYPE = "float32"
# (folder, digest of the weights, dtype, device) -> model
_loaded: WeakValueDictionary[tuple[Path, str, str, str], OpenModel] = WeakValueDictionary()
_loaded_lock = threading.Lock()


class OpenWeights(Batched):
    """A checkpoint as a backend.

    `card.model` is a folder or a hub name in this machine's cache. `card.api` is "completions" for
    raw text, or "chat" for the checkpoint's chat template, in which no text can be scored.
    `card.options` may hold `dtype`, `device` and `batch`. BadInput without the checkpoint,
    MissingPackage without torch or transformers.
    """

    def __init__(self, card: ModelCard) -> None:
        check_packages()
        super().__init__()
        self.card, self.name, self.called = card, card.name, card.name
        self.batch = card.options.get("batch", BATCH)
        self._folder = folder_of(card.model)
        self._dtype = card.options.get("dtype", DTYPE)
        self._device = card.options.get("device", "auto")
        self._weights_digest = weights_digest(self._folder)
        without = " without system" if "system" in card.refuses else ""
        self.revision = f"{self._weights_digest} {self._dtype} {card.api}{without}"
        abilities = frozenset(card.abilities)
        if card.api == "chat":
            abilities -= {"score", SPREAD}
        # Scores are computed from the whole vocabulary, so its spread is known too.
        self.abilities = abilities | {SPREAD} if "score" in abilities else abilities
        self._model: OpenModel | None = None
        self._fault = ""

    @property
    def down(self) -> str:
        """The sentence that says why nothing can be computed, or ""."""
        return self._fault

    def why_not(self, ability: str) -> str:
        if ability in self.abilities:
            return ""
        if ability in ("score", SPREAD) and self.card.api == "chat":
            return (
                f"{self.name} is asked through its chat template, which scores no given text. Add "
                "it with the completions API."
            )
        return (
            f"{self.name} does not give {ability.replace('_', ' ')}, says its entry under Models."
        )

    async def complete(self, call: Call) -> Completion:
        if call.request.ability not in self.abilities:
            return Completion(call.call_id, "failed", error=self.why_not(call.request.ability))
        if call.request.effort or call.request.reasoning_budget:
            return Completion(
                call.call_id,
                "failed",
                error=f"{self.name} does not take a reasoning effort or budget.",
            )
        return await super().complete(call)

    async def close(self) -> None:
        await super().close()
        self._model = None

    def open(self) -> OpenModel:
        """Return the loaded checkpoint; BadInput where it cannot be loaded, now and later."""
        if self._fault:
            raise BadInput(self._fault)
        if self._model is None:
            try:
                self._model = _shared_model(
                    self._folder, self._weights_digest, dtype=self._dtype, device=self._device
                )
            except BadInput as error:
                self._fault = str(error)
                raise
        return self._model

    def complete_batch(self, calls: list[Call]) -> list[Completion]:
        model = self.open()
        if calls[0].request.kind == "score":
            return score_calls(calls, model)
        prompts = [self._prompt(model, call) for call in calls]
        return list(map(separate_reasoning, answer_calls(calls, model, prompts=prompts)))

    def _prompt(self, model: OpenModel, call: Call) -> Text:
        request = call.request
        if self.card.api == "completions":
            return Text(prompt_of(call) + request.continuation)
        takes_system = "system" not in self.card.refuses
        return model.chat(
            request.prompt if takes_system else prompt_of(call),
            request.system if takes_system else "",
        )


def _shared_model(folder: Path, weights: str, dtype: str, device: str) -> OpenModel:
    """Return the checkpoint in memory, loaded if needed; `weights` is its digest."""
    key = (folder, weights, dtype, device)
    with _loaded_lock:
        model = _loaded.get(key)
        if model is None:
            model = _loaded[key] = OpenModel.load(folder, dtype, device=device)
        return model


# The test of open weights, by a few small calls. It gives the same record as the test of a server.

LONG_LIMIT, SHORT_LIMIT = 256, 16  # token limits of a first answer in a chat, and of other texts
N_FIRST = 20  # first-token alternatives that the test asks for
_SUM = "What is 17 times 23? Answer with the number alone."
_LETTERS = "Write eight random letters."


def probed(card: ModelCard) -> ProbeRecord:
    """Test the checkpoint now and return the record; BadInput if it cannot be computed here."""
    backend = OpenWeights(card)
    try:
        model = backend.open()
        refuses = ("reasoning_effort", *_system_refusal(backend))
        started = time.perf_counter()
        first = _completion(
            backend,
            Request("generate", _SUM, max_tokens=LONG_LIMIT if card.api == "chat" else SHORT_LIMIT),
        )
        seconds = time.perf_counter() - started
        logprobs = usable_alternatives(
            _completion(
                backend, Request("first_token", _SUM, max_tokens=1, top_k=N_FIRST)
            ).top_logprobs
        )
        return ProbeRecord(
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            answered_as=f"{model.config.model_type}, {model.n_parameters / 1e6:,.3g} million "
            f"parameters, {model.place}",
            n_logprobs=len(logprobs or {}),
            top_logprobs=N_FIRST,
            logprobs="" if logprobs else "its numbers are no distribution",
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
    """Return the completion of one request; BadInput where it failed."""
    (completion,) = backend.complete_batch(
        [Call(backend.name, backend.revision, request=request, sample=sample)]
    )
    if completion.status != "ok":
        raise BadInput(completion.error)
    return completion


def _system_refusal(backend: OpenWeights) -> tuple[str, ...]:
    """Return ("system",) where the chat template refuses a system prompt, else ().
    A refused system prompt is later put before the question."""
    if backend.card.api == "completions":
        return ()
    model = backend.open()
    model.chat(_SUM)  # raises BadInput where there is no template at all
    try:
        model.chat(_SUM, "Be brief.")
    except BadInput:
        return ("system",)
    return ()


def _scores(backend: OpenWeights) -> bool:
    request = Request("score", "The sky above the meadow is", continuation=" blue today")
    return usable_tokens(_completion(backend, request).tokens) is not None


def _seed(backend: OpenWeights) -> str:
    """Find out if the same seed gives the same text and another seed another text."""
    first, repeated, with_other_seed = (
        _completion(
            backend,
            Request("generate", _LETTERS, max_tokens=SHORT_LIMIT, temperature=1.0, seed=seed),
        ).text
        for seed in (11, 11, 12)
    )
    if first != repeated:
        return IGNORED
    return REPEATS if first != with_other_seed else UNCLEAR


def _ignored_settings(card: ModelCard) -> tuple[str, ...]:
    """Return a note on the checkpoint's own sampling settings, which only servers apply."""
    folder = folder_of(card.model)
    if not (folder / "generation_config.json").is_file():
        return ()
    config = config_of(folder, "generation_config.json")
    names = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty")
    own_settings = [name for name in names if config.get(name) is not None]
    if not own_settings:
        return ()
    return (f"Its own {', '.join(own_settings)} are not applied; a study's settings are.",)
