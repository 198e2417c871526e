"""What a plug-in must offer. A plug-in is one file that ends in one constant, listed in its folder's tuple; close relatives share
a file that ends in the tuple of all of them.

Parameters of a plug-in are the fields of its frozen dataclass, so a study names them and a page can draw them.
`title` and `about` are for people: a few words, and one sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from flipcore.core.records import Call, Completion, Item, Prompt, Reading, Readout, Request, Variant


@dataclass(frozen=True)
class Paraphrase:
    """A stored paraphrase of an item's question; `state` is accepted, rejected or unreviewed."""

    pair_id: str
    text: str
    state: str
    generator: str


@dataclass(frozen=True)
class Material:
    """What axes are handed because they may not look it up: stored paraphrases by item id, name lists, and by item id the
    items that may stand before it as examples."""

    paraphrases: Mapping[str, Sequence[Paraphrase]] = field(default_factory=dict)
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    examples: Mapping[str, Sequence[Item]] = field(default_factory=dict)


class Loader(Protocol):
    """A dataset: one benchmark or file kind -> items. `path` is a local copy; without it the hub is asked."""

    name: str
    title: str
    about: str
    kind: str

    def items(self, path: str | None = None, **options) -> Iterator[Item]: ...


class Axis(Protocol):
    """A change: an item -> its variants, base first. Pure; all randomness comes from `rng`. A change after which another
    answer may be right says `harmless = False`: a different answer under it is no flip."""

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]
    applies_to: ClassVar[frozenset[str]]

    def variants(self, item: Item, layout: str, rng: np.random.Generator, material: Material) -> list[Variant]: ...


@dataclass(frozen=True)
class Ask:
    """How a model is asked: sampling, and `judge`, the model that judges if an extractor needs one."""

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 256
    seed: int = 0
    stop: tuple[str, ...] = ()
    judge: str | None = None
    effort: str = ""
    reasoning_budget: int = 0


@dataclass(frozen=True)
class Need:
    """A request that an extractor reads; `judged` names the position of the need whose text a judge is shown. One with a
    `sample` is asked once for all samples. An `optional` one, always the last, is left out where the model lacks the ability."""

    request: Request
    judged: int | None = None
    sample: int | None = None
    optional: bool = False


class Extractor(Protocol):
    """A way to read completions. `needs` says what to ask given what came back so far (a judge needs the text first);
    `read` gets the completions in the order of the needs. Never guesses: a failed completion is an absent reading.

    An extractor that reads a number instead of an answer says `gives = "value"`, and one that reads continuations of
    flipped texts instead of answers says `asks = "continuation"`; without a word it is "answer" and "answer".
    """

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]
    applies_to: ClassVar[frozenset[str]]
    abilities: ClassVar[frozenset[str]]

    def needs(self, item: Item, variant: Variant, ask: Ask, so_far: Sequence[Completion]) -> Sequence[Need]: ...

    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading: ...


class Backend(Protocol):
    """A way to get completions. `complete` never raises for a server's fault: it returns a failed completion with a
    sentence. `revision` changes when the weights or the behaviour change. One that may be lost for good says so in `down`, a
    sentence or ""; the run then stops asking. One that takes a reasoning effort or budget names it in `takes`."""

    name: str
    revision: str
    abilities: frozenset[str]
    simulated: bool

    def why_not(self, ability: str) -> str: ...

    async def complete(self, call: Call) -> Completion: ...

    async def close(self) -> None: ...


@dataclass(frozen=True)
class History:
    """All that a protocol may look at: one item, one model, and what came back so far."""

    item: Item
    variants: Sequence[Variant]
    extractors: Sequence[Extractor]
    backend: Backend
    ask: Ask
    n_samples: int
    completions: Mapping[str, Completion]
    judge: Backend | None = None


class CallProtocol(Protocol):
    """Which calls come next for an item, and what its readouts are once none is left.

    An adaptive one also says the most that it can ask, `most_calls(history)`, for the projection; one with prompts of its own
    lists them as `variants(item, layout)`, for models that must be told what a prompt means.
    """

    name: str
    title: str
    about: str

    def next_calls(self, history: History) -> list[Call]: ...

    def readouts(self, history: History) -> list[Readout]: ...


__all__ = [
    "Ask",
    "Axis",
    "Backend",
    "CallProtocol",
    "Extractor",
    "History",
    "Loader",
    "Material",
    "Need",
    "Paraphrase",
    "Prompt",
]
