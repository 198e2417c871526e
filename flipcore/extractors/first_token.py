"""First token: the label that gets the most probability as the very first token, the field's
default readout.

Some vocabularies begin an answer with a lone blank token, behind which the label stands. Where the
model can be asked what follows it, the reading looks through: p(label) + p(blank) · p(label |
blank).

Gated, it gives no answer where the labels together hold too little of the first token's
probability.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from flipcore.core.contracts import Ask, Extractor, Need, param
from flipcore.core.errors import BadInput
from flipcore.core.records import OK, UNREADABLE, Completion, Item, Reading, Request, Variant
from flipcore.extractors.readings import absent, failure, unreadable
from flipcore.text.logprobs import usable_alternatives

# also the marks that byte-level vocabularies print for a space and a newline
_SPACES = " \t\r\n\u2581\u0120\u010a\u00a0"


def label_shares(
    labels: Sequence[str], top: Mapping[str, float]
) -> tuple[dict[str, float], dict[tuple[str, ...], float]]:
    """Probability of each label as first token, and of tokens that several labels share.

    A token counts with and without a leading space, in brackets or bold, with a stop behind it, and
    in the other case where no label is meant by that. A token may be the beginning of a longer
    label ("1" of "10", "v" of "vii"): if the longer one is itself among the alternatives, it is one
    token there and the short one stands for itself; otherwise one token cannot tell them apart, and
    its probability is kept under all of them.
    """
    bare: dict[str, float] = {}
    for token, nats in top.items():
        text = _as_label(token, labels)
        bare[text] = bare.get(text, 0.0) + math.exp(nats)
    own_shares = dict.fromkeys(labels, 0.0)
    shared: dict[tuple[str, ...], float] = {}
    for text, share in bare.items():
        # A token that begins a longer label may be that label, unless the longer one is itself
        # among the alternatives.
        meant = tuple(
            label
            for label in labels
            if text and (label == text or (label.startswith(text) and label not in bare))
        )
        if len(meant) == 1:
            own_shares[meant[0]] += share
        elif meant:
            shared[meant] = shared.get(meant, 0.0) + share
    return own_shares, shared


_AROUND = "()[]{}*_`\"'.,:;"
_ARTICLES = ("a", "i")  # behind a blank they are words of a sentence


def _as_label(token: str, labels: Sequence[str]) -> str:
    """The label that a token writes, or the token without its blanks."""
    text = token.strip(_SPACES)
    core = text.strip(_AROUND)
    if text in labels or not core or any(label.startswith(text) for label in labels):
        return text
    if core in labels:
        return core
    same = [label for label in labels if label.casefold() == core.casefold()]
    is_word = core in _ARTICLES and text != token
    return same[0] if len(same) == 1 and not is_word else text


_BLANKS = str.maketrans({"\u2581": " ", "\u0120": " ", "\u010a": "\n"})
LEAST_BLANK = 0.02  # below it a look behind the blank could move no label by more than this


def lone_blank(top: Mapping[str, float] | None) -> tuple[str, float]:
    """Likeliest first token of blanks alone, and its probability; ("", 0.0) without one."""
    blanks = {
        token: nats
        for token, nats in (usable_alternatives(top) or {}).items()
        if token and not token.strip(_SPACES)
    }
    token = max(blanks, key=blanks.__getitem__, default="")
    return token.translate(_BLANKS), math.exp(blanks[token]) if token else 0.0


def read_first_token(
    variant: Variant,
    top: Mapping[str, float] | None,
    behind_blank: Mapping[str, float] | None = None,
) -> Reading:
    """Read the label with the most probability as the first token.

    Parameters
    ----------
    variant
        Its labels and the order of its options.
    top
        Alternatives of the first token: text -> log-probability in nats.
    behind_blank
        Alternatives after the likeliest blank token, where they were asked for.

    Returns
    -------
    Reading
        The item's own option; absent without alternatives; unreadable for a tie, for a token that
        several labels begin with, and when no label is among the alternatives. Ties are not broken
        by position: that would favour the first label.
    """
    top = usable_alternatives(top)
    if top is None:
        return absent(
            "The server gave no log-probabilities of the first token, or placeholders only."
        )
    own_shares, shared = label_shares(variant.labels, top)
    seen_through = _look_through(
        variant, top, behind=usable_alternatives(behind_blank), own_shares=own_shares, shared=shared
    )
    # Rounded log-probabilities can sum to a little more than 1.
    mass = min(1.0, sum(own_shares.values()) + sum(shared.values()))
    shares = tuple(
        (str(option), own_shares[label])
        for label, option in zip(variant.labels, variant.order, strict=True)
    )
    best = max(own_shares.values(), default=0.0)
    if mass == 0.0:
        return unreadable(
            f"None of the labels is among the {len(top)} most likely first tokens.{seen_through}",
            probabilities=shares,
            label_mass=mass,
        )
    blurred = max(shared, key=shared.__getitem__, default=())
    # The blurred token may be the winner's own, so nothing below it can be called the likeliest.
    if blurred and shared[blurred] >= best:
        return unreadable(
            f"The likeliest first token begins {len(blurred)} labels ({', '.join(blurred)}); one "
            "token cannot tell them apart.",
            probabilities=shares,
            label_mass=mass,
        )
    winners = [option for option, share in shares if share == best]
    if len(winners) > 1:
        return unreadable(
            f"{len(winners)} labels are equally likely as the first token.",
            probabilities=shares,
            label_mass=mass,
        )
    return Reading(
        OK, answer=winners[0], reason=seen_through.strip(), probabilities=shares, label_mass=mass
    )


def _look_through(variant: Variant, top, behind, own_shares: dict, shared: dict) -> str:
    """Add what stands behind the likeliest blank to the labels' shares; a sentence about it, ""
    where the blank is rare."""
    _, blank = lone_blank(top)
    if blank < LEAST_BLANK:
        return ""
    if behind is None:
        return (
            f" A blank token holds {blank:.2f} of the probability, and what follows it was not "
            "given."
        )
    further, blurred = label_shares(variant.labels, behind)
    for label, share in further.items():
        own_shares[label] += blank * share
    for labels, share in blurred.items():
        shared[labels] = shared.get(labels, 0.0) + blank * share
    return (
        f" Read through a blank first token of probability {blank:.2f}: p(blank) · p(label | "
        "blank) is added."
    )


@dataclass(frozen=True)
class FirstToken(Extractor):
    """`top_k` alternatives are asked for; take 40 if the server allows it and labels are many."""

    top_k: int = param(20, "log-probabilities asked for")
    name: ClassVar[str] = "first_token"
    title: ClassVar[str] = "First token"
    about: ClassVar[str] = (
        "The label with the most probability as the first token, however little that is."
    )
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice"})
    abilities: ClassVar[frozenset[str]] = frozenset({"first_token_logprobs"})

    def needs(
        self, item: Item, variant: Variant, ask: Ask, so_far: Sequence[Completion]
    ) -> Sequence[Need]:
        words = variant.prompt
        first = Request(
            "first_token",
            words.text,
            system=words.system,
            max_tokens=1,
            top_k=self.top_k,
            turns=words.turns,
        )
        # A tokenizer may write " A" as two tokens; then the label stands behind the blank.
        blank, share = lone_blank(so_far[0].top_logprobs) if so_far else ("", 0.0)
        if share < LEAST_BLANK:
            return [Need(first)]
        return [Need(first), Need(replace(first, continuation=blank), optional=True)]

    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        failed = failure(completions)
        if failed:
            return failed
        behind = completions[1].top_logprobs if len(completions) > 1 else None
        return read_first_token(variant, completions[0].top_logprobs, behind_blank=behind)


@dataclass(frozen=True)
class FirstTokenGated(FirstToken):
    """Below `least_mass` (0 to 1) on labels the model named none, and an argmax would guess."""

    least_mass: float = param(0.5, "least label mass")
    name: ClassVar[str] = "first_token_gated"
    title: ClassVar[str] = "First token, gated"
    about: ClassVar[str] = (
        "The first token's label, but no answer where the labels hold less than half its "
        "probability."
    )

    def __post_init__(self) -> None:
        if not 0 <= self.least_mass <= 1:
            raise BadInput(
                f"The least label mass is {self.least_mass}; it is a share between 0 and 1."
            )

    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        reading = super().read(item, variant, completions)
        if (
            reading.status != OK
            or reading.label_mass is None
            or reading.label_mass >= self.least_mass
        ):
            return reading
        return replace(
            reading,
            status=UNREADABLE,
            answer=None,
            reason=f"The labels hold {reading.label_mass:.3f} of the first token's probability, "
            f"less than {self.least_mass:g}: the model was about to say something else.",
        )


EXTRACTORS = (FirstToken(), FirstTokenGated())
