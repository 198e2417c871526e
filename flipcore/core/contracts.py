"""Contracts of plug-ins.

A plug-in is one file that ends in one constant, which is listed in its folder's tuple. Close
relatives share a file that ends in a tuple of them. Another package offers its plug-ins through an
entry point (`flipcore.core.plugins`).

Parameters of a plug-in are the fields of its frozen dataclass: a study sets them by name, and a
page draws an input for each. `param` gives a field its label and its choices. `title` and `about`
are for people: a few words, and one sentence. Optional members have a default here, so no caller
has to test for them.
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
    """A stored wording of an item's question.
    `state` is accepted, rejected or unreviewed; `change` is a word of `flipcore.core.wordings`."""

    pair_id: str
    text: str
    state: str
    generator: str
    change: str = PARAPHRASE


@dataclass(frozen=True)
class Material:
    """Data that axes get from their caller, because axes are pure and look nothing up."""

    # Item id -> its stored paraphrases.
    paraphrases: Mapping[str, Sequence[Paraphrase]] = field(default_factory=dict)
    # Name of a list -> its names.
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # Item id -> the items that may be shown before it as examples.
    examples: Mapping[str, Sequence[Item]] = field(default_factory=dict)
    n_examples: int = 0  # in the study's own prompt
    has_system: bool = False  # whether the study's own prompt has a system prompt
    # The study's axes by name, for the axis that combines the settings of others.
    axes: "Mapping[str, Axis]" = field(default_factory=dict)

    # Axes of other packages may pass it by position.
    def wordings(self, item: Item, with_unreviewed: bool) -> list[Paraphrase]:  # noqa: FBT001
        """Return the wordings that may be asked: the accepted, on request also the unreviewed."""
        states = {"accepted", "unreviewed"} if with_unreviewed else {"accepted"}
        return [
            wording for wording in self.paraphrases.get(item.item_id, ()) if wording.state in states
        ]


# `Axis.asks` and `Extractor.asks` are ANSWER or CONTINUATION; `Extractor.gives` is ANSWER or VALUE.
ANSWER, VALUE = "answer", "value"


def param(default: Any, label: str = "", choices: Sequence[str] = ()) -> Any:
    """Return a dataclass field for a parameter; without `choices` it takes any value."""
    return field(
        default=default,
        metadata={"label": label} | ({"choices": tuple(choices)} if choices else {}),
    )


class Plugin(ABC):
    """Names of a plug-in. `name` is stored in studies, tables and files, so it never changes.
    `applies_to` are kinds of items (`records.KINDS`)."""

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]
    applies_to: ClassVar[frozenset[str]]


class Axis(Plugin):
    """A change of prompts: makes the variants of an item. Pure; all randomness comes from `rng`."""

    # The right answer stays the same, so another answer is a flip. If False, nothing is a flip.
    harmless: ClassVar[bool] = True
    # The item becomes another one or is damaged, for questions about memory.
    rewrites: ClassVar[bool] = False
    # Its cost in accuracy is compared between benchmark and controls; `past` then says what was
    # done to the items ("numbers resampled").
    drop_gap: ClassVar[bool] = False
    past: ClassVar[str] = ""
    asks: ClassVar[str] = ANSWER  # or CONTINUATION

    @abstractmethod
    def variants(
        self, item: Item, layout: str, rng: np.random.Generator, material: Material
    ) -> list[Variant]:
        """Return the base and its changes, the base first. Where nothing can be changed, return the
        base alone, with `refusal` (the class) and `why` (the sentence) in its params."""


@dataclass(frozen=True)
class Ask:
    """Settings of the calls to a model. `judge` names the model that judges, if one is needed."""

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
    """A request whose completion an extractor reads."""

    request: Request
    # Position of the need whose text the judge sees or the sandbox runs; None: the model is asked.
    answer_at: int | None = None
    # If set, the request is sent once, with this number, and all samples share its completion.
    sample: int | None = None
    # Left out if the model lacks the ability. Only the last need may be optional.
    optional: bool = False


class Extractor(Plugin):
    """A method that takes answers out of completions.
    It never guesses: a failed completion gives an absent reading."""

    abilities: ClassVar[frozenset[str]]  # that a model needs (`records.ABILITIES`)
    gives: ClassVar[str] = ANSWER  # or VALUE: a number, which is in no flip
    asks: ClassVar[str] = ANSWER  # or CONTINUATION: which variants it reads
    needs_judge: ClassVar[bool] = False  # another model, which the study names, reads the answer
    needs_sandbox: ClassVar[bool] = False  # the answer is code, which is run
    # The reading of an answer depends on the item's other answers (`read_together`).
    reads_together: ClassVar[bool] = False

    def why_not(self) -> str:
        """Return a sentence: why it cannot read on this machine and what to do; "" if it can."""
        return ""

    @property
    def reads_text_alone(self) -> bool:
        """True if it needs only a written answer, so that it can read stored outputs."""
        return self.abilities == {"generate"} and not self.needs_judge and not self.needs_sandbox

    @abstractmethod
    def needs(
        self, item: Item, variant: Variant, ask: Ask, so_far: Sequence[Completion]
    ) -> Sequence[Need]:
        """Return the needs, given the completions so far (a judge needs the text first).
        Further completions may only append needs."""

    @abstractmethod
    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        """Read the completions, which come in the order of the needs."""

    def judge_requests(self, item: Item, requests: Sequence[Request]) -> list[Request]:
        """Return the most requests that a judge can get if `requests` are sent for an item.
        Only the price is projected from them, so their lengths may be estimates."""
        return list(requests) if self.needs_judge else []

    def read_together(
        self,
        item: Item,
        answers: Sequence[tuple[Variant, Completion]],
        reply_to: Callable[[Need], Completion | None],
    ) -> list[tuple[Reading, list[Need]]]:
        """Read all answers of one model to an item together.

        Returns for each answer its reading and all its needs of the judge; a need's `answer_at` is
        a position in `answers`. The method is called again until each need has a reply. Further
        replies may only append needs.
        """
        raise NotImplementedError


class Backend(ABC):
    """A model that answers calls. Methods that are not abstract are optional: they do nothing."""

    name: str
    revision: str  # changes whenever the weights or the behavior change
    abilities: frozenset[str]
    simulated: bool = False
    takes: frozenset[str] = frozenset()  # of "effort" and "reasoning_budget"

    @property
    def down(self) -> str:
        """A sentence if the model is lost for good, so that the run stops asking it; else ""."""
        return ""

    @property
    def trouble(self) -> str:
        """A sentence about what is slow or odd at the moment; else ""."""
        return ""

    @abstractmethod
    def why_not(self, ability: str) -> str:
        """Return why the model lacks an ability, as a sentence; "" if it has it."""

    @abstractmethod
    async def complete(self, call: Call) -> Completion:
        """Answer a call. A server's fault is not raised: it gives a failed completion with a
        sentence in `error`."""

    def prepare(  # noqa: B027
        self,
        items: Iterable[Item],
        variants: Iterable[Variant],
        roles: Mapping[str, str] | None = None,
    ) -> None:
        """Take note of the items and variants to come, before any call.
        Simulated models need them, because they cannot understand a prompt."""

    def share_limits(self, share: float, *, is_again: bool = False) -> None:  # noqa: B027
        """Use only this share (0 to 1) of the account's rate limit: other processes use the same
        account. `is_again` says that another process has begun to use it up."""

    def halt(self) -> None:  # noqa: B027
        """Stop waiting: no further reply is wanted."""

    async def close(self) -> None:  # noqa: B027
        """Release connections and memory: no call will follow."""


@dataclass(frozen=True)
class History:
    """The view of a protocol: one item, one model, and the completions so far by call id."""

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
        """Return the readout of the answer to a variant, right or wrong by its target."""
        return Readout(
            model=self.backend.name,
            item_id=self.item.item_id,
            axis=variant.axis,
            variant_id=variant.variant_id,
            sample=sample,
            extractor=extractor,
            reading=reading,
            is_correct=correctness(reading, variant.target),
            source_ids=sources,
        )


class CallProtocol(ABC):
    """Decides which calls an item needs next, and makes its readouts when none is left."""

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]

    @abstractmethod
    def next_calls(self, history: History) -> list[Call]:
        """Return the calls that still lack a completion; none when the item is finished."""

    @abstractmethod
    def readouts(self, history: History) -> list[Readout]:
        """Return one readout per cell of the item; absent ones carry their reason."""

    def most_calls(self, history: History) -> list[Call]:
        """Return all calls that the item may need at most, to project the cost.
        An adaptive protocol knows more calls than its next ones."""
        return self.next_calls(history)

    def variants(self, item: Item, layout: str) -> list[Variant]:
        """Return the protocol's own prompts, for models that must be told what a prompt means."""
        return []


def axis_fault(axis: Axis) -> str:
    """Return a fault of an axis that types cannot express, as a clause; "" for none."""
    return _kinds_fault(axis.applies_to) or (
        "" if axis.asks in (ANSWER, CONTINUATION) else f"it asks for {axis.asks!r}."
    )


def extractor_fault(extractor: Extractor) -> str:
    """Return a fault of an extractor that types cannot express; "" for none."""
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
