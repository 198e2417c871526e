"""Short answers in words: the answer that the text states, matched as graders do (SQuAD, arXiv:1606.05250)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from flipcore.core.contracts import Ask, Extractor, Need
from flipcore.core.finish import REFUSAL
from flipcore.core.records import OK, WRITTEN_WORDS, Completion, Item, Reading, Variant
from flipcore.extractors.readings import asked_question, no_answer, text_request, unreadable
from flipcore.extractors.written.marked import marked_answer
from flipcore.extractors.written.scope import answer_end, is_refusal
from flipcore.extractors.written.stated_words import short_answer, stated_span


def stated(item: Item, variant: Variant, text: str) -> tuple[int, int]:
    """Where the answer stands: what the text marks or states as such, else all of it that is still this answer."""
    text = text[: answer_end(text, item.question, asked_question(item, variant))]
    return marked_answer(text) or stated_span(text) or (0, len(text))


@dataclass(frozen=True)
class TextMatch(Extractor):
    """`most_words` bounds what counts as a short answer: a longer text states none. All right answers are one answer, so that a
    synonym is no flip."""

    most_words: int = 12
    name: ClassVar[str] = WRITTEN_WORDS
    title: ClassVar[str] = "Text match"
    about: ClassVar[str] = "The short answer in words, without case, punctuation and articles; any right answer counts."
    applies_to: ClassVar[frozenset[str]] = frozenset({"text"})
    abilities: ClassVar[frozenset[str]] = frozenset({"generate"})

    def needs(self, item: Item, variant: Variant, ask: Ask, so_far: Sequence[Completion]) -> Sequence[Need]:
        return [Need(text_request(variant, ask))]

    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        return no_answer(completions) or self._read(item, variant, completions[0].text)

    def _read(self, item: Item, variant: Variant, text: str) -> Reading:
        question = asked_question(item, variant)
        start, end = stated(item, variant, text)
        words = text[start:end]
        answer, reason = short_answer(words, variant.target, f"{item.question} {question}", self.most_words)
        if answer is None:
            return unreadable(REFUSAL if is_refusal(text) else reason)
        if answer not in (variant.target or "").split("\n") and is_refusal(text):
            return unreadable(REFUSAL)
        left = len(words) - len(words.lstrip())
        return Reading(OK, answer=answer, span=(start + left, start + len(words.rstrip())))


EXTRACTOR = TextMatch()
