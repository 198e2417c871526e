"""Similarity of a continuation to a reference (source 003).

It is measured by compression (1 minus the normalized compression distance), by words (ROUGE-L, F1
of the longest common subsequence), or as equal word for word.

A variant's params hold the reference, or a prompt whose output at temperature 0 is the reference;
that prompt is sent once for all samples. With `n_words` only as many words of the continuation are
compared, so that a longer continuation is not less similar.

For a hidden option (`is_whole`) only one line of the output is compared: the one with the option's
`label`, or the first. Nothing may follow the reference there.

Continuations are asked for with a fixed length, so a token limit does not count as cut off. A
filter or an open reasoning block does.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from flipcore.core.contracts import VALUE, Ask, Extractor, Need, param
from flipcore.core.errors import BadInput
from flipcore.core.records import (
    CONTINUATION,
    KINDS,
    OK,
    Completion,
    Item,
    Reading,
    Request,
    Variant,
)
from flipcore.extractors.readings import absent, failure, unfinished
from flipcore.text.similarity import COMPRESSORS, ncd, rouge_l, tokens

# In tokens. Limits are multiples of the step, because a batch holds only requests with one limit.
_LIMIT_STEP, _MAX_LIMIT = 16, 1024
_OPENING = " \"'“”‘’….:"  # may stand before a continuation
_AROUND = f"{_OPENING},;!?*_`()[]"  # may stand around an option


def continuation_need(variant: Variant, ask: Ask) -> list[Need]:
    """Return the need for a continuation about as long as the reference, [] without a reference.

    The temperature is the axis's own. Where the variant has only a prompt for the reference, the
    need for the reference comes first.
    """
    reference, prompt = variant.params.get("reference"), variant.params.get("reference_prompt")
    if not reference and not prompt:
        return []
    if reference:
        n_tokens = 2 * len(str(reference).split()) + 8
        max_tokens = min(_MAX_LIMIT, _LIMIT_STEP * math.ceil(n_tokens / _LIMIT_STEP))
    else:
        max_tokens = min(_MAX_LIMIT, ask.max_tokens)
    max_tokens = int(variant.params.get("room", max_tokens))

    def request(text: str, temperature: float, top_p: float) -> Request:
        return Request(
            "generate",
            text,
            system=variant.prompt.system,
            max_tokens=max_tokens,
            temperature=temperature,
            top_p=top_p,
            seed=ask.seed,
        )

    temperature = float(variant.params.get("temperature", ask.temperature))
    continuation = Need(request(variant.prompt.text, temperature, ask.top_p))
    if reference:
        return [continuation]
    return [Need(request(str(prompt), 0.0, 1.0), sample=0), continuation]


def texts_of(variant: Variant, completions: Sequence[Completion]) -> tuple[str, str] | Reading:
    """Return the reference and the continuation, which may be empty.
    Where one of them is missing or cut off, return the reading that says so."""
    reference = str(variant.params.get("reference") or "")
    if not reference and not variant.params.get("reference_prompt"):
        return absent("This variant carries no reference to compare a continuation with.")
    if failed := failure(completions):
        return failed
    for completion in completions:
        if cut := unfinished(completion, length_counts=False):
            return cut
    reference = reference or completions[0].text.strip()
    if not reference:
        return absent(
            "The model wrote nothing of the unchanged text, so there is nothing to compare with."
        )
    text, n_words = completions[-1].text, variant.params.get("n_words")
    if variant.params.get("is_whole"):
        label = str(variant.params.get("label") or "")
        return reference, filled_in(text, label=label, reference=reference)
    return reference, " ".join(text.split()[: int(n_words)]) if n_words else text


def filled_in(text: str, *, label: str, reference: str) -> str:
    """Return the line of an output that fills in a hidden option.
    It is the line with the option's `label`, else the first, without the label and the mask."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not label or not lines:
        return lines[0] if lines else ""
    # Remove each of them at most once: an option itself may begin like a label.
    label_re, mask_re = rf"(?:option\s+)?{label}\W*[.:)]\s*", r"\[MASK\]\W*(?:is\b|=|:)?\s*"
    lead = re.compile(rf"\W*(?:{label_re}(?:{mask_re})?|{mask_re}(?:{label_re})?)", re.IGNORECASE)
    line = next(filter(lead.match, lines), lines[0])
    # The option "B. cereus" begins like a label, and is the reference itself.
    if " ".join(line.split()).casefold().startswith(" ".join(reference.split()).casefold()):
        return line
    return lead.sub("", line, count=1) if lead.match(line) else line


@dataclass(frozen=True)
class _Continued(Extractor):
    """Base of values that compare a continuation with its reference."""

    applies_to: ClassVar[frozenset[str]] = frozenset(KINDS)
    abilities: ClassVar[frozenset[str]] = frozenset({"generate"})
    gives: ClassVar[str] = VALUE
    asks: ClassVar[str] = CONTINUATION

    def needs(
        self, item: Item, variant: Variant, ask: Ask, so_far: Sequence[Completion]
    ) -> Sequence[Need]:
        return continuation_need(variant, ask)

    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        pair = texts_of(variant, completions)
        return pair if isinstance(pair, Reading) else self.compare(variant, *pair)

    def compare(self, variant: Variant, reference: str, text: str) -> Reading:
        raise NotImplementedError


@dataclass(frozen=True)
class Ncd(_Continued):
    """`compressor` is xz, or zlib for texts below 200 characters.
    Values of different compressors cannot be compared."""

    compressor: str = param("xz", choices=tuple(COMPRESSORS))
    name: ClassVar[str] = "ncd"
    title: ClassVar[str] = "Similarity by compression (1 − NCD)"
    about: ClassVar[str] = (
        "How much of the reference a continuation repeats, by how well the two compress together."
    )
    applies_to: ClassVar[frozenset[str]] = frozenset({"completion"})

    def __post_init__(self) -> None:
        if self.compressor not in COMPRESSORS:
            raise BadInput(
                f"NCD has the compressor {self.compressor!r}; choose one of "
                f"{', '.join(COMPRESSORS)}."
            )

    def compare(self, variant: Variant, reference: str, text: str) -> Reading:
        return Reading(OK, value=1 - ncd(reference, text.strip(), comp=self.compressor))


@dataclass(frozen=True)
class RougeL(_Continued):
    name: ClassVar[str] = "rouge_l"
    title: ClassVar[str] = "Similarity by words (ROUGE-L)"
    about: ClassVar[str] = "How much of the reference's sequence of words a continuation repeats."

    def compare(self, variant: Variant, reference: str, text: str) -> Reading:
        if not tokens(reference) and {"n_words", "is_whole"} & variant.params.keys():
            return absent(
                "The text asked for has no Latin letter or digit, and ROUGE-L compares nothing "
                "else."
            )
        return Reading(OK, value=rouge_l(reference, text))


@dataclass(frozen=True)
class WordForWord(_Continued):
    name: ClassVar[str] = "word_for_word"
    title: ClassVar[str] = "Continued word for word (1 or 0)"
    about: ClassVar[str] = (
        "Whether a continuation begins with the reference, letter for letter but for case and "
        "blanks."
    )

    def compare(self, variant: Variant, reference: str, text: str) -> Reading:
        is_whole = variant.params.get("is_whole")
        reference, text = (" ".join(part.split()).casefold() for part in (reference, text))
        if is_whole:
            return Reading(OK, value=float(text.strip(_AROUND) == reference.strip(_AROUND)))
        reference, text = reference.lstrip(_OPENING), text.lstrip(_OPENING)
        remainder = text.removeprefix(reference)
        begins = remainder != text  # false for an empty reference
        # "123" does not begin with the number "12". Scripts without blanks have no such limit.
        ends_in_word = remainder[:1].isalnum() and remainder.isascii()
        return Reading(OK, value=float(begins and not ends_in_word))


EXTRACTORS = (Ncd(), RougeL(), WordForWord())
