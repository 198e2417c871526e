"""Estimate what a plan costs before it starts, and refuse one that would exceed its budget."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from flipcore.core.records import Call, Completion
from flipcore.models.cards import ModelCard
from flipcore.text.counts import count_of

# English in common tokenizers; other scripts take more, so a projection is an estimate.
CHARS_PER_TOKEN = 4
TEMPLATE_TOKENS = 64  # what a chat template may add to a prompt
# Calls per second, guessed before anything was measured; a pilot replaces the guess.
TYPICAL_RATE = {"simulated": 3000.0, "pocket": 60.0, "callable": 200.0}


@dataclass(frozen=True)
class Projection:
    """Calls, tokens, price and time that a plan takes: estimates, unless `is_measured`."""

    n_calls: int
    n_tokens_in: int
    n_tokens_out: int  # an upper bound: every generation as long as allowed
    cost_usd: float | None  # None: a price is unknown
    seconds: float
    is_measured: bool = False
    notes: tuple[str, ...] = ()  # a pilot's sentences on cut and unreadable answers
    n_more: int = 0  # calls after blank first tokens; included in tokens and price, not in n_calls

    def __add__(self, addend: "Projection") -> "Projection":
        cost = (
            None
            if self.cost_usd is None or addend.cost_usd is None
            else self.cost_usd + addend.cost_usd
        )
        return Projection(
            n_calls=self.n_calls + addend.n_calls,
            n_tokens_in=self.n_tokens_in + addend.n_tokens_in,
            n_tokens_out=self.n_tokens_out + addend.n_tokens_out,
            cost_usd=cost,
            seconds=self.seconds + addend.seconds,
            is_measured=self.is_measured and addend.is_measured,
            n_more=self.n_more + addend.n_more,
        )

    def scaled(self, factor: float) -> "Projection":
        return Projection(
            n_calls=round(self.n_calls * factor),
            n_tokens_in=round(self.n_tokens_in * factor),
            n_tokens_out=round(self.n_tokens_out * factor),
            cost_usd=None if self.cost_usd is None else self.cost_usd * factor,
            seconds=self.seconds * factor,
            is_measured=self.is_measured,
            n_more=round(self.n_more * factor),
        )

    @property
    def calls(self) -> str:
        more = (
            f" and up to {self.n_more:,} more where the first token is blank" if self.n_more else ""
        )
        return f"{count_of(self.n_calls, 'call')}{more}"

    def sentence(self) -> str:
        cost = "an unknown price" if self.cost_usd is None else dollars(self.cost_usd)
        about, at_most = ("", "") if self.is_measured else ("about ", "at most ")
        return (
            f"{self.calls}, {about}{self.n_tokens_in:,} tokens in and"
            f" {at_most}{self.n_tokens_out:,} out,"
            f" {'' if self.cost_usd is None else about}{cost}, about {self.seconds:,.0f} s"
        )


NOTHING = Projection(0, 0, 0, cost_usd=0.0, seconds=0.0, is_measured=True)


def dollars(usd: float) -> str:
    """Format an amount with two decimals, or below one cent with two significant digits."""
    if usd == 0 or abs(usd) >= 0.01:
        return f"${usd:,.2f}"
    decimals = 1 - math.floor(math.log10(abs(usd)))
    return f"${usd:.{decimals}f}"


def call_price(call: Call, card: ModelCard | None) -> float | None:
    """Return the estimated price of a call in USD, with an answer as long as allowed. None if
    the price is unknown."""
    return _price(card, _n_chars(call) / CHARS_PER_TOKEN, call.request.max_tokens)


def call_bound(call: Call, card: ModelCard | None) -> float | None:
    """Return the most that one call can cost in USD, in any script and with any tokenizer. A token
    holds at least one byte of the text. None if the price is unknown."""
    return _price(card, _most_tokens_in(call), max(call.request.max_tokens, 1))


def lost_price(call: Call, card: ModelCard | None) -> float:
    """Return the most that the input of an attempt without an answer cost, in USD. Any output that
    was billed as well is unknown and not counted."""
    return _price(card, _most_tokens_in(call), 0) or 0.0


def _n_chars(call: Call) -> int:
    request = call.request
    return len(request.system) + len(request.prompt) + len(request.continuation)


def _most_tokens_in(call: Call) -> int:
    request = call.request
    text = f"{request.system}{request.prompt}{request.continuation}"
    return len(text.encode("utf-8", "surrogatepass")) + TEMPLATE_TOKENS


def _price(card: ModelCard | None, n_in: float, n_out: float) -> float | None:
    if card is None:
        return 0.0  # a Python function
    if card.price_in is None or card.price_out is None:
        return None
    return (n_in * card.price_in + n_out * card.price_out) / 1e6


def projected(calls: Iterable[Call], card: ModelCard | None) -> Projection:
    """Return the projection of calls to one model, with every generation as long as allowed."""
    n_calls = n_in = n_out = 0
    cost: float | None = 0.0
    for call in calls:
        n_calls += 1
        n_in += _n_chars(call) // CHARS_PER_TOKEN
        n_out += call.request.max_tokens
        price = call_price(call, card)
        cost = None if cost is None or price is None else cost + price
    return Projection(n_calls, n_in, n_out, cost, n_calls / rate(card))


def rate(card: ModelCard | None) -> float:
    """Return the calls per second to expect before any was made."""
    if card is None:
        return TYPICAL_RATE["callable"]
    return TYPICAL_RATE.get(card.backend, card.n_in_flight / 2)


def usage(completions: Iterable[Completion], seconds: float) -> Projection:
    """Return what a pilot used in `seconds`, as a measured projection to be scaled up."""
    n_calls = n_in = n_out = 0
    cost: float | None = 0.0
    for completion in completions:
        n_calls += 1
        n_in += completion.n_tokens_in or 0
        n_out += completion.n_tokens_out or 0
        cost = None if cost is None or completion.cost_usd is None else cost + completion.cost_usd
    return Projection(n_calls, n_in, n_out, cost, seconds, is_measured=True)


def refusal(
    projection: Projection,
    budget_usd: float | None,
    cards: Mapping[str, ModelCard | None],
    spent_usd: float = 0.0,
) -> str:
    """Return a sentence on why a study may not start, with its projection; "" if it may.
    `projection` is of the calls that are not stored yet, `spent_usd` the cost of earlier runs, and
    `cards` are by model, None for a Python function."""
    paid = [name for name, card in cards.items() if card and (card.price_in or card.price_out)]
    unpriced = [
        name
        for name, card in cards.items()
        if card and (card.price_in is None or card.price_out is None)
    ]
    if unpriced:
        return (
            f"The price of {unpriced[0]} is unknown, so no budget can be kept. Say what it costs:"
            " edit it under Models. Nothing was asked."
        )
    if paid and budget_usd is None and projection.n_calls:
        return (
            f"{paid[0]} costs money and the study has no budget. Projection:"
            f" {projection.sentence()}. Nothing was asked."
        )
    if (
        budget_usd is not None
        and projection.cost_usd
        and projection.cost_usd + spent_usd > budget_usd
    ):
        spent = f" It has spent {dollars(spent_usd)} so far." if spent_usd else ""
        return (
            f"The study would cost more than its budget of {dollars(budget_usd)}.{spent}"
            f" Projection: {projection.sentence()}. Take fewer items, variants or samples, or raise"
            " the budget. Nothing was asked."
        )
    return ""
