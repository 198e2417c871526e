"""Cloze: the option whose text the model finds likeliest after the prompt; options are never shown as letters to choose."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

from flipcore.contracts import Need
from flipcore.records import ABSENT, OK, Reading, Request


@dataclass(frozen=True)
class Cloze:
    """`norm`: the sum of log-probabilities, or its mean per token or per character (long options lose under sums)."""

    norm: str = field(default="token", metadata={"choices": ("sum", "token", "char")})
    name: ClassVar[str] = "cloze"
    title: ClassVar[str] = "Answer likelihood"
    about: ClassVar[str] = "The option whose text has the highest likelihood after the prompt."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice"})
    abilities: ClassVar[frozenset[str]] = frozenset({"score"})

    def needs(self, item, variant, ask, so_far):
        return tuple(Need(Request("score", variant.prompt.text, variant.prompt.system, continuation=" " + item.options[i]))
                     for i in variant.order)

    def read(self, item, variant, completions):
        failed = next((c for c in completions if c.status != "ok"), None)
        if failed is not None:
            return Reading(ABSENT, reason=failed.error)
        if any(not c.tokens or all(logprob == 0.0 for _, logprob in c.tokens) for c in completions):
            return Reading(ABSENT, reason="The server sent no log-probabilities for at least one option.")
        scores = [self._score(c.tokens, item.options[i]) for c, i in zip(completions, variant.order, strict=True)]
        best = max(scores)
        weights = [math.exp(score - best) for score in scores]
        shares = tuple((str(i), weight / sum(weights)) for i, weight in zip(variant.order, weights, strict=True))
        return Reading(OK, str(variant.order[scores.index(best)]), value=best, probabilities=shares)

    def _score(self, tokens, option: str) -> float:
        total = sum(logprob for _, logprob in tokens)
        return total / {"sum": 1, "token": len(tokens), "char": max(len(option), 1)}[self.norm]


EXTRACTOR = Cloze()
