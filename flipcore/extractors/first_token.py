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
    labels: Sequence[str], logprobs: Mapping[str, float]
) -> tuple[dict[str, float], dict[tuple[str, ...], float]]:
    """Return the probability of each label as first token, and of tokens that several labels share.

    `logprobs` are its alternatives: text -> log-probability in nats. A token counts with or without
    a leading space, in brackets or bold, with a full stop, and in upper or lower case unless that
    is another label. A token may begin a longer label ("1" of "10", "v" of "vii"). If the longer
    label is an alternative too, the token means the short one. Otherwise it may mean either, and
    its probability is returned under both.
    """
    share_of_text: dict[str, float] = {}
    for token, logprob in logprobs.items():
        text = _as_label(token, labels)
        share_of_text[text] = share_of_text.get(text, 0.0) + math.exp(logprob)
    own_shares = dict.fromkeys(labels, 0.0)
    shared: dict[tuple[str, ...], float] = {}
    for text, share in share_of_text.items():
        possible = tuple(
            label
            for label in labels
            if text and (label == text or (label.startswith(text) and label not in share_of_text))
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
    bare_text = text.strip(_AROUND)
    if text in labels or not bare_text or any(label.startswith(text) for label in labels):
        return text
    if bare_text in labels:
        return bare_text
    matching = [label for label in labels if label.casefold() == bare_text.casefold()]
    is_word = bare_text in _ARTICLES and text != token
    return matching[0] if len(matching) == 1 and not is_word else text


_BLANKS = str.maketrans({"\u2581": " ", "\u0120": " ", "\u010a": "\n"})
MIN_BLANK_SHARE = 0.02  # below it, the token after the blank changes no label by more than this


def likeliest_blank(logprobs: Mapping[str, float] | None) -> tuple[str, float]:
    """Return the likeliest token of only blanks, and its probability; ("", 0.0) without one."""
    blanks = {
        token: logprob
        for token, logprob in (usable_alternatives(logprobs) or {}).items()
        if token and not token.strip(_SPACES)
    }
    token = max(blanks, key=blanks.__getitem__, default="")
    return token.translate(_BLANKS), math.exp(blanks[token]) if token else 0.0


def read_first_token(
    variant: Variant,
    logprobs: Mapping[str, float] | None,
    after_blank: Mapping[str, float] | None = None,
) -> Reading:
    """Read the label with the most probability as the first token.

    Parameters
    ----------
    variant
        Its labels and the order of its options.
    logprobs
        Alternatives of the first token: text -> log-probability in nats.
    logprobs_after_blank
        Alternatives after the likeliest blank token, where they were asked for.

    Returns
    -------
    Reading
        The item's own option. Absent without alternatives. Unreadable for a tie, for a token that
        several labels begin with, and where no label is among the alternatives. Ties are not broken
        by position, which would favor the first label.
    """
    logprobs = usable_alternatives(logprobs)
    if logprobs is None:
        return absent(
            "The server gave no log-probabilities of the first token, or placeholders only."
        )
    own_shares, shared = label_shares(variant.labels, logprobs)
    blank_sentence = _add_after_blank(
        variant,
        logprobs,
        after_blank=usable_alternatives(after_blank),
        own_shares=own_shares,
        shared=shared,
    )
    # Rounded log-probabilities can sum to a little more than 1.
    mass = min(1.0, sum(own_shares.values()) + sum(shared.values()))
    shares = tuple(
        (str(option), own_shares[label])
        for label, option in zip(variant.labels, variant.order, strict=True)
    )
    best_share = max(own_shares.values(), default=0.0)
    if mass == 0.0:
        return unreadable(
            f"None of the labels is among the {len(logprobs)} most likely first "
            f"tokens.{blank_sentence}",
            probabilities=shares,
            label_mass=mass,
        )
    ambiguous = max(shared, key=shared.__getitem__, default=())
    # The ambiguous token may be the winner's own, so nothing below it can be called the likeliest.
    if ambiguous and shared[ambiguous] >= best_share:
        return unreadable(
            f"The likeliest first token begins {len(ambiguous)} labels "
            f"({', '.join(ambiguous)}); one token cannot tell them apart.",
            probabilities=shares,
            label_mass=mass,
        )
    winners = [option for option, share in shares if share == best_share]
    if len(winners) > 1:
        return unreadable(
            f"{len(winners)} labels are equally likely as the first token.",
            probabilities=shares,
            label_mass=mass,
        )
    return Reading(
        OK, answer=winners[0], reason=blank_sentence.strip(), probabilities=shares, label_mass=mass
    )


def _add_after_blank(
    variant: Variant, logprobs, after_blank, own_shares: dict, shared: dict
) -> str:
    """Add the labels after the likeliest blank to the shares, in place.
    Returns a sentence about it; "" if the blank is rare."""
    _, blank = likeliest_blank(logprobs)
    if blank < MIN_BLANK_SHARE:
        return ""
    if after_blank is None:
        return (
            f" A blank token holds {blank:.2f} of the probability, and what follows it was not "
            "given."
        )
    shares_after_blank, ambiguous = label_shares(variant.labels, after_blank)
    for label, share in shares_after_blank.items():
        own_shares[label] += blank * share
    for labels, share in ambiguous.items():
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
        blank, share = likeliest_blank(so_far[0].top_logprobs) if so_far else ("", 0.0)
        if share < MIN_BLANK_SHARE:
            return [Need(first)]
        return [Need(first), Need(replace(first, continuation=blank), optional=True)]

    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        if failed := failure(completions):
            return failed
        after_blank = completions[1].top_logprobs if len(completions) > 1 else None
        return read_first_token(variant, completions[0].top_logprobs, after_blank=after_blank)


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
