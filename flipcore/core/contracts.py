"""Contracts of plug-ins. A plug-in is one file that ends in one constant, listed in its folder's
tuple; close relatives share a file that ends in the tuple of all of them. Another package offers
its own through an entry point (`flipcore.core.plugins`).

Parameters of a plug-in are the fields of its frozen dataclass, so a study names them and a page can
draw them: `param` gives a field its label and its choices. `title` and `about` are for people: a
few words, and one sentence. Whatever a plug-in need not say has a default here, so nobody asks
whether it is there.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from flipcore.core.records import (
    ABILITIES,
    CONTINUATION,
    KINDS,
    Call,
    Completion,
    Item,
    Reading,
    Readout,
    Request,
    Variant,
    correctness,
)
from flipcore.core.wordings import PARAPHRASE


@dataclass(frozen=True)
class Paraphrase:
    """A stored wording of an item's question; `state` is accepted, rejected or unreviewed, `change`
    what it changes (`wordings`)."""

    pair_id: str
    text: str
    state: str
    generator: str
    change: str = PARAPHRASE


@dataclass(frozen=True)
class Material:
    """Material that axes are handed because they may not look it up: stored paraphrases by item id,
    name lists, by item id the items that may stand before it as examples, and of the study's own
    prompt how many examples it shows and whether it has a system prompt; the study's axes by name,
    for one that joins the settings of others."""

    paraphrases: Mapping[str, Sequence[Paraphrase]] = field(default_factory=dict)
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    examples: Mapping[str, Sequence[Item]] = field(default_factory=dict)
    n_examples: int = 0
    has_system: bool = False
    axes: "Mapping[str, Axis]" = field(default_factory=dict)

    # Axes of other packages may pass it by place.
    def wordings(self, item: Item, with_unreviewed: bool) -> list[Paraphrase]:  # noqa: FBT001
        """The stored wordings of an item that may be asked: accepted ones, and unreviewed ones
        where they are wanted too."""
        states = {"accepted", "unreviewed"} if with_unreviewed else {"accepted"}
        return [
            wording for wording in self.paraphrases.get(item.item_id, ()) if wording.state in states
        ]


# what is asked for where it is no CONTINUATION, and what an extractor gives
ANSWER, VALUE = "answer", "value"


def param(default: Any, label: str = "", choices: Sequence[str] = ()) -> Any:
    """Parameter of a plug-in: its default, its title, and its values (any without)."""
    return field(
        default=default,
        metadata={"label": label} | ({"choices": tuple(choices)} if choices else {}),
    )


class Plugin(ABC):
    """Names and words of a plug-in for people. `name` stands in studies, tables and files and never
    changes."""

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]
    applies_to: ClassVar[frozenset[str]]


class Axis(Plugin):
    """A change: an item -> its variants, base first. Pure; all randomness comes from `rng`.

    `harmless`: the right answer stays, so that another answer is a flip. Without it, another answer
    under the axis is never one. `rewrites`: the item becomes another one, or is damaged: an axis
    for questions of memory. `drop_gap`: what it costs in accuracy is compared between benchmark and
    controls; `past` then says of items what was done ("numbers resampled"). `asks` says whether its
    variants ask for an answer or for a continuation.
    """

    harmless: ClassVar[bool] = True
    rewrites: ClassVar[bool] = False
    drop_gap: ClassVar[bool] = False
    past: ClassVar[str] = ""
    asks: ClassVar[str] = ANSWER

    @abstractmethod
    def variants(
        self, item: Item, layout: str, rng: np.random.Generator, material: Material
    ) -> list[Variant]:
        """The base and its changes; where nothing can be changed the base alone, with `refusal` and
        `why` in its params."""


@dataclass(frozen=True)
class Ask:
    """Settings of asking a model: sampling, and `judge`, the model that judges if one is needed."""

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
    """A request that an extractor reads; `answer_at` is the position of the need whose text a judge
    is shown, or a sandbox runs. One with a `sample` is asked once for all samples. An `optional`
    one, always the last, is left out where the model lacks the ability."""

    request: Request
    answer_at: int | None = None
    sample: int | None = None
    optional: bool = False


class Extractor(Plugin):
    """A way to read completions. Never guesses: a failed completion is an absent reading.

    `abilities` are what a model must be able to do. `gives` is an answer, or a value that is in no
    flip; `asks` is an answer, or a continuation of a flipped text. `needs_judge`: another model
    reads the answer, which a study must name; `needs_sandbox`: the answer is code, which is run.
    `reads_together`: what it reads in an answer depends on the item's others (`read_together`).
    """

    abilities: ClassVar[frozenset[str]]
    gives: ClassVar[str] = ANSWER
    asks: ClassVar[str] = ANSWER
    needs_judge: ClassVar[bool] = False
    needs_sandbox: ClassVar[bool] = False
    reads_together: ClassVar[bool] = False

    def why_not(self) -> str:
        """Say why it cannot read here and what to do; "" where it can."""
        return ""

    @property
    def reads_text_alone(self) -> bool:
        """True where a written answer is all that it needs, so that stored ones can be read."""
        return self.abilities == {"generate"} and not self.needs_judge and not self.needs_sandbox

    @abstractmethod
    def needs(
        self, item: Item, variant: Variant, ask: Ask, so_far: Sequence[Completion]
    ) -> Sequence[Need]:
        """Needs given what came back so far (a judge needs the text first); a later answer only
        adds to them."""

    @abstractmethod
    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        """Read the completions, which come in the order of the needs."""

    def judge_requests(self, item: Item, requests: Sequence[Request]) -> list[Request]:
        """Requests to the judge, at most, where these are asked of an item, for the price; an
        estimate of how long each is."""
        return list(requests) if self.needs_judge else []

    def read_together(
        self,
        item: Item,
        answers: Sequence[tuple[Variant, Completion]],
        reply_to: Callable[[Need], Completion | None],
    ) -> list[tuple[Reading, list[Need]]]:
        """Read all answers of one model to an item together, each with its needs of the judge
        (`answer_at` is a place in `answers`), replied to or not. Called again while a need has no
        reply: more replies only add needs."""
        raise NotImplementedError


class Backend(ABC):
    """A way to get completions. `revision` changes when the weights or the behaviour change. `down`
    is a sentence where the model is lost for good, and the run then stops asking; `trouble` one for
    people about what is slow or odd just now. `takes` names a reasoning effort or budget where the
    model takes one. What is neither abstract nor a property here may be left as it is: it does
    nothing."""

    name: str
    revision: str
    abilities: frozenset[str]
    simulated: bool = False
    takes: frozenset[str] = frozenset()

    @property
    def down(self) -> str:
        return ""

    @property
    def trouble(self) -> str:
        return ""

    @abstractmethod
    def why_not(self, ability: str) -> str:
        """Reason for which the model lacks an ability, as a sentence; "" where it does not."""

    @abstractmethod
    async def complete(self, call: Call) -> Completion:
        """Never raises for a server's fault: that is a failed completion with a sentence."""

    def prepare(  # noqa: B027
        self,
        items: Iterable[Item],
        variants: Iterable[Variant],
        roles: Mapping[str, str] | None = None,
    ) -> None:
        """Hear what will be asked before it is: for models that cannot read what a prompt means."""

    def share_limits(self, share: float, *, is_again: bool = False) -> None:  # noqa: B027
        """Told that it is one of several that ask under one account: this share of what may be sent
        in a minute is its own. With `is_again` another one has begun to use it up."""

    def halt(self) -> None:  # noqa: B027
        """Nothing more is wanted: whoever waits may stop waiting."""

    async def close(self) -> None:  # noqa: B027
        """Nothing will be asked any more."""


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
    sandbox: Backend | None = None

    def readout(
        self,
        variant: Variant,
        sample: int,
        extractor: str,
        reading: Reading,
        sources: tuple[str, ...],
    ) -> Readout:
        """Readout of the answer to a variant, right or wrong by its target."""
        place = (
            self.backend.name,
            self.item.item_id,
            variant.axis,
            variant.variant_id,
            sample,
            extractor,
        )
        return Readout(*place, reading, correctness(reading, variant.target), sources)


class CallProtocol(ABC):
    """Protocol of an item's calls: which come next, and its readouts once none is left."""

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]

    @abstractmethod
    def next_calls(self, history: History) -> list[Call]:
        """Calls whose completions are not there yet; none when the item is finished."""

    @abstractmethod
    def readouts(self, history: History) -> list[Readout]:
        """A readout for each cell of the item, absent ones with their reason."""

    def most_calls(self, history: History) -> list[Call]:
        """The most that it can ask, for the projection: an adaptive protocol knows more than its
        next calls."""
        return self.next_calls(history)

    def variants(self, item: Item, layout: str) -> list[Variant]:
        """Prompts of its own, for models that must be told what a prompt means."""
        return []


def axis_fault(axis: Axis) -> str:
    """Fault of an axis that no type can say; "" where there is none."""
    return _kinds_fault(axis.applies_to) or (
        "" if axis.asks in (ANSWER, CONTINUATION) else f"it asks for {axis.asks!r}."
    )


def extractor_fault(extractor: Extractor) -> str:
    """Fault of an extractor that no type can say; "" where there is none."""
    unknown = sorted(set(extractor.abilities) - set(ABILITIES))
    if unknown or not extractor.abilities:
        return (
            f"it needs {', '.join(unknown) or 'no ability'}; the abilities of models are "
            f"{', '.join(ABILITIES)}."
        )
    return _kinds_fault(extractor.applies_to) or (
        "" if extractor.gives in (ANSWER, VALUE) else f"it gives {extractor.gives!r}."
    )


def _kinds_fault(kinds: frozenset[str]) -> str:
    if kinds and set(kinds) <= set(KINDS):
        return ""
    return f"it applies to {sorted(kinds)}; items are {', '.join(KINDS)}."
