"""First-token log-probability: the field's default readout. The argmax over labels always answers, so its label mass (the
share of first-token probability that lies on labels at all) stands beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from flipcore.contracts import Need
from flipcore.records import ABSENT, OK, UNREADABLE, Reading, Request

TOP_K = 20


def label_probabilities(top_logprobs: Mapping[str, float], labels: Sequence[str]) -> list[float]:
    """Probability on each label, with and without a leading space; a token that begins exactly one label counts for it
    (so "1" is label "1", never "10")."""
    mass = [0.0] * len(labels)
    for token, logprob in top_logprobs.items():
        text = token.strip()
        if not text:
            continue
        owners = [i for i, label in enumerate(labels) if label == text] or [
            i for i, label in enumerate(labels) if len(label) > 1 and label.startswith(text)]
        if len(owners) == 1:
            mass[owners[0]] += math.exp(logprob)
    return mass


def placeholder(top_logprobs: Mapping[str, float] | None) -> bool:
    """True where a server sent no log-probabilities, or 0.0 for everything, which is no probability 1 but a blank."""
    return not top_logprobs or all(value == 0.0 for value in top_logprobs.values())


def read_first_token(variant, top_logprobs: Mapping[str, float] | None) -> Reading:
    """The option with the most first-token probability, or why there is none."""
    if placeholder(top_logprobs):
        return Reading(ABSENT, reason="The server sent no first-token log-probabilities, or only placeholders.")
    mass = label_probabilities(top_logprobs, variant.labels)
    total = sum(mass)
    if total == 0:
        return Reading(UNREADABLE, reason="No label is among the likeliest first tokens.", label_mass=0.0)
    best = max(range(len(mass)), key=mass.__getitem__)
    probabilities = tuple((str(option), share) for option, share in zip(variant.order, mass, strict=True))
    return Reading(OK, str(variant.order[best]), probabilities=probabilities, label_mass=min(total, 1.0))


@dataclass(frozen=True)
class FirstToken:
    name: ClassVar[str] = "first_token"
    title: ClassVar[str] = "First token"
    about: ClassVar[str] = "The label with the highest first-token log-probability: what most leaderboards read."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice"})
    abilities: ClassVar[frozenset[str]] = frozenset({"first_token_logprobs"})

    def needs(self, item, variant, ask, so_far):
        return (Need(Request("first_token", variant.prompt.text, variant.prompt.system, max_tokens=1, top_k=TOP_K)),)

    def read(self, item, variant, completions):
        completion = completions[0]
        if completion.status != "ok":
            return Reading(ABSENT, reason=completion.error)
        return read_first_token(variant, completion.top_logprobs)


EXTRACTOR = FirstToken()
