"""Extractors that read a generated text by rules, and abstain where it states no single answer.

One reads the option or number that the model wrote (the default reference extractor, source 004).
The other reads a short answer in words, and matches it as graders do (SQuAD, arXiv:1606.05250).
"""

from dataclasses import dataclass
from typing import ClassVar

from flipcore.core.finish import REFUSAL
from flipcore.core.records import OK, WRITTEN_WORDS, Item, Reading, Variant
from flipcore.extractors.readings import TextExtractor, asked_question, unreadable
from flipcore.extractors.written.scope import answer_end, is_refusal, marked_answer, may_go_on
from flipcore.extractors.written.stated_choice import ChoiceText
from flipcore.extractors.written.stated_number import stated_number
from flipcore.extractors.written.stated_words import short_answer, stated_span


def read_text(item: Item, variant: Variant, text: str) -> Reading:
    """Read the answer of `text`: an option by label or words, or a number."""
    if not text.strip():
        return unreadable("The answer is empty.")
    if may_go_on(text):
        text = text[: answer_end(text, item.question, asked_question(item, variant))]
    start, end = marked_answer(text) or (0, len(text))
    answer, span, reason = _answer(item, variant, text=text[start:end])
    if answer is None:
        return unreadable(REFUSAL if is_refusal(text) else reason)
    return Reading(OK, answer=answer, span=span and (span[0] + start, span[1] + start))


def _answer(
    item: Item, variant: Variant, text: str
) -> tuple[str | None, tuple[int, int] | None, str]:
    """Return (canonical answer, its span, "") or (None, None, why not)."""
    if item.kind == "number":
        return stated_number(text, item.question)
    choice = ChoiceText(variant.labels, [item.options[i] for i in variant.order]).choice(text)
    answer = None if choice.position is None else str(variant.order[choice.position])
    return answer, choice.span, choice.reason


@dataclass(frozen=True)
class Regex(TextExtractor):
    name: ClassVar[str] = "regex"
    title: ClassVar[str] = "Written answer"
    about: ClassVar[str] = (
        "The label, option or number that the generated text states; none if it states several."
    )
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice", "number"})

    def read_text(self, item: Item, variant: Variant, text: str) -> Reading:
        return read_text(item, variant, text=text)


def answer_span(item: Item, variant: Variant, text: str) -> tuple[int, int]:
    """Return the span of the answer that the text marks or states, else of the whole text."""
    text = text[: answer_end(text, item.question, asked_question(item, variant))]
    return marked_answer(text) or stated_span(text) or (0, len(text))


@dataclass(frozen=True)
class TextMatch(TextExtractor):
    """A longer text than `most_words` states no short answer.
    All right answers count as the first one, so that a synonym is no flip."""

    most_words: int = 12
    name: ClassVar[str] = WRITTEN_WORDS
    title: ClassVar[str] = "Text match"
    about: ClassVar[str] = (
        "The short answer in words, without case, punctuation and articles; any right answer "
        "counts."
    )
    applies_to: ClassVar[frozenset[str]] = frozenset({"text"})

    def read_text(self, item: Item, variant: Variant, text: str) -> Reading:
        question = asked_question(item, variant)
        start, end = answer_span(item, variant, text=text)
        words = text[start:end]
        answer, reason = short_answer(
            words,
            variant.target,
            question=f"{item.question} {question}",
            most_words=self.most_words,
        )
        if answer is None:
            return unreadable(REFUSAL if is_refusal(text) else reason)
        if answer not in (variant.target or "").split("\n") and is_refusal(text):
            return unreadable(REFUSAL)
        n_leading = len(words) - len(words.lstrip())
        return Reading(OK, answer=answer, span=(start + n_leading, start + len(words.rstrip())))


TEXT_MATCH = TextMatch()
EXTRACTORS = (Regex(), TEXT_MATCH)
