"""Readouts of token log-probabilities, in nats, and what to say when there are none.

Answer loss (source 001): how surprising the published answer is after this wording. Question loss:
how surprising the wording of the item itself is. Min-k % (Shi et al. 2024): the mean
log-probability of a text's least likely tokens; high where nothing surprises. Min-k %++ (Zhang et
al. 2024): the same of log-probabilities that are measured in standard deviations from their mean
over the vocabulary, so that a token is compared with what could have stood in its place. Cloze: the
option whose text is the likeliest continuation of the prompt.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from flipcore.core.contracts import VALUE, Ask, Extractor, Need, param
from flipcore.core.errors import BadInput
from flipcore.core.records import KINDS, OK, SPREAD, Completion, Item, Reading, Request, Variant
from flipcore.extractors.readings import absent, failure, unreadable
from flipcore.text.logprobs import usable_tokens

NORMS = ("sum", "token")
CLOZE_NORMS = (*NORMS, "char")


def question_need(variant: Variant) -> Need:
    """The prompt itself, scored from nothing. All its readers share the request."""
    return Need(
        Request("score", prompt="", system=variant.prompt.system, continuation=variant.prompt.text)
    )


def reference_answer(item: Item, variant: Variant) -> str:
    """The published answer as it follows the prompt: an option's text, a worked solution or else
    the number. Empty where there is none, or where the variant asks for another answer than the
    published one."""
    if variant.target != item.target:
        return ""
    if item.kind == "choice":
        return "" if item.target is None else f" {item.options[int(item.target)]}"
    answer = item.solution.strip() or (item.target or "").split("\n")[0]
    return f" {answer}" if answer else ""


def nats(completions: Sequence[Completion], subject: str) -> tuple[float, ...] | Reading:
    """Return the token log-probabilities of the one scored text.

    Parameters
    ----------
    completions
        The first is the scored text.
    subject
        The text's name in the sentence of an absent reading ("the question").

    Returns
    -------
    tuple of float, or Reading
        Log-probabilities in nats, one per token; the absent reading where there are none. A server
        that scores from nothing cannot score the first token; it leaves it out, under every wording
        alike.
    """
    failed = failure(completions)
    if failed:
        return failed
    tokens = usable_tokens(completions[0].tokens)
    if tokens is None:
        return absent(f"The server gave no log-probabilities of {subject}, or placeholders only.")
    return tuple(value for _, value in tokens)


@dataclass(frozen=True)
class _Scored(Extractor):
    """A value of the log-probabilities of one text: the wording, unless a class says another."""

    applies_to: ClassVar[frozenset[str]] = frozenset(KINDS)
    abilities: ClassVar[frozenset[str]] = frozenset({"score"})
    gives: ClassVar[str] = VALUE
    subject: ClassVar[str] = "the question"

    def needs(
        self, item: Item, variant: Variant, ask: Ask, so_far: Sequence[Completion]
    ) -> Sequence[Need]:
        return [question_need(variant)]

    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        values = nats(completions, self.subject)
        return values if isinstance(values, Reading) else self.of(values)

    def of(self, values: Sequence[float]) -> Reading:
        raise NotImplementedError


@dataclass(frozen=True)
class QuestionLoss(_Scored):
    """`norm`: the total over the prompt's tokens or the mean a token."""

    norm: str = param("sum", "likelihood per", choices=NORMS)
    name: ClassVar[str] = "question_loss"
    title: ClassVar[str] = "Question loss (nats)"
    about: ClassVar[str] = (
        "How surprising the wording itself is; a text that was trained on is less so than a "
        "paraphrase of it."
    )

    def __post_init__(self) -> None:
        if self.norm not in NORMS:
            raise BadInput(
                f"{self.title} has the norm {self.norm!r}; choose one of {', '.join(NORMS)}."
            )

    def of(self, values: Sequence[float]) -> Reading:
        total = -math.fsum(values)
        return Reading(OK, value=total / len(values) if self.norm == "token" else total)


@dataclass(frozen=True)
class AnswerLoss(QuestionLoss):
    """`norm`: the total over the answer's tokens (the source's) or the mean a token."""

    name: ClassVar[str] = "answer_loss"
    title: ClassVar[str] = "Answer loss (nats)"
    about: ClassVar[str] = (
        "How surprising the published answer is; compared between the published wording and "
        "another."
    )
    subject: ClassVar[str] = "the answer"

    def needs(
        self, item: Item, variant: Variant, ask: Ask, so_far: Sequence[Completion]
    ) -> Sequence[Need]:
        answer = reference_answer(item, variant)
        return (
            [
                Need(
                    Request(
                        "score",
                        variant.prompt.text,
                        system=variant.prompt.system,
                        continuation=answer,
                    )
                )
            ]
            if answer
            else []
        )

    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        if not reference_answer(item, variant):
            return absent("There is no published answer to this wording of the item.")
        return super().read(item, variant, completions)


@dataclass(frozen=True)
class MinK(_Scored):
    """`pct`: percent of tokens that count as the least likely; at least one token."""

    pct: float = param(20.0, "lowest % of tokens")
    name: ClassVar[str] = "min_k"
    title: ClassVar[str] = "Min-k % (nats a token)"
    about: ClassVar[str] = (
        "The mean log-probability of the wording's least likely tokens; it needs no second wording."
    )

    def __post_init__(self) -> None:
        if not 0 < self.pct <= 100:
            raise BadInput(
                f"Min-k has pct = {self.pct}; give a share above 0 and up to 100 percent."
            )

    def of(self, values: Sequence[float]) -> Reading:
        n_lowest = max(1, int(len(values) * self.pct / 100))
        return Reading(OK, value=math.fsum(sorted(values)[:n_lowest]) / n_lowest)


@dataclass(frozen=True)
class MinKPlus(MinK):
    """`pct` as of min-k %."""

    name: ClassVar[str] = "min_k_plus"
    title: ClassVar[str] = "Min-k %++ (standard deviations)"
    about: ClassVar[str] = (
        "Min-k % with each token measured against the whole vocabulary in its place."
    )
    abilities: ClassVar[frozenset[str]] = frozenset({SPREAD})

    def needs(
        self, item: Item, variant: Variant, ask: Ask, so_far: Sequence[Completion]
    ) -> Sequence[Need]:
        need = question_need(variant)
        return [replace(need, request=replace(need.request, spread=True))]

    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        values = nats(completions, "the question")
        if isinstance(values, Reading):
            return values
        spread = completions[0].spread or ()
        if len(spread) != len(values):
            return absent(
                "The model gave log-probabilities, and not how they lie over its vocabulary."
            )
        # a vocabulary of one likelihood has no spread, and the token that came is its mean
        return self.of(
            [
                (x - mean) / sd if sd > 0 else 0.0
                for x, (mean, sd) in zip(values, spread, strict=True)
            ]
        )


@dataclass(frozen=True)
class Cloze(Extractor):
    """`norm`: mean log-probability a token or a character of the option's text, or the sum (under
    which long options lose)."""

    norm: str = param("token", "likelihood per", choices=CLOZE_NORMS)
    name: ClassVar[str] = "cloze"
    title: ClassVar[str] = "Option text (cloze)"
    about: ClassVar[str] = (
        "The option whose text the model finds the likeliest continuation; labels play no part."
    )
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice"})
    abilities: ClassVar[frozenset[str]] = frozenset({"score"})

    def __post_init__(self) -> None:
        if self.norm not in CLOZE_NORMS:
            raise BadInput(
                f"Cloze has the norm {self.norm!r}; choose one of {', '.join(CLOZE_NORMS)}."
            )

    def needs(
        self, item: Item, variant: Variant, ask: Ask, so_far: Sequence[Completion]
    ) -> Sequence[Need]:
        text = variant.prompt.text
        return [
            Need(
                Request(
                    "score",
                    text,
                    system=variant.prompt.system,
                    continuation=f" {item.options[option]}",
                )
            )
            for option in variant.order
        ]

    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        failed = failure(completions, len(variant.order))
        if failed:
            return failed
        scores = {}
        for option, completion in zip(variant.order, completions, strict=True):
            tokens = usable_tokens(completion.tokens)
            if tokens is None:
                return absent(
                    f"The server gave no log-probabilities of option {option + 1}, or placeholders "
                    "only."
                )
            scores[str(option)] = self._score(tokens, item.options[option])
        best = max(scores.values())
        # Less the best score, so that no exponential underflows.
        total = sum(math.exp(score - best) for score in scores.values())
        shares = tuple((option, math.exp(score - best) / total) for option, score in scores.items())
        winners = [option for option, score in scores.items() if score == best]
        if len(winners) > 1:
            return unreadable(f"{len(winners)} options have the same score.", probabilities=shares)
        return Reading(OK, answer=winners[0], value=best, probabilities=shares)

    def _score(self, tokens, text: str) -> float:
        nats = math.fsum(value for _, value in tokens)
        return nats / {"sum": 1, "token": len(tokens), "char": max(1, len(text))}[self.norm]


EXTRACTORS = (Cloze(), AnswerLoss(), QuestionLoss(), MinK(), MinKPlus())
