"""Similarity of a continuation to a reference (source 003): by compression (1 minus the normalised
compression distance), by words (ROUGE-L, F1 of the longest common subsequence), and whether it is
the reference word for word.

The variant carries its reference, or the prompt whose answer at temperature 0 is one: that is asked
once, whatever the number of samples. Where it says how many words the reference has (`n_words`), as
many of the continuation are compared: a model that goes on is not less alike.

Of an option that is hidden (`is_whole`), the first line of the answer is compared, or the line that
names the option's `label`, and nothing may follow the reference.

A continuation is asked for with a fixed length, so the token limit that ends it cuts nothing off; a
filter or an open reasoning block does.
"""

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

_ROOM_STEP = 16  # tokens; requests of like length are answered in one batch
_MOST = 1024
_OPENING = " \"'“”‘’….:"  # what a model may set before the words themselves
_AROUND = f"{_OPENING},;!?*_`()[]"  # and around an option


def continuation_need(variant: Variant, ask: Ask) -> list[Need]:
    """A request for a continuation about as long as the reference, at the axis' own temperature,
    after one for the reference where the variant has none."""
    reference, prompt = variant.params.get("reference"), variant.params.get("reference_prompt")
    if not reference and not prompt:
        return []
    words = 2 * len(str(reference).split()) + 8
    if reference:
        room = min(_MOST, _ROOM_STEP * -(-words // _ROOM_STEP))
    else:
        room = min(_MOST, ask.max_tokens)
    room = int(variant.params.get("room", room))

    def request(text: str, temperature: float, top_p: float) -> Request:
        return Request(
            "generate",
            text,
            system=variant.prompt.system,
            max_tokens=room,
            temperature=temperature,
            top_p=top_p,
            seed=ask.seed,
        )

    continued = Need(
        request(
            variant.prompt.text,
            float(variant.params.get("temperature", ask.temperature)),
            ask.top_p,
        )
    )
    return [continued] if reference else [Need(request(str(prompt), 0.0, 1.0), sample=0), continued]


def texts_of(variant: Variant, completions: Sequence[Completion]) -> tuple[str, str] | Reading:
    """The reference and the continuation, or the absent or cut reading that says why there are not
    both. An empty continuation is a continuation too."""
    reference = str(variant.params.get("reference") or "")
    if not reference and not variant.params.get("reference_prompt"):
        return absent("This variant carries no reference to compare a continuation with.")
    nothing = failure(completions) or next(
        filter(None, (unfinished(completion, length_counts=False) for completion in completions)),
        None,
    )
    if nothing:
        return nothing
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
    """Return what an answer puts in the place of a hidden option: the line of its `label` if there
    is one, else its first, without the label or the mask before it."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not label or not lines:
        return lines[0] if lines else ""
    # Each at most once: an option may begin like a label.
    of_label, of_mask = rf"(?:option\s+)?{label}\W*[.:)]\s*", r"\[MASK\]\W*(?:is\b|=|:)?\s*"
    lead = re.compile(rf"\W*(?:{of_label}(?:{of_mask})?|{of_mask}(?:{of_label})?)", re.IGNORECASE)
    line = next(filter(lead.match, lines), lines[0])
    # "B. cereus" is an option of its own, whatever its label.
    if " ".join(line.split()).casefold().startswith(" ".join(reference.split()).casefold()):
        return line
    return lead.sub("", line, count=1) if lead.match(line) else line


@dataclass(frozen=True)
class _Continued(Extractor):
    """A value of a continuation beside its reference."""

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
        return pair if isinstance(pair, Reading) else self.likeness(variant, *pair)

    def likeness(self, variant: Variant, reference: str, text: str) -> Reading:
        raise NotImplementedError


@dataclass(frozen=True)
class Ncd(_Continued):
    """`compressor` is part of the metric: xz by default, zlib for texts below 200 characters; never
    compare across."""

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

    def likeness(self, variant: Variant, reference: str, text: str) -> Reading:
        return Reading(OK, value=1 - ncd(reference, text.strip(), comp=self.compressor))


@dataclass(frozen=True)
class RougeL(_Continued):
    name: ClassVar[str] = "rouge_l"
    title: ClassVar[str] = "Similarity by words (ROUGE-L)"
    about: ClassVar[str] = "How much of the reference's sequence of words a continuation repeats."

    def likeness(self, variant: Variant, reference: str, text: str) -> Reading:
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

    def likeness(self, variant: Variant, reference: str, text: str) -> Reading:
        is_whole = variant.params.get("is_whole")
        reference, text = (
            " ".join(text_compared.split()).casefold().strip(_AROUND)
            if is_whole
            else " ".join(text_compared.split()).casefold().lstrip(_OPENING)
            for text_compared in (reference, text)
        )
        if is_whole:
            return Reading(OK, value=float(text == reference))
        continued = text.removeprefix(reference)
        # "123" does not continue as "12" does; in other scripts words may touch
        goes_on = continued[:1].isalnum() and continued.isascii()
        return Reading(OK, value=float(continued != text and not goes_on))


EXTRACTORS = (Ncd(), RougeL(), WordForWord())
