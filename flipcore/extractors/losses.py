"""What the loss readouts share: token log-probabilities of a text, and what to say when there are none."""

from __future__ import annotations

import math
from collections.abc import Sequence

from flipcore.core.contracts import Need
from flipcore.core.errors import BadInput
from flipcore.core.records import OK, Completion, Item, Reading, Request, Variant
from flipcore.extractors.readings import absent, failure
from flipcore.text.logprobs import usable_tokens

NORMS = ("sum", "token")


def checked_norm(who: str, norm: str) -> None:
    """Raises BadInput for a norm that is neither the total nor the mean over tokens."""
    if norm not in NORMS:
        raise BadInput(f"{who} has the norm {norm!r}; choose one of {', '.join(NORMS)}.")


def question_need(variant: Variant) -> Need:
    """The prompt itself, scored from nothing. All who read it share the request, so that it is asked once."""
    return Need(Request("score", "", variant.prompt.system, continuation=variant.prompt.text))


def reference_answer(item: Item, variant: Variant) -> str:
    """The published answer as it follows the prompt: an option's text, a worked solution or else the number. Empty where
    there is none, or where the variant asks for another answer than the published one."""
    if variant.target != item.target:
        return ""
    if item.kind == "choice":
        return "" if item.target is None else f" {item.options[int(item.target)]}"
    answer = item.solution.strip() or (item.target or "")
    return f" {answer}" if answer else ""


def nats(completions: Sequence[Completion], what: str) -> tuple[float, ...] | Reading:
    """The token log-probabilities of the one scored text, or the absent reading that says why there are none.

    A server that scores from nothing cannot score the first token; it leaves it out, under every wording alike.
    """
    failed = failure(completions)
    if failed:
        return failed
    tokens = usable_tokens(completions[0].tokens)
    if tokens is None:
        return absent(f"The server gave no log-probabilities of {what}, or placeholders only.")
    return tuple(value for _, value in tokens)


def loss(values: Sequence[float], norm: str) -> Reading:
    """Minus the log-probability in nats, over all tokens or a token."""
    total = -math.fsum(values)
    return Reading(OK, value=total / len(values) if norm == "token" else total)
