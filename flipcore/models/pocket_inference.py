"""The pocket model without torch, and its backend.

numpy computes in single precision from the half-precision file, with a key-value cache. Nothing
changes after loading, so several threads may share one model. The matrices are small: on a busy
machine several BLAS threads are far slower than one, so loading sets the process to one thread.
"""

import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from flipcore.core.errors import BadInput, MissingAbility
from flipcore.core.paths import POCKET
from flipcore.core.randomness import world_generator
from flipcore.core.records import ABILITIES, Call, Completion
from flipcore.models.batched import (
    Batched,
    Generation,
    LanguageModel,
    Piece,
    Spread,
    answer_calls,
    prompt_of,
    score_calls,
)
from flipcore.models.pocket_arrays import (
    batches,
    drawn_token,
    likeliest,
    log_softmax,
    padded,
    rotated,
    softmax,
    spread,
)

N_FIRST = 40  # likeliest first tokens, by default
FILE_BITS = 16  # per weight of the checkpoint file


class _Cache:
    """Keys and values (layers, rows, heads, positions, width of a head) of the tokens so far."""

    def __init__(
        self, n_layers: int, n_rows: int, n_heads: int, n_positions: int, width: int
    ) -> None:
        shape = (n_layers, n_rows, n_heads, n_positions, width)
        self.keys, self.values = np.zeros(shape, np.float32), np.zeros(shape, np.float32)

    def repeat_rows(self, rows: np.ndarray) -> None:
        """Make row k a copy of the former row `rows[k]`."""
        self.keys, self.values = self.keys[:, rows], self.values[:, rows]

    def keep_rows(self, is_kept: np.ndarray) -> None:
        """Keep some rows (boolean mask); they move up in place, which is cheaper than copies."""
        rows = np.flatnonzero(is_kept)
        for target, row in enumerate(rows):
            if target < row:
                self.keys[:, target] = self.keys[:, row]
                self.values[:, target] = self.values[:, row]
        self.keys, self.values = self.keys[:, : len(rows)], self.values[:, : len(rows)]


class PocketModel(LanguageModel):
    """Generation, first-token log-probabilities and scores of the checkpoint in one folder."""

    def __init__(
        self, config: dict, tensors: dict[str, np.ndarray], tokenizer: Tokenizer, revision: str
    ) -> None:
        self.config, self.tokenizer, self.revision = config, tokenizer, revision
        self._weights = {
            name: np.ascontiguousarray(
                tensor.astype(np.float32).T if tensor.ndim == 2 else tensor, dtype=np.float32
            )
            for name, tensor in tensors.items()
        }
        self._embedding = np.ascontiguousarray(self._weights["model.embed_tokens.weight"].T)
        self._n_heads = config["num_attention_heads"]
        self._head_width = config["hidden_size"] // self._n_heads
        steps = np.arange(0, self._head_width, 2, dtype=np.float64) / self._head_width
        angles = np.outer(
            np.arange(config["max_position_embeddings"]), config["rope_theta"] ** -steps
        )
        angles = np.concatenate([angles, angles], axis=1)
        self._cos, self._sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
        # A token that is only a part of a character is decoded as U+FFFD.
        self._pieces = [
            tokenizer.decode([i], skip_special_tokens=False) for i in range(config["vocab_size"])
        ]

    @classmethod
    def load(cls, path: Path | None = None, bits: int = FILE_BITS) -> "PocketModel":
        """Load the checkpoint in `path`, or the repository's own.

        With fewer than 16 `bits` its matrices are rounded to so many bits per weight. BadInput
        where its files are missing, and for bits other than 2 to 16.
        """
        folder = POCKET if path is None else Path(path)
        weights = folder / "model.safetensors"
        if not weights.is_file():
            raise BadInput(
                f"There is no pocket checkpoint in {folder}; restore data/pocket from the "
                "repository, or train one in a clone with `python -m tests.lab.pocket train`."
            )
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        _use_one_blas_thread()
        revision = hashlib.sha256(weights.read_bytes()).hexdigest()[:12]
        tensors = load_file(weights)
        if bits != FILE_BITS:
            revision += f"-{bits}bit"
            tensors = {
                name: _rounded(tensor, bits) if tensor.ndim == 2 else tensor
                for name, tensor in tensors.items()
            }
        return cls(config, tensors, tokenizer, revision)

    @property
    def n_parameters(self) -> int:
        """Number of parameters; the tied embedding counts once."""
        return sum(tensor.size for tensor in self._weights.values())

    def generate(
        self,
        prompts: Sequence[str],
        *,
        max_tokens: int,
        temperature: float,
        seeds: Sequence[int],
        top_p: float = 1.0,
        stop: Sequence[str] = (),
    ) -> list[Generation]:
        """Generate one continuation per prompt.

        Its seed alone decides a continuation, whatever else is in the batch. Temperature 0 takes
        the likeliest token. An empty prompt begins a new text.
        """
        if len(seeds) != len(prompts):
            raise BadInput(
                f"{len(prompts)} prompts came with {len(seeds)} seeds; give one seed for each."
            )
        encoded = [self._encoded(prompt, max_tokens) for prompt in prompts]
        generations: dict[int, Generation] = {}
        for rows in batches([len(ids) for ids in encoded]):
            run = _Run(
                self,
                [encoded[i] for i in rows],
                seeds=[seeds[i] for i in rows],
                temperature=temperature,
                top_p=top_p,
                stop=tuple(stop),
            )
            for i, generation in zip(rows, run.generations(max_tokens), strict=True):
                generations[i] = generation
        return [generations[i] for i in range(len(prompts))]

    def first_token_logprobs(
        self, prompts: Sequence[str], top_k: int = N_FIRST
    ) -> list[dict[str, float]]:
        encoded = [self._encoded(prompt, 0) for prompt in prompts]
        tops: list[dict[str, float]] = [{}] * len(prompts)
        for rows in batches([len(ids) for ids in encoded]):
            last = self.last_hidden([encoded[i] for i in rows])[0]
            for i, row in zip(rows, log_softmax(self.logits(last)), strict=True):
                tops[i] = likeliest(row, top_k, piece=self._pieces.__getitem__)
        return tops

    def _scored(
        self, pairs: Sequence[tuple[str, str]], *, with_spread: bool
    ) -> list[tuple[list[Piece], list[Spread]]]:
        encoded, starts = [], []
        for prompt, continuation in pairs:
            ids, offsets = self._encoded_with_offsets(prompt + continuation)
            encoded.append(ids)
            # Nothing predicts the first token of a text, so it is never scored.
            starts.append(
                next(
                    (k for k, (_, end) in enumerate(offsets) if k > 0 and end > len(prompt)),
                    len(ids),
                )
            )
        scores: list[tuple[list[Piece], list[Spread]]] = [([], [])] * len(pairs)
        for rows in batches([len(ids) for ids in encoded]):
            hidden = self._hidden(*padded([encoded[i] for i in rows]))
            for i, row in zip(rows, hidden, strict=True):
                ids, start = encoded[i], starts[i]
                logits = self.logits(row[start - 1 : len(ids) - 1])
                # Log-probabilities are later divided by their spread. Where that is small, the
                # rounding of single precision would be magnified.
                logs = log_softmax(logits.astype(np.float64) if with_spread else logits)
                pieces = [
                    (self._pieces[token], float(logs[k, token]))
                    for k, token in enumerate(ids[start:])
                ]
                scores[i] = pieces, spread(logs) if with_spread else []
        return scores

    def _encoded_with_offsets(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        encoding = self.tokenizer.encode(text)
        limit = self.config["max_position_embeddings"]
        if len(encoding.ids) > limit:
            raise BadInput(
                f"A text of {len(encoding.ids)} tokens came; the pocket model reads at most "
                f"{limit}. Shorten it."
            )
        return encoding.ids, encoding.offsets

    def _encoded(self, text: str, n_to_come: int) -> list[int]:
        """Return the token ids; BadInput where `n_to_come` more tokens exceed the context."""
        ids, _ = self._encoded_with_offsets(text)
        limit = self.config["max_position_embeddings"]
        if len(ids) + n_to_come > limit:
            raise BadInput(
                f"A prompt of {len(ids)} tokens with {n_to_come} to come exceeds the pocket "
                f"model's {limit}; shorten it or lower max_tokens."
            )
        return ids

    def last_hidden(self, rows: list[list[int]], n_to_come: int = 0) -> tuple[np.ndarray, _Cache]:
        """Return the hidden state after each row, and a cache for `n_to_come` more tokens."""
        tokens, lengths = padded(rows)
        cache = self._cache(len(rows), tokens.shape[1] + n_to_come)
        hidden = self._hidden(tokens, lengths, cache)
        return hidden[np.arange(len(rows)), lengths - 1], cache

    def _cache(self, n_rows: int, n_positions: int) -> _Cache:
        return _Cache(
            self.config["num_hidden_layers"],
            n_rows,
            n_heads=self._n_heads,
            n_positions=n_positions,
            width=self._head_width,
        )

    def _hidden(
        self, tokens: np.ndarray, lengths: np.ndarray, cache: _Cache | None = None
    ) -> np.ndarray:
        """Return hidden states (rows, length, width) of rows that are padded on the right.
        Padding follows every real token, so no real token attends to it."""
        length = tokens.shape[1]
        positions = np.broadcast_to(np.arange(length), tokens.shape)
        mask = np.where(np.arange(length)[:, None] >= np.arange(length), 0.0, -np.inf).astype(
            np.float32
        )[None, None]
        cache = self._cache(len(tokens), length) if cache is None else cache
        return self.states(tokens, positions, mask, cache, length)

    def states(
        self, tokens: np.ndarray, positions: np.ndarray, mask: np.ndarray, cache: _Cache, reach: int
    ) -> np.ndarray:
        """Run all layers on `tokens` (rows, n); return the normed last hidden states.

        Keys and values are written into the cache at `positions` (rows, n). `mask` is added to the
        attention scores over the first `reach` positions.
        """
        x = self._embedding[tokens]
        cos, sin = self._cos[positions][:, None], self._sin[positions][:, None]
        rows = np.arange(len(tokens))[:, None]
        for n in range(self.config["num_hidden_layers"]):
            w = {key: self._weights[f"model.layers.{n}.{key}.weight"] for key in _MATRICES}
            normed = self._normed(x, f"model.layers.{n}.input_layernorm.weight")
            q, k, v = (self._heads(normed @ w[f"self_attn.{c}_proj"]) for c in "qkv")
            q, k = rotated(q, cos, sin=sin), rotated(k, cos, sin=sin)
            cache.keys[n].transpose(0, 2, 1, 3)[rows, positions] = k.transpose(0, 2, 1, 3)
            cache.values[n].transpose(0, 2, 1, 3)[rows, positions] = v.transpose(0, 2, 1, 3)
            keys, values = cache.keys[n][:, :, :reach], cache.values[n][:, :, :reach]
            scores = q @ keys.transpose(0, 1, 3, 2)
            attention = softmax(scores * np.float32(self._head_width**-0.5) + mask)
            mixed = attention @ values
            x = x + mixed.transpose(0, 2, 1, 3).reshape(x.shape) @ w["self_attn.o_proj"]
            normed = self._normed(x, f"model.layers.{n}.post_attention_layernorm.weight")
            gate = normed @ w["mlp.gate_proj"]
            x = x + (gate / (1 + np.exp(-gate)) * (normed @ w["mlp.up_proj"])) @ w["mlp.down_proj"]
        return self._normed(x, "model.norm.weight")

    def logits(self, hidden: np.ndarray) -> np.ndarray:
        """Turn hidden states (..., width) into logits (..., vocabulary)."""
        return hidden @ self._weights["model.embed_tokens.weight"]

    def _heads(self, x: np.ndarray) -> np.ndarray:
        return x.reshape(*x.shape[:2], self._n_heads, self._head_width).transpose(0, 2, 1, 3)

    def _normed(self, x: np.ndarray, name: str) -> np.ndarray:
        scale = 1 / np.sqrt(
            np.mean(x * x, axis=-1, keepdims=True) + np.float32(self.config["rms_norm_eps"])
        )
        return x * scale * self._weights[name]


_MATRICES = tuple(
    "self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.o_proj mlp.gate_proj mlp.up_proj "
    "mlp.down_proj".split()
)


class _Run:
    """The generation of one batch of continuations; rows that have ended leave the batch."""

    def __init__(
        self,
        model: PocketModel,
        prompts: list[list[int]],
        seeds: Sequence[int],
        temperature: float,
        top_p: float,
        stop: tuple[str, ...],
    ) -> None:
        self.model = model
        self.prompts = prompts
        self.temperature = temperature
        self.top_p = top_p
        self.stop = stop
        self.streams = [world_generator(abs(int(seed)), "pocket", "sample") for seed in seeds]
        self.ids: list[list[int]] = [[] for _ in prompts]
        self.reasons = ["length"] * len(prompts)

    def generations(self, max_tokens: int) -> list[Generation]:
        if max_tokens > 0:
            self._fill(max_tokens)
        return [self._generation(i) for i in range(len(self.prompts))]

    def _fill(self, max_tokens: int) -> None:
        # Compute each distinct prompt once: samples of one prompt share its cache row.
        distinct_prompts = dict.fromkeys(map(tuple, self.prompts))
        row_of_prompt = {prompt: row for row, prompt in enumerate(distinct_prompts)}
        hidden, cache = self.model.last_hidden([list(ids) for ids in distinct_prompts], max_tokens)
        rows = np.array([row_of_prompt[tuple(ids)] for ids in self.prompts])
        hidden = hidden[rows]
        cache.repeat_rows(rows)
        alive = np.arange(len(self.prompts))
        positions = np.array([len(ids) for ids in self.prompts])
        for step in range(max_tokens):
            logs = log_softmax(self.model.logits(hidden))
            tokens = np.array([self._draw(int(i), row) for i, row in zip(alive, logs, strict=True)])
            goes_on = np.array([self.reasons[i] == "length" for i in alive])
            if step + 1 == max_tokens or not goes_on.any():
                return
            if not goes_on.all():
                alive, positions, tokens = alive[goes_on], positions[goes_on], tokens[goes_on]
                cache.keep_rows(goes_on)
            reach = int(positions.max()) + 1
            mask = np.where(np.arange(reach) <= positions[:, None], 0.0, -np.inf).astype(
                np.float32
            )[:, None, None]
            states = self.model.states(tokens[:, None], positions[:, None], mask, cache, reach)
            hidden = states[:, 0]
            positions = positions + 1

    def _draw(self, i: int, logs: np.ndarray) -> int:
        """Draw the next token of row `i`; note it, and the reason where it ends the row."""
        token = drawn_token(logs, self.streams[i], temperature=self.temperature, top_p=self.top_p)
        if token == self.model.config["eos_token_id"]:
            self.reasons[i] = "stop"
            return token
        self.ids[i].append(token)
        if self.stop and any(
            text in self.model.tokenizer.decode(self.ids[i]) for text in self.stop
        ):
            self.reasons[i] = "stop"
        return token

    def _generation(self, i: int) -> Generation:
        text = self.model.tokenizer.decode(self.ids[i])
        ends = [text.index(end) for end in self.stop if end in text]
        return Generation(
            text[: min(ends)] if ends else text,
            len(self.prompts[i]),
            n_tokens_out=len(self.ids[i]),
            finish_reason=self.reasons[i],
        )


def _rounded(matrix: np.ndarray, bits: int) -> np.ndarray:
    """Round each row to the nearest of 2^bits evenly spaced values up to its largest.
    This is the plainest way to quantize weights."""
    if not 2 <= bits < FILE_BITS:
        raise BadInput(
            f"{bits} bits a weight were asked of the pocket model; choose 2 to {FILE_BITS}."
        )
    matrix = matrix.astype(np.float32)
    step = np.abs(matrix).max(axis=1, keepdims=True) / (2 ** (bits - 1) - 1)
    return np.round(matrix / np.where(step == 0, 1, step)) * step


def _use_one_blas_thread() -> None:
    try:
        from threadpoolctl import threadpool_limits
    # threadpoolctl comes with scikit-learn. Without it, OPENBLAS_NUM_THREADS=1 does the same.
    except ImportError:
        return
    threadpool_limits(1, user_api="blas")


@lru_cache(4)
def _cached_model(path: Path, bits: int, changed_ns: int) -> PocketModel:
    """Load the checkpoint once per version of its file: every price and every study opens it."""
    return PocketModel.load(path, bits)


class Pocket(Batched):
    """The shipped checkpoint as a backend; a seed and a sample decide what it gives."""

    called = "The pocket model"
    abilities = frozenset(ABILITIES)

    def __init__(self, name: str = "pocket", path: Path | None = None, bits: int = 16) -> None:
        """`bits` per weight: with fewer than the checkpoint's 16 its matrices are rounded."""
        path = path or POCKET
        weights = path / "model.safetensors"
        if not weights.is_file():
            raise MissingAbility(
                f"The pocket model is not in {path}: in a clone, train it with `python -m "
                "tests.lab.pocket train`."
            )
        super().__init__()
        self._model = _cached_model(path, bits, changed_ns=weights.stat().st_mtime_ns)
        self.name, self.revision = name, self._model.revision

    def complete_batch(self, calls: list[Call]) -> list[Completion]:
        if calls[0].request.kind == "score":
            return score_calls(calls, self._model)
        prompts = [prompt_of(call) + call.request.continuation for call in calls]
        return answer_calls(calls, self._model, prompts=prompts)
