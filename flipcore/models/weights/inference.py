"""An open model computed by `transformers`: texts, first-token log-probabilities and scores.

Decoding is this project's own: the likeliest token at temperature 0, else a draw from the prompt's
own stream. So neither the batch nor the checkpoint's sampling defaults change the output.
Log-probabilities are in nats, at temperature 1, and computed in single precision whatever the
precision of the weights.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.core.randomness import world_generator
from flipcore.models.batched import Generation, LanguageModel, Piece, Spread
from flipcore.models.pocket_arrays import drawn_token, likeliest, log_softmax, padded, spread

MAX_LOGITS = 2**27  # logits of one batch of scores: half a gigabyte


@dataclass(frozen=True)
class Text:
    """A prompt: raw text, or a text in the chat template, which has its own first token."""

    text: str
    is_templated: bool = False


class OpenModel(LanguageModel):
    """A checkpoint in memory. One thread at a time computes with it.
    `end_tokens` end an answer; `limit` is the context in tokens."""

    def __init__(self, model: Any, tokenizer: Any, end_tokens: set[int]) -> None:
        self._model, self._tokenizer, self._end_tokens = model, tokenizer, end_tokens
        self.config = model.config.get_text_config()
        self.limit = int(getattr(self.config, "max_position_embeddings", None) or 2**20)
        self._special_tokens = {
            *self._end_tokens,
            *(i for i in (tokenizer.bos_token_id, tokenizer.pad_token_id) if i is not None),
        }
        self._pieces: dict[int, str] = {}
        self._lock = threading.Lock()

    @classmethod
    def load(cls, folder: Path, dtype: str = "float32", device: str = "auto") -> "OpenModel":
        """Load the checkpoint in `folder`; BadInput with the library's message if that fails."""
        import torch
        import transformers

        transformers.logging.set_verbosity_error()
        transformers.logging.disable_progress_bar()
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
            model = transformers.AutoModelForCausalLM.from_pretrained(
                folder,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                dtype=getattr(torch, dtype),
            )
            model = model.to(best_device() if device == "auto" else device).eval()
        except Exception as error:  # the library raises many kinds of errors
            raise BadInput(
                f"{folder.name} could not be loaded: {' '.join(str(error).split())[:500]}"
            ) from error
        end_tokens = _find_end_tokens(model, tokenizer)
        # The checkpoint's own penalties would change the log-probabilities.
        model.generation_config = transformers.GenerationConfig()
        return cls(model, tokenizer, end_tokens)

    @property
    def n_parameters(self) -> int:
        """Number of parameters; a tied embedding counts once."""
        return sum(parameter.numel() for parameter in self._model.parameters())

    @property
    def place(self) -> str:
        """Device and precision: "cpu, float32"."""
        return f"{self._model.device.type}, {str(self._model.dtype).removeprefix('torch.')}"

    def chat(self, prompt: str, system: str = "") -> Text:
        """Put the prompt into the checkpoint's chat template.
        BadInput where the checkpoint has no template, or the template refuses a system prompt."""
        if not getattr(self._tokenizer, "chat_template", None):
            raise BadInput(
                "This checkpoint has no chat template. Choose the completions API, which takes raw "
                "text."
            )
        first = [{"role": "system", "content": system}] if system else []
        try:
            text = self._tokenizer.apply_chat_template(
                [*first, {"role": "user", "content": prompt}],
                tokenize=False,
                add_generation_prompt=True,
            )
        except Exception as error:  # a template is a program of the checkpoint's maker
            raise BadInput(
                f"The chat template of this checkpoint refuses the prompt: {str(error)[:200]}"
            ) from error
        return Text(text, is_templated=True)

    def generate(
        self,
        prompts: Sequence[Text],
        *,
        max_tokens: int,
        temperature: float,
        seeds: Sequence[int],
        top_p: float = 1.0,
        stop: Sequence[str] = (),
    ) -> list[Generation]:
        """Generate one continuation per prompt; its seed decides it, whatever else is in the batch.

        One exception: sums of several threads or of a GPU depend on the batch in their last digits,
        so two equally likely tokens may change places.
        """
        rows = [self._encoded(prompt, max_tokens) for prompt in prompts]
        streams = [world_generator(abs(int(seed)), "pocket", "sample") for seed in seeds]
        draw = _Draw(streams, temperature, top_p=top_p)
        stops = _Stops(self, max(map(len, rows)), stop=tuple(stop))
        generations = []
        for row, new_tokens in zip(rows, self._decoded(rows, max_tokens, draw, stops), strict=True):
            generations.append(self._generation(row, new_tokens, tuple(stop)))
        return generations

    def first_token_logprobs(self, prompts: Sequence[Text], top_k: int) -> list[dict[str, float]]:
        import torch

        with self._lock, torch.inference_mode():
            rows = [self._encoded(prompt, 1) for prompt in prompts]
            likeliest_tokens = []
            for chunk in self._chunks(rows):
                for row in self._logprobs(chunk, [len(ids) - 1 for ids in chunk]):
                    likeliest_tokens.append(likeliest(row[0], top_k, piece=self.piece))
        return likeliest_tokens

    def _scored(
        self, pairs: Sequence[tuple[str, str]], *, with_spread: bool
    ) -> list[tuple[list[Piece], list[Spread]]]:
        """Score the continuations; see `LanguageModel.score`. A text without a prompt has a score
        for its first token only if the tokenizer has a token for the beginning of a text."""
        import torch

        rows, starts = zip(*(self._encoded_pair(*pair) for pair in pairs), strict=True)
        scores: list[tuple[list[Piece], list[Spread]]] = []
        with self._lock, torch.inference_mode():
            for chunk in self._chunks(list(rows)):
                n_done = len(scores)
                chunk_starts = starts[n_done : n_done + len(chunk)]
                # The logits at a position predict the token after it.
                chunk_logs = self._logprobs(chunk, [max(start - 1, 0) for start in chunk_starts])
                for ids, start, logs in zip(chunk, chunk_starts, chunk_logs, strict=True):
                    pieces = [
                        (self.piece(token), float(row[token]))
                        for token, row in zip(ids[start:], logs, strict=False)
                    ]
                    spreads: list[Spread] = []
                    if with_spread:
                        spreads = spread(log_softmax(logs[: len(pieces)].astype(np.float64)))
                    scores.append((pieces, spreads))
        return scores

    def piece(self, token: int) -> str:
        """Return the token as text; sentencepiece's mark for a blank becomes a blank."""
        if token not in self._pieces:
            text = self._tokenizer.decode(
                [token], skip_special_tokens=False, clean_up_tokenization_spaces=False
            )
            form = self._tokenizer.convert_ids_to_tokens(token)
            has_mark = isinstance(form, str) and form.startswith("\u2581")
            self._pieces[token] = f" {text}" if has_mark and not text.startswith(" ") else text
        return self._pieces[token]

    def text_of(self, tokens: Sequence[int]) -> str:
        """Return generated tokens as text, without the tokens for its beginning and end.
        Marks of reasoning stay; they are read later."""
        text_tokens = [token for token in tokens if token not in self._special_tokens]
        return self._tokenizer.decode(
            text_tokens, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )

    def _decoded(
        self, rows: list[list[int]], max_tokens: int, draw: "_Draw", stops: "_Stops"
    ) -> list[list[int]]:
        """Return the new tokens of each row, including the token that ended it."""
        import torch
        import transformers

        longest = stops.longest
        padding = next(iter(self._end_tokens), 0)
        tokens = torch.tensor(
            [[padding] * (longest - len(row)) + row for row in rows], device=self._model.device
        )
        mask = torch.tensor(
            [[0] * (longest - len(row)) + [1] * len(row) for row in rows], device=self._model.device
        )
        settings = transformers.GenerationConfig(
            max_new_tokens=max_tokens,
            do_sample=False,
            eos_token_id=sorted(self._end_tokens) or None,
            pad_token_id=padding,
        )
        with self._lock, torch.inference_mode():
            out = self._model.generate(
                input_ids=tokens,
                attention_mask=mask,
                generation_config=settings,
                logits_processor=transformers.LogitsProcessorList([draw]),
                stopping_criteria=transformers.StoppingCriteriaList([stops]),
            )
        return [self._up_to_end(row[longest:]) for row in out.tolist()]

    def _up_to_end(self, tokens: list[int]) -> list[int]:
        for i, token in enumerate(tokens):
            if token in self._end_tokens:
                return tokens[: i + 1]
        return tokens

    def _generation(
        self, prompt: list[int], tokens: list[int], stop: tuple[str, ...]
    ) -> Generation:
        has_end_token = bool(tokens) and tokens[-1] in self._end_tokens
        text = self.text_of(tokens)
        stop_places = [text.index(end) for end in stop if end in text]
        if not stop_places:
            return Generation(
                text,
                len(prompt),
                n_tokens_out=len(tokens) - has_end_token,
                finish_reason="stop" if has_end_token else "length",
            )
        # Tokens after a stop string are padding: the batch went on without this row.
        n_out = 1
        while not any(end in self.text_of(tokens[:n_out]) for end in stop):
            n_out += 1
        return Generation(
            text[: min(stop_places)], len(prompt), n_tokens_out=n_out, finish_reason="stop"
        )

    def _chunks(self, rows: list[list[int]]) -> list[list[list[int]]]:
        """Split the rows, in their order, into chunks of at most MAX_LOGITS logits."""
        chunks: list[list[list[int]]] = []
        for row in rows:
            longest = max(len(row), *map(len, chunks[-1])) if chunks else 0
            if not chunks or (len(chunks[-1]) + 1) * longest * self.config.vocab_size > MAX_LOGITS:
                chunks.append([])
            chunks[-1].append(row)
        return chunks

    def _logprobs(self, rows: list[list[int]], starts: Sequence[int]) -> list[np.ndarray]:
        """Return per row the log-probabilities (positions, vocabulary) of the next token.

        Positions begin at the row's entry of `starts`. Rows are padded at their end, which no
        earlier position sees.
        """
        import torch

        tokens, lengths = padded(rows)
        logits = self._model(
            input_ids=torch.from_numpy(tokens).to(self._model.device), use_cache=False
        ).logits
        return [
            log_softmax(_finite(logits[i, start:length].float().cpu().numpy()))
            for i, (start, length) in enumerate(zip(starts, lengths, strict=True))
        ]

    def _encoded(self, prompt: Text, n_to_come: int) -> list[int]:
        """Return the token ids; BadInput where `n_to_come` more tokens exceed the context."""
        ids = self._tokenizer(prompt.text, add_special_tokens=not prompt.is_templated)["input_ids"]
        ids = list(ids) or self._beginning()
        self._check_length(len(ids), n_to_come)
        return ids

    def _encoded_pair(self, prompt: str, continuation: str) -> tuple[list[int], int]:
        """Return (token ids, index of the first one that reaches into the continuation)."""
        if not getattr(self._tokenizer, "is_fast", False):
            raise BadInput(
                "The tokenizer of this checkpoint does not say where its tokens stand, so no text "
                "can be scored."
            )
        text = self._tokenizer(prompt + continuation, return_offsets_mapping=True)
        ids, ends = list(text["input_ids"]), [end for _, end in text["offset_mapping"]]
        if (
            not prompt
            and self._tokenizer.bos_token_id is not None
            and ids[:1] != [self._tokenizer.bos_token_id]
        ):
            ids, ends = [self._tokenizer.bos_token_id, *ids], [0, *ends]
        self._check_length(len(ids), 0)
        first = next((i for i, end in enumerate(ends) if i > 0 and end > len(prompt)), len(ids))
        # Leave out end tokens that the tokenizer appends; they cover no text.
        n_read = next((n for n in range(len(ids), first, -1) if ends[n - 1] > 0), len(ids))
        return ids[:n_read], first

    def _beginning(self) -> list[int]:
        if self._tokenizer.bos_token_id is None:
            raise BadInput(
                "An empty prompt came, and this checkpoint has no mark for the beginning of a text."
            )
        return [self._tokenizer.bos_token_id]

    def _check_length(self, n_tokens: int, n_to_come: int) -> None:
        if n_tokens + n_to_come > self.limit:
            to_come = f" with {n_to_come:,} to come" if n_to_come else ""
            raise BadInput(
                f"A text of {n_tokens:,} tokens came{to_come}; the model reads at most "
                f"{self.limit:,}. Shorten it."
            )


class _Draw:
    """Draws a token for every row of logits (rows, vocabulary).
    All other logits become -inf, so that the library's greedy choice takes the drawn token."""

    def __init__(
        self, streams: list[np.random.Generator], temperature: float, top_p: float
    ) -> None:
        self.streams, self.temperature, self.top_p = streams, temperature, top_p

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        import torch

        if self.temperature <= 0:
            if torch.isnan(scores).any():
                raise BadInput(_OVERFLOW)
            return scores
        logs = log_softmax(_finite(scores.float().cpu().numpy()))
        tokens = [
            drawn_token(row, stream, temperature=self.temperature, top_p=self.top_p)
            for row, stream in zip(logs, self.streams, strict=True)
        ]
        drawn_only = torch.full_like(scores, -torch.inf)
        drawn_only[torch.arange(len(tokens)), torch.tensor(tokens)] = 0.0
        return drawn_only


class _Stops:
    """Ends a row whose new text holds one of the stop strings.
    `longest` is the length of the padded prompts, after which the new tokens begin."""

    def __init__(self, model: OpenModel, longest: int, stop: tuple[str, ...]) -> None:
        self.model, self.longest, self.stop = model, longest, stop

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        import torch

        if self.stop:
            is_over = [self._is_over(row[self.longest :]) for row in input_ids.tolist()]
        else:
            is_over = [False] * len(input_ids)
        return torch.tensor(is_over, device=input_ids.device)

    def _is_over(self, tokens: list[int]) -> bool:
        text = self.model.text_of(tokens)
        return any(end in text for end in self.stop)


_OVERFLOW = "The model's numbers overflowed. Choose float32 or bfloat16 for its precision."


def _finite(logits: np.ndarray) -> np.ndarray:
    """Return the logits; BadInput for NaN, after which draws would be noise.
    Half precision may overflow."""
    if np.isnan(logits).any():
        raise BadInput(_OVERFLOW)
    return logits


def _find_end_tokens(model: Any, tokenizer: Any) -> set[int]:
    """Return the tokens that end an answer by the generation settings, the configuration or the
    tokenizer."""
    configs = (model.generation_config, model.config.get_text_config(), tokenizer)
    ends: set[int] = set()
    for config in configs:
        tokens = getattr(config, "eos_token_id", None)
        if isinstance(tokens, (list, tuple)):
            ends |= set(tokens)
        elif tokens is not None:
            ends.add(tokens)
    return ends


def best_device() -> str:
    """Return the accelerator that torch sees, else "cpu"."""
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"
