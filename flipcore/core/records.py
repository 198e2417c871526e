"""Records that pass between the stages of the pipeline, and the ids by which they are known.

    Item -> Variant -> Call -> Completion -> Readout

Ids are hashes of content, so the same thing made on two machines has one id and stores merge as a
union. A canonical answer is text: the index of an option in the item's own order ("2"), an exact
number ("1450", "29/2"), or normalised words ("new york"). A target may list several right answers,
one a line.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any

from flipcore.core.json_encoding import json_encoder

# the kind of items that ask for a function, which their tests call; the right answer is that it
# passes
CODE = "code"
KINDS = ("choice", "number", "text", "completion", CODE)
SANDBOX = "sandbox:python"  # who is asked to run code with its tests; no model's name has a colon
ROLES = ("benchmark", "control", "target", "retro", "non_member")
_PLAIN_ROLES = {"target": "benchmark", "retro": "holdout"}
# mean and spread of the log-probabilities of the whole vocabulary, beside those of a scored text
SPREAD = "vocabulary_spread"
ABILITIES = ("generate", "first_token_logprobs", "score", SPREAD)
OK, UNREADABLE, CUT, ABSENT = "ok", "unreadable", "cut", "absent"
BASE = "base"
# ends the name of a scorer whose scores are better the less they are
LOWER_IS_BETTER = "(lower is better)"
# words that servers take; each takes some of them
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
IDENTITY = "identity"  # the axis of the base prompt asked again: the noise floor under every other
# the axis of one model\'s further prompts for the same item, in recorded outputs
OTHER_PROMPT = "prompt"
# answers of an item that a scorer judged without taking an answer out of it
RIGHT, WRONG = "right", "wrong"
# extractors: the default reference, and the field's default
WRITTEN_ANSWER, FIRST_TOKEN = "regex", "first_token"
# extractors of short answers, expressions, programs
WRITTEN_WORDS, WRITTEN_MATH, WRITTEN_CODE = ("text_match", "math", "unit_tests")
# what the rotation harness reads over several orders: in no flip
ROTATION_READOUTS = ("rotation", "rotation_single")
# the layout of variants that ask for a continuation, not for an answer
CONTINUATION = "continuation"
_canonical = json_encoder(sort_keys=True, separators=(",", ":"))


def role_name(role: str, roles: Collection[str] = ()) -> str:
    """Name of the items of a role for people: of two sets that are compared the one is the
    benchmark, unless others of the study's `roles` are, and the other its holdout."""
    if "benchmark" in roles:
        return role.replace("_", " ")
    return _PLAIN_ROLES.get(role, role.replace("_", " "))


def role_title(role: str, roles: Collection[str]) -> str:
    """Name of a role in a choice of `roles`: two of them are benchmarks, and are told apart where
    both can be chosen."""
    is_ambiguous = role == "target" and "benchmark" in roles
    return "benchmark beside a holdout" if is_ambiguous else role_name(role)


def digest(*parts: Any) -> str:
    """20 hexadecimal digits that identify `parts` (any JSON; the order of keys is ignored)."""
    return digest_of_text(_canonical(parts))


def digest_of_text(text: str) -> str:
    """20 hexadecimal characters that identify a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]


@dataclass(frozen=True)
class Item:
    """Question with its target. `options` keep the item's order; `source_id` names its origin."""

    item_id: str
    dataset: str
    kind: str
    question: str
    options: tuple[str, ...] = ()
    target: str | None = None
    category: str = ""
    published: str | None = None
    solution: str = ""
    source_id: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict, hash=False)

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
        """An item whose id says where it came from and changes with its content:
        ``gsm8k/17@1c0ffee2``."""
        target = fields.get("target")
        item_id = f"{dataset}/{key}@{digest(kind, question, list(options), target)[:8]}"
        return cls(item_id, dataset, kind, question, tuple(options), **fields)


_LATER = ("effort", "reasoning_budget", "turns", "spread")
# parts of a prompt that are turns of the conversation before it
EXAMPLE_TURNS = ("example question", "example answer")


def messages_of(text: str, turns: Sequence[int]) -> list[dict[str, str]]:
    """A text cut into the messages of a conversation, the user's and the assistant's in turns."""
    texts = [text[start:end] for start, end in zip((0, *turns), (*turns, len(text)), strict=True)]
    return [
        {"role": ("user", "assistant")[i % 2], "content": text_part}
        for i, text_part in enumerate(texts)
    ]


@dataclass(frozen=True)
class Prompt:
    """Named parts in order (`shots`, `stem`, `options`, `cue`, ...); the prompt is their
    concatenation. Parts with a name of EXAMPLE_TURNS stand in front and are turns of their own
    where the model is asked by chat."""

    parts: tuple[tuple[str, str], ...]
    system: str = ""

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.parts)

    @property
    def turns(self) -> tuple[int, ...]:
        """Ends, in characters, of the turns before the last; none of a prompt of one message."""
        return tuple(accumulate(len(text) for name, text in self.parts if name in EXAMPLE_TURNS))

    @property
    def transcript(self) -> str:
        """The text as people read it: with the speaker above each turn where there are several."""
        if not self.turns:
            return self.text
        return "\n\n".join(
            f"[{message['role']}]\n{message['content']}"
            for message in messages_of(self.text, self.turns)
        )


@dataclass(frozen=True)
class Variant:
    """One way of asking an item.

    `order[i]` is the item's own index of the option shown at position i, `labels[i]` the label
    shown there. `key` names the variant within its axis ("base", "rotate-1"), `compared_with` the
    key it is compared with. `material_id` is the accepted paraphrase it was made from, if any.
    `target` is its own canonical answer.
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
        """The same prompt of the same item has one id whatever the axis, so the base is asked once.
        Recordings, which may hold one prompt under several names, tell them apart (`repeat`), and
        so does another reasoning effort (`effort`)."""
        told_apart_by = [self.params[name] for name in ("repeat", "effort") if name in self.params]
        told_apart_by += [self.prompt.turns] if self.prompt.turns else []
        return digest(
            self.item_id,
            self.prompt.system,
            self.prompt.text,
            self.order,
            self.labels,
            self.target,
            *told_apart_by,
        )


@dataclass(frozen=True)
class Request:
    """Request to a model. `first_token` asks one token with its `top_k` alternatives, after the
    prompt and `continuation`; `score` the log-probabilities of `continuation` given the prompt,
    with `spread` also how they lie over the vocabulary. `effort` is a word of EFFORTS or "" for the
    server's own, `reasoning_budget` the tokens that reasoning may take, 0 for the server's own.
    `turns` is where in the prompt each turn of a conversation ends but the last, the user's and the
    assistant's in turns."""

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
    effort: str = ""
    reasoning_budget: int = 0
    turns: tuple[int, ...] = ()
    spread: bool = False

    def declared(self) -> dict[str, Any]:
        """Fields as they are hashed and stored; fields that came later are left out at their
        default, so that no id moves."""
        return {key: value for key, value in vars(self).items() if value or key not in _LATER}

    @property
    def messages(self) -> list[dict[str, str]]:
        """The prompt as messages of a conversation, the system prompt apart."""
        return messages_of(self.prompt, self.turns)

    @property
    def ability(self) -> str:
        """Ability that a backend needs. A token after a given continuation needs what scoring
        needs: a text that the server takes as it is, which chat APIs do not."""
        if self.kind == "first_token":
            return "score" if self.continuation else "first_token_logprobs"
        return SPREAD if self.spread else self.kind


@dataclass(frozen=True)
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


class CallIds:
    """The ids of calls that send one request to several models: the request is written once."""

    def __init__(self, request: Request) -> None:
        self._request = _canonical(request.declared())

    def call_id(self, model: str, revision: str, sample: int = 0) -> str:
        """Return `Call.call_id` of the request."""
        return digest_of_text(f"{_caller(model, revision)},{self._request},{sample},null]")


@lru_cache(1_024)
def _caller(model: str, revision: str) -> str:
    return _canonical([model, revision])[:-1]


@dataclass(frozen=True)
class Completion:
    """Reply to a call. `tokens` are (text, log-probability in nats) of the generated text or of the
    scored continuation; `top_logprobs` the first token's alternatives. None means that the server
    gave none; a placeholder is None too. `finish_reason` is in the words of `flipcore.core.finish`,
    "" where nobody recorded it; `reasoning` is what the model wrote before its answer, which no
    extractor reads. `n_lost` of the `n_attempts` reached the server, as far as anybody can tell,
    and brought no answer: they may have been billed. `n_tokens_reasoning` of the `n_tokens_out` are
    the reasoning's, as far as the server counts them. `spread` is (mean, standard deviation) in
    nats of the vocabulary's log-probabilities, of each of `tokens`, where the request asked for
    it."""

    call_id: str
    status: str  # "ok" or "failed"
    text: str = ""
    finish_reason: str = ""
    tokens: tuple[tuple[str, float], ...] | None = None
    top_logprobs: Mapping[str, float] | None = field(default=None, hash=False)
    n_tokens_in: int | None = None
    n_tokens_out: int | None = None
    cost_usd: float | None = None
    latency_s: float | None = None
    n_attempts: int = 1
    error: str = ""
    raw_reply: str = ""
    reasoning: str = ""
    n_lost: int = 0
    n_tokens_reasoning: int | None = None
    spread: tuple[tuple[float, float], ...] | None = None
    other_model: str = ""  # the name in the reply, where it is not the model that was asked


@dataclass(frozen=True)
class Reading:
    """Reading of completions: an answer or a value, the matched span, or the reason for
    nothing.

    `status` is OK; UNREADABLE (a finished answer states none); CUT (the answer was ended before it
    was given); or ABSENT (nothing came, or the model cannot do it).

    `span` counts characters in the text of the last source. `probabilities` are (canonical option,
    share) pairs that need not sum to 1; `label_mass` is the share of first-token probability on the
    labels, None when it is unknown.
    """

    status: str
    answer: str | None = None
    value: float | None = None
    span: tuple[int, int] | None = None
    reason: str = ""
    probabilities: tuple[tuple[str, float], ...] = ()
    label_mass: float | None = None


@dataclass(frozen=True)
class Readout:
    """One row of the one table: a reading with its place and its sources."""

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
    """Unreadable and cut off are wrong; absent, untargeted and free answers are missing."""
    if (
        reading.status == ABSENT
        or target is None
        or (reading.status == OK and reading.answer is None)
    ):
        return None
    return reading.answer in target.split("\n")
