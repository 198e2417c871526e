"""First token: the label with the most probability as the first token, the field's default readout.

Some vocabularies begin an answer with a token of blanks, before the label. Where the model can be
asked for the token after it, a label's probability is p(label) + p(blank) · p(label | blank).

The gated extractor gives no answer where the labels together have too little probability.
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

# Includes the marks that vocabularies print for a space and a newline.
_SPACES = " \t\r\n\u2581\u0120\u010a\u00a0"


def label_shares(
    labels: Sequence[str], top: Mapping[str, float]
) -> tuple[dict[str, float], dict[tuple[str, ...], float]]:
    """Return the probability of each label as first token, and of tokens that several labels share.

    A token counts with or without a leading space, in brackets or bold, with a full stop, and in
    upper or lower case unless that is another label. A token may begin a longer label ("1" of
    "10", "v" of "vii"). If the longer label is an alternative too, the token means the short one.
    Otherwise it may mean either, and its probability is returned under both.
    """
    bare: dict[str, float] = {}
    for token, nats in top.items():
        text = _as_label(token, labels)
        bare[text] = bare.get(text, 0.0) + math.exp(nats)
    own_shares = dict.fromkeys(labels, 0.0)
    shared: dict[tuple[str, ...], float] = {}
    for text, share in bare.items():
        possible = tuple(
            label
            for label in labels
            if text and (label == text or (label.startswith(text) and label not in bare))
        )
        if len(possible) == 1:
            own_shares[possible[0]] += share
        elif possible:
            shared[possible] = shared.get(possible, 0.0) + share
    return own_shares, shared


_AROUND = "()[]{}*_`\"'.,:;"
_ARTICLES = ("a", "i")  # after a blank they are words of a sentence


def _as_label(token: str, labels: Sequence[str]) -> str:
    """Return the label that a token writes, or the token without its blanks."""
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
LEAST_BLANK = 0.02  # below it, the token after the blank changes no label by more than this


def lone_blank(top: Mapping[str, float] | None) -> tuple[str, float]:
    """Return the likeliest token of only blanks, and its probability; ("", 0.0) without one."""
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
        The item's own option. Absent without alternatives. Unreadable for a tie, for a token that
        several labels begin with, and where no label is among the alternatives. Ties are not broken
        by position, which would favor the first label.
    """
    top = usable_alternatives(top)
    if top is None:
        return absent(
            "The server gave no log-probabilities of the first token, or placeholders only."
        )
    own_shares, shared = label_shares(variant.labels, top)
    blank_sentence = _add_after_blank(
        variant,
        top,
        after_blank_top=usable_alternatives(behind_blank),
        own_shares=own_shares,
        shared=shared,
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
            f"None of the labels is among the {len(top)} most likely first tokens.{blank_sentence}",
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
        OK, answer=winners[0], reason=blank_sentence.strip(), probabilities=shares, label_mass=mass
    )


def _add_after_blank(variant: Variant, top, after_blank_top, own_shares: dict, shared: dict) -> str:
    """Add the labels after the likeliest blank to the shares, in place.
    Returns a sentence about it; "" where the blank is rare."""
    _, blank = lone_blank(top)
    if blank < LEAST_BLANK:
        return ""
    if after_blank_top is None:
        return (
            f" A blank token holds {blank:.2f} of the probability, and what follows it was not "
            "given."
        )
    further, blurred = label_shares(variant.labels, after_blank_top)
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
    """`top_k` alternatives are asked for; for many labels take 40, if the server allows it."""

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
        prompt = variant.prompt
        first = Request(
            "first_token",
            prompt.text,
            system=prompt.system,
            max_tokens=1,
            top_k=self.top_k,
            turns=prompt.turns,
        )
        # A tokenizer may write " A" as two tokens, a blank and then the label.
        blank, share = lone_blank(so_far[0].top_logprobs) if so_far else ("", 0.0)
        if share < LEAST_BLANK:
            return [Need(first)]
        return [Need(first), Need(replace(first, continuation=blank), optional=True)]

    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        failed = failure(completions)
        if failed:
            return failed
        after_blank_top = completions[1].top_logprobs if len(completions) > 1 else None
        return read_first_token(variant, completions[0].top_logprobs, behind_blank=after_blank_top)


@dataclass(frozen=True)
class FirstTokenGated(FirstToken):
    """No answer where the labels have less than `least_mass` (0 to 1) of the probability.
    The model was then about to write no label, and the likeliest label would be a guess."""

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
