"""Readouts of recorded outputs by our own extractors: texts, formulas, and scores of options."""

from dataclasses import replace

from flipcore.core.contracts import Extractor
from flipcore.core.records import (
    WRITTEN_ANSWER,
    WRITTEN_MATH,
    WRITTEN_WORDS,
    Completion,
    Item,
    Reading,
    Variant,
)
from flipcore.extractors import EXTRACTORS
from flipcore.extractors.losses import Cloze

READ_TEXT, READ_WORDS, READ_MATH, READ_SCORES = OWN_NAMES = (
    WRITTEN_ANSWER,
    WRITTEN_WORDS,
    WRITTEN_MATH,
    "cloze",
)
MAX_TARGET_WORDS = 20  # of a right answer that another text may match
_CLOZE = Cloze(norm="char")


def extractor_of(
    item: Item, *, has_option_scores: bool, is_scored: bool, is_mathematics: bool
) -> Extractor | None:
    """Return the extractor for an item's recorded outputs, or None if none of ours fits. Scores
    of options are read by likelihood per character, formulas as mathematics, other outputs as text.
    `is_scored`: the log has scores of its own."""
    text_extractor = READ_TEXT
    if item.kind == "text":
        text_extractor = READ_MATH if is_mathematics else READ_WORDS
    extractor = _CLOZE if has_option_scores else EXTRACTORS[text_extractor]
    is_words = extractor.name in (READ_WORDS, READ_MATH)
    if item.kind not in extractor.applies_to or (is_words and not _is_short(item.target)):
        return None
    # Where the log has scores, ours are useful only for answers that a text can match. An agent's
    # outcome (no right answer) or several options at once cannot be matched.
    if is_scored and is_words:
        return None if item.target is None else extractor
    has_several = item.kind == "choice" and "\n" in (item.target or "")
    return None if is_scored and has_several and not has_option_scores else extractor


def read_outputs(
    extractor: Extractor, item: Item, variant: Variant, completions: list[Completion]
) -> Reading:
    """Read the completions of one output."""
    outputs = [_as_whole(item, variant, completion) for completion in completions]
    return extractor.read(item, variant, outputs)


def _is_short(target: str | None) -> bool:
    """Return whether at least one of the right answers, one per line, has few words."""
    # No other text would match code or a summary word by word.
    return target is None or any(
        len(line.split()) <= MAX_TARGET_WORDS for line in target.split("\n")
    )


def _as_whole(item: Item, variant: Variant, completion: Completion) -> Completion:
    """Mark an output that is just an option's label as finished. Harnesses ask for labels with a
    limit of one token, so they look cut off."""
    if item.kind != "choice":
        return completion
    label = completion.text.strip().rstrip(".)")
    return replace(completion, finish_reason="stop") if label in variant.labels else completion
