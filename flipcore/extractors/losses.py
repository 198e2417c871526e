"""Extractors that read token log-probabilities, in nats.

- Answer loss (source 001): how surprising the published answer is after this prompt.
- Question loss: how surprising the prompt itself is.
- Min-k % (Shi et al. 2024): the mean log-probability of a text's least likely tokens; it is high
  where no token surprises.
- Min-k %++ (Zhang et al. 2024): the same with each log-probability as standard deviations from the
  mean over the vocabulary, so that a token is compared with its alternatives.
- Cloze: the option whose text is the likeliest continuation of the prompt.
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
    """Return the need that scores the prompt itself, from its first token; extractors share it."""
    return Need(
        Request("score", prompt="", system=variant.prompt.system, continuation=variant.prompt.text)
    )


def reference_answer(item: Item, variant: Variant) -> str:
    """Return the published answer as a continuation: an option, a worked solution or the number.
    "" if there is none, or if the variant's right answer is not the published one."""
    if variant.target != item.target:
        return ""
    if item.kind == "choice":
        return "" if item.target is None else f" {item.options[int(item.target)]}"
    answer = item.solution.strip() or (item.target or "").split("\n")[0]
    return f" {answer}" if answer else ""


def token_logprobs(completions: Sequence[Completion], subject: str) -> tuple[float, ...] | Reading:
    """Return the token log-probabilities of the one scored text.

    Parameters
    ----------
    completions
        The first one is the scored text.
    subject
        Name of the text in the reason of an absent reading ("the question").

    Returns
    -------
    tuple of float, or Reading
        Log-probabilities in nats, one per token; the absent reading where there are none. Without
        a prompt, servers cannot score the first token; it is left out in every variant.
    """
    if failed := failure(completions):
        return failed
    tokens = usable_tokens(completions[0].tokens)
    if tokens is None:
        return absent(f"The server gave no log-probabilities of {subject}, or placeholders only.")
    return tuple(value for _, value in tokens)


@dataclass(frozen=True)
class _Scored(Extractor):
    """Base of values from the log-probabilities of one text, by default the prompt."""

    applies_to: ClassVar[frozenset[str]] = frozenset(KINDS)
    abilities: ClassVar[frozenset[str]] = frozenset({"score"})
    gives: ClassVar[str] = VALUE
    subject: ClassVar[str] = "the question"

    def needs(
        self, item: Item, variant: Variant, ask: Ask, so_far: Sequence[Completion]
    ) -> Sequence[Need]:
        return [question_need(variant)]

    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        values = token_logprobs(completions, self.subject)
        return values if isinstance(values, Reading) else self.read_values(values)

    def read_values(self, values: Sequence[float]) -> Reading:
        """Return the reading of log-probabilities, one per token."""
        raise NotImplementedError


@dataclass(frozen=True)
class QuestionLoss(_Scored):
    """`norm` is "sum" for the total over the prompt's tokens, "token" for the mean per token."""

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

    def read_values(self, values: Sequence[float]) -> Reading:
        total = -math.fsum(values)
        return Reading(OK, value=total / len(values) if self.norm == "token" else total)


@dataclass(frozen=True)
class AnswerLoss(QuestionLoss):
    """`norm` is "sum" for the total over the answer's tokens, as in the source, or "token"."""

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
        if not answer:
            return []
        prompt = variant.prompt
        return [Need(Request("score", prompt.text, system=prompt.system, continuation=answer))]

    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        if not reference_answer(item, variant):
            return absent("There is no published answer to this wording of the item.")
        return super().read(item, variant, completions)


@dataclass(frozen=True)
class MinK(_Scored):
    """`pct` percent of the tokens, at least one, count as the least likely."""

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

    def read_values(self, values: Sequence[float]) -> Reading:
        n_lowest = max(1, int(len(values) * self.pct / 100))
        return Reading(OK, value=math.fsum(sorted(values)[:n_lowest]) / n_lowest)


@dataclass(frozen=True)
class MinKPlus(MinK):
    """`pct` is as in Min-k %."""

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
        values = token_logprobs(completions, "the question")
        if isinstance(values, Reading):
            return values
        spread = completions[0].spread or ()
        if len(spread) != len(values):
            return absent(
                "The model gave log-probabilities, and not how they lie over its vocabulary."
            )
        # Without spread all tokens are equally likely, so each equals the mean.
        z_scores = [
            (value - mean) / sd if sd > 0 else 0.0
            for value, (mean, sd) in zip(values, spread, strict=True)
        ]
        return self.read_values(z_scores)


@dataclass(frozen=True)
class Cloze(Extractor):
    """`norm` is "token" or "char" for the mean log-probability per token or character of the
    option's text, or "sum", which puts long options at a disadvantage."""

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
        needs = []
        for option in variant.order:
            text, system = variant.prompt.text, variant.prompt.system
            continuation = f" {item.options[option]}"
            needs.append(Need(Request("score", text, system=system, continuation=continuation)))
        return needs

    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        if failed := failure(completions, len(variant.order)):
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
        best_score = max(scores.values())
        # Subtract the best score first, so that not all exponentials underflow.
        total = sum(math.exp(score - best_score) for score in scores.values())
        shares = tuple(
            (option, math.exp(score - best_score) / total) for option, score in scores.items()
        )
        winners = [option for option, score in scores.items() if score == best_score]
        if len(winners) > 1:
            return unreadable(f"{len(winners)} options have the same score.", probabilities=shares)
        return Reading(OK, answer=winners[0], value=best_score, probabilities=shares)

    def _score(self, tokens, text: str) -> float:
        total = math.fsum(value for _, value in tokens)
        return total / {"sum": 1, "token": len(tokens), "char": max(1, len(text))}[self.norm]


EXTRACTORS = (Cloze(), AnswerLoss(), QuestionLoss(), MinK(), MinKPlus())
