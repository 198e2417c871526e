"""Cloze: the option whose text is the likeliest continuation of the prompt."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from flipcore.core.contracts import Ask, Extractor, Need, param
from flipcore.core.errors import BadInput
from flipcore.core.records import OK, Completion, Item, Reading, Request, Variant
from flipcore.extractors.readings import absent, failure, unreadable
from flipcore.text.logprobs import usable_tokens

NORMS = ("sum", "token", "char")


@dataclass(frozen=True)
class Cloze(Extractor):
    """`norm`: mean log-probability a token or a character of the option's text, or the sum (under which long options lose)."""

    norm: str = param("token", "likelihood per", NORMS)
    name: ClassVar[str] = "cloze"
    title: ClassVar[str] = "Option text (cloze)"
    about: ClassVar[str] = "The option whose text the model finds the likeliest continuation; labels play no part."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice"})
    abilities: ClassVar[frozenset[str]] = frozenset({"score"})

    def __post_init__(self) -> None:
        if self.norm not in NORMS:
            raise BadInput(f"Cloze has the norm {self.norm!r}; choose one of {', '.join(NORMS)}.")

    def needs(self, item: Item, variant: Variant, ask: Ask, so_far: Sequence[Completion]) -> Sequence[Need]:
        return [
            Need(Request("score", variant.prompt.text, variant.prompt.system, continuation=f" {item.options[option]}"))
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
                return absent(f"The server gave no log-probabilities of option {option + 1}, or placeholders only.")
            scores[str(option)] = self._score(tokens, item.options[option])
        best = max(scores.values())
        total = sum(math.exp(score - best) for score in scores.values())
        shares = tuple((option, math.exp(score - best) / total) for option, score in scores.items())
        winners = [option for option, score in scores.items() if score == best]
        if len(winners) > 1:
            return unreadable(f"{len(winners)} options have the same score.", probabilities=shares)
        return Reading(OK, answer=winners[0], value=best, probabilities=shares)

    def _score(self, tokens, text: str) -> float:
        nats = math.fsum(value for _, value in tokens)
        return nats / {"sum": 1, "token": len(tokens), "char": max(1, len(text))}[self.norm]


EXTRACTOR = Cloze()
