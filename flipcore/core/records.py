"""Records that pass between the stages of the pipeline, and their ids.

    Item -> Variant -> Call -> Completion -> Readout

Ids are hashes of content: the same record made on two machines has the same id, and stores merge as
a union. A canonical answer is text: the index of an option in the item's own order ("2"), an exact
number ("1450", "29/2"), or normalised words ("new york"). A target may list several right answers,
one per line.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any, dataclass_transform

from flipcore.core.json_encoding import json_encoder, json_string

# The kind of items that ask for a function. It is right if it passes their tests.
CODE = "code"
KINDS = ("choice", "number", "text", "completion", CODE)
# The "model" of calls that run code with its tests; no real model's name has a colon.
SANDBOX = "sandbox:python"
ROLES = ("benchmark", "control", "target", "retro", "non_member")
_PLAIN_ROLES = {"target": "benchmark", "retro": "holdout"}
# an ability: "score" that also returns mean and spread of the vocabulary's log-probabilities
SPREAD = "vocabulary_spread"
ABILITIES = ("generate", "first_token_logprobs", "score", SPREAD)
OK, UNREADABLE, CUT, ABSENT = "ok", "unreadable", "cut", "absent"
BASE = "base"
# Suffix of the name of a scorer for which lower scores are better.
LOWER_IS_BETTER = "(lower is better)"
# Reasoning efforts that servers accept; each server accepts some of them.
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
IDENTITY = "identity"  # the axis that asks the base prompt again: the noise floor of the other axes
# The axis of a model's further prompts for one item, in recorded outputs.
OTHER_PROMPT = "prompt"
# The answers of a recorded readout whose scorer says right or wrong and extracts no answer.
RIGHT, WRONG = "right", "wrong"
# extractors: the default reference, and the field's default
WRITTEN_ANSWER, FIRST_TOKEN = "regex", "first_token"
# extractors of short answers, expressions, programs
WRITTEN_WORDS, WRITTEN_MATH, WRITTEN_CODE = ("text_match", "math", "unit_tests")
# Readouts of the rotation harness. Each covers several orders at once, so none is in a flip.
ROTATION_READOUTS = ("rotation", "rotation_single")
# Layout of variants that ask for a continuation, not for an answer.
CONTINUATION = "continuation"
_canonical = json_encoder(sort_keys=True, separators=(",", ":"))
_encode = json_encoder()


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def _record(cls: type) -> type:
    """Make a frozen dataclass. Only the type checker refuses assignments: a check of each field at
    run time would double the time to make a record, and an import makes millions of them."""
    return dataclass(unsafe_hash=True)(cls)


def role_name(role: str, roles: Collection[str] = ()) -> str:
    """Return the name of a role for people. `target` and `retro` are shown as benchmark and
    holdout; a target gets another name if the study's `roles` include "benchmark" itself."""
    if role == "target" and "benchmark" in roles:
        return "compared benchmark"
    return _PLAIN_ROLES.get(role, role.replace("_", " "))


def role_title(role: str, roles: Collection[str]) -> str:
    """Return the name of a role in a menu of `roles`. `target` and `benchmark` are both shown as
    benchmark, so they get different names if both can be chosen."""
    is_ambiguous = role == "target" and "benchmark" in roles
    return "benchmark beside a holdout" if is_ambiguous else role_name(role)


def digest(*parts: Any) -> str:
    """Return 20 hexadecimal digits that identify `parts` (any JSON, whatever the order of keys)."""
    return digest_of_text(_canonical(parts))


def digest_of_text(text: str) -> str:
    """Return 20 hexadecimal digits that identify a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]


@_record
class Item:
    """A question with its right answer."""

    item_id: str
    dataset: str
    kind: str  # one of KINDS
    question: str
    options: tuple[str, ...] = ()  # in the item's own order
    target: str | None = None  # right canonical answers, one per line; None if unknown
    category: str = ""
    published: str | None = None  # date; None if unknown
    solution: str = ""  # worked out, as the dataset has it
    source_id: str | None = None  # passage or source of the item; None if unknown
    meta: Mapping[str, Any] = field(default_factory=dict, hash=False)  # further fields of its file

    @classmethod
    def make(
        cls,
        *,
        dataset: str,
        key: str,
        kind: str,
        question: str,
        options: tuple[str, ...] = (),
        **fields,
    ) -> "Item":
        """Make an item whose id names its origin and changes with its content:
        ``gsm8k/17@1c0ffee2``."""
        target = fields.get("target")
        item_id = f"{dataset}/{key}@{digest(kind, question, list(options), target)[:8]}"
        return cls(item_id, dataset, kind, question, tuple(options), **fields)


# Fields of a request that were added later; see `Request.declared`.
_LATER_FIELDS = ("effort", "reasoning_budget", "turns", "spread")
# Names of a prompt's parts that are earlier turns of the conversation.
EXAMPLE_TURNS = ("example question", "example answer")


def messages_of(text: str, turns: Sequence[int]) -> list[dict[str, str]]:
    """Cut a text at the character positions `turns` into messages.
    The user's and the assistant's messages alternate."""
    messages = []
    for i, (start, end) in enumerate(zip((0, *turns), (*turns, len(text)), strict=True)):
        messages.append({"role": ("user", "assistant")[i % 2], "content": text[start:end]})
    return messages


@_record
class Prompt:
    """A prompt as named parts in order (`shots`, `stem`, `options`, `cue`, ...).

    The prompt is their concatenation. Parts named in EXAMPLE_TURNS come first; a chat sends each of
    them as a message.
    """

    parts: tuple[tuple[str, str], ...]
    system: str = ""

    @property
    def text(self) -> str:
        return "".join([text for _, text in self.parts])

    @property
    def turns(self) -> tuple[int, ...]:
        """Character positions at which all turns but the last end; empty for a single message."""
        return tuple(accumulate(len(text) for name, text in self.parts if name in EXAMPLE_TURNS))

    @property
    def transcript(self) -> str:
        """The text as people read it; each of several turns has its speaker above it."""
        if not self.turns:
            return self.text
        return "\n\n".join(
            f"[{message['role']}]\n{message['content']}"
            for message in messages_of(self.text, self.turns)
        )


@_record
class Variant:
    """One version of an item's prompt.

    `order[i]` is the item's own index of the option shown at position i, `labels[i]` the label
    shown there. `key` names the variant within its axis ("base", "rotate-1"); `compared_with` is
    the key of the variant that it is compared with. `material_id` is the accepted paraphrase that
    it was made from, if any. `target` is the right answer to this variant.
    """

    item_id: str
    axis: str
    key: str
    prompt: Prompt
    target: str | None
    order: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    layout: str = "plain"
    compared_with: str = BASE
    material_id: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @cached_property
    def variant_id(self) -> str:
        """The hash of the item and its prompt.

        It does not depend on the axis, so a base that several axes share is asked once. `repeat`
        distinguishes recordings of one prompt under several names, `effort` reasoning efforts.
        """
        distinctions = [self.params[name] for name in ("repeat", "effort") if name in self.params]
        turns = self.prompt.turns
        distinctions += [turns] if turns else []
        return digest(
            self.item_id,
            self.prompt.system,
            self.prompt.text,
            self.order,
            self.labels,
            self.target,
            *distinctions,
        )


@_record
class Request:
    """A request to a model.

    "generate" asks for a text. "first_token" asks for the first token after the prompt and
    `continuation`, with its `top_k` alternatives. "score" asks for the log-probabilities of
    `continuation` given the prompt.
    """

    kind: str
    prompt: str
    system: str = ""
    continuation: str = ""
    max_tokens: int = 0
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    top_k: int = 0
    effort: str = ""  # one of EFFORTS; "" for the server's default
    reasoning_budget: int = 0  # most tokens of reasoning; 0 for the server's default
    turns: tuple[int, ...] = ()  # of the prompt, see `messages_of`
    spread: bool = False  # with "score": also ask for the vocabulary's mean and spread

    def declared(self) -> dict[str, Any]:
        """Return the fields that are hashed and stored.
        Fields that were added later are left out at their default, so that no old id changes."""
        return {
            key: value for key, value in vars(self).items() if value or key not in _LATER_FIELDS
        }

    @property
    def messages(self) -> list[dict[str, str]]:
        """The prompt as messages of a conversation, without the system prompt."""
        return messages_of(self.prompt, self.turns)

    @property
    def ability(self) -> str:
        """Ability that a backend needs for this request."""
        # A token after a given continuation needs what scoring needs: a server that takes the text
        # as it is. Chat APIs do not.
        if self.kind == "first_token":
            return "score" if self.continuation else "first_token_logprobs"
        return SPREAD if self.spread else self.kind


@_record
class Call:
    """One request to one revision of one model; another `sample` is another call."""

    model: str
    revision: str
    request: Request
    sample: int = 0
    parent_id: str | None = None

    @cached_property
    def call_id(self) -> str:
        return digest(
            self.model, self.revision, self.request.declared(), self.sample, self.parent_id
        )


class RequestEncoder:
    """JSON of requests that differ from one request only in their prompt."""

    def __init__(self, request: Request) -> None:
        fields = replace(request, prompt="").declared()
        # Within a value the quotes are escaped, so each text has its place only once.
        self._stored = _encode(fields).split('"prompt": ""')
        self._canonical = _canonical(fields).split('"prompt":""')

    def stored(self, prompt: str) -> str:
        """Return the request with this prompt as the database holds it."""
        before, after = self._stored
        return f'{before}"prompt": {json_string(prompt)}{after}'

    def call_ids(self, prompt: str) -> "CallIds":
        """Return the ids of calls that send the request with this prompt."""
        before, after = self._canonical
        return CallIds(f'{before}"prompt":{json_string(prompt)}{after}')


class CallIds:
    """Ids of the calls that send one request, in canonical JSON, to several models."""

    def __init__(self, request: str) -> None:
        self._request = request

    def call_id(self, model: str, revision: str, sample: int = 0) -> str:
        """Return the same id as `Call.call_id`."""
        return digest_of_text(f"{_caller(model, revision)},{self._request},{sample},null]")


@lru_cache(1_024)
def _caller(model: str, revision: str) -> str:
    return _canonical([model, revision])[:-1]


@_record
class Completion:
    """The reply to a call. None means that the server did not say; placeholders become None too."""

    call_id: str
    status: str  # "ok" or "failed"
    text: str = ""
    finish_reason: str = ""  # a word of `flipcore.core.finish`; "" if nobody recorded it
    # (text, log-probability in nats) per token of the generated text or the scored continuation.
    tokens: tuple[tuple[str, float], ...] | None = None
    # The first token's alternatives: text -> log-probability in nats.
    top_logprobs: Mapping[str, float] | None = field(default=None, hash=False)
    n_tokens_in: int | None = None
    n_tokens_out: int | None = None
    cost_usd: float | None = None
    latency_s: float | None = None
    n_attempts: int = 1
    error: str = ""
    raw_reply: str = ""
    reasoning: str = ""  # the text before the answer, which no extractor reads
    # Attempts that probably reached the server and brought no answer; they may have been billed.
    n_lost: int = 0
    n_tokens_reasoning: int | None = None  # the part of `n_tokens_out` that was reasoning
    # (mean, standard deviation) of the vocabulary's log-probabilities in nats, one per token.
    spread: tuple[tuple[float, float], ...] | None = None
    other_model: str = ""  # the name in the reply, if it is not the model that was asked


@_record
class Reading:
    """The result of an extractor on completions: an answer or a value, or the reason for neither.

    `status` is OK; UNREADABLE (the output is complete and states no answer); CUT (the output ended
    before its answer); or ABSENT (no output came, or the model lacks the ability).

    `span` is (start, end) in characters of the last source's text. `probabilities` are (canonical
    option, share) pairs that need not sum to 1. `label_mass` is the share of first-token
    probability on the labels; None means unknown.
    """

    status: str
    answer: str | None = None
    value: float | None = None
    span: tuple[int, int] | None = None
    reason: str = ""
    probabilities: tuple[tuple[str, float], ...] = ()
    label_mass: float | None = None


@_record
class Readout:
    """One row of the table of readouts: a reading, its cell and the calls that it came from."""

    model: str
    item_id: str
    axis: str
    variant_id: str
    sample: int
    extractor: str
    reading: Reading
    is_correct: bool | None
    source_ids: tuple[str, ...] = ()


def correctness(reading: Reading, target: str | None) -> bool | None:
    """Tell whether a reading is right; None if that is unknown.

    Unreadable and cut-off outputs count as wrong. Absent readings, items without a target and
    readings without an answer count as missing.
    """
    if (
        reading.status == ABSENT
        or target is None
        or (reading.status == OK and reading.answer is None)
    ):
        return None
    return reading.answer in target.split("\n")
