"""Own pattern: the user's regular expression on the written answer, with a time limit."""

import re as stdlib_re
from dataclasses import dataclass
from typing import ClassVar

import regex

from flipcore.core.contracts import param
from flipcore.core.errors import BadInput
from flipcore.core.records import OK, Item, Reading, Variant
from flipcore.extractors.readings import TextExtractor, unreadable
from flipcore.extractors.written.stated_choice import ChoiceText
from flipcore.text.answers import canonical_number, text_answer

# Per answer. A pattern that needs longer backtracks without end.
TIME_LIMIT_S = 0.25
# Counted repeats are unrolled, so (((a{1000}){1000}){1000}) would never compile.
MAX_CHARACTERS, MAX_REPEATS = 500, 10_000
# The lookahead excludes letters that begin a word: they are no labels.
DEFAULT = r"answer\s*(?:is|:)[\s*(]*([A-Za-z](?![\w'’])|[-+]?[\d,.]*\d)"
_REPETITION = stdlib_re.compile(r"\{(\d*)(?:,(\d*))?\}")
WHICH = ("first", "last")
FLAGS = {
    "ignore case": regex.IGNORECASE,
    "multi-line": regex.MULTILINE,
    "dot matches newline": regex.DOTALL,
}


@dataclass(frozen=True)
class Pattern(TextExtractor):
    """The answer is a group of the first or last match of `expression`.

    `group` is a number (0 is the whole match) or a name. It holds a label, an option's text, a
    number or a short answer in words.
    """

    expression: str = param(DEFAULT, "regular expression")
    group: str = "1"
    which: str = param("last", "which match", choices=WHICH)
    flags: tuple[str, ...] = param(("ignore case",), choices=tuple(FLAGS))
    name: ClassVar[str] = "pattern"
    title: ClassVar[str] = "Own pattern"
    about: ClassVar[str] = (
        "Your own regular expression over the written answer; what its group holds is the answer."
    )
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice", "number", "text"})

    def __post_init__(self) -> None:
        self.compiled()

    def compiled(self) -> regex.Pattern:
        """Return the compiled expression; BadInput for a wrong expression, group or flag."""
        if not self.expression or len(self.expression) > MAX_CHARACTERS:
            raise BadInput(
                f"The pattern has {len(self.expression)} characters; give a regular expression of "
                f"1 to {MAX_CHARACTERS}."
            )
        if self.which not in WHICH:
            raise BadInput(
                f"The pattern takes the match {self.which!r}; choose one of {', '.join(WHICH)}."
            )
        n_repeats = 1
        for low, high in _REPETITION.findall(self.expression):
            n_repeats *= max(int(high or low or 1), 1)
        if n_repeats > MAX_REPEATS:
            raise BadInput(
                f"The pattern's counted repeats multiply to more than {MAX_REPEATS:,}. Use "
                "smaller counts, or * and +."
            )
        unknown = [flag for flag in self.flags if flag not in FLAGS]
        if unknown:
            raise BadInput(
                f"The pattern has the flag {unknown[0]!r}; it may have {', '.join(FLAGS)}."
            )
        try:
            pattern = regex.compile(
                self.expression, flags=sum(FLAGS[flag] for flag in set(self.flags))
            )
        except (regex.error, ValueError, OverflowError, RecursionError) as error:
            raise BadInput(
                f"The pattern {self.expression} is no regular expression: {error}. Mend it and "
                "try again."
            ) from None
        if self._group() not in {*range(pattern.groups + 1), *pattern.groupindex}:
            raise BadInput(
                f"The pattern {self.expression} has no group {self.group!r}; it has 0 to "
                f"{pattern.groups}."
            )
        return pattern

    def _group(self) -> int | str:
        return int(self.group) if self.group.isdecimal() else self.group

    def read_text(self, item: Item, variant: Variant, text: str) -> Reading:
        """Read the group; unreadable where nothing matches, or not within the time limit."""
        try:
            matches = self.compiled().finditer(text, timeout=TIME_LIMIT_S)
            if self.which == "first":
                match = next(matches, None)
            else:
                match = max(matches, key=lambda match: match.start(), default=None)
        except TimeoutError:
            return unreadable(
                f"The pattern took longer than {TIME_LIMIT_S:g} s on this answer and was stopped."
            )
        if match is None or match.group(self._group()) is None:
            return unreadable("The pattern matches nothing in the answer.")
        words, span = match.group(self._group()), match.span(self._group())
        answer = _answer(item, variant, words=words)
        if answer is None:
            return unreadable(f"The pattern found “{words[:40]}”, which is not among the answers.")
        return Reading(OK, answer=answer, span=span)


def _answer(item: Item, variant: Variant, words: str) -> str | None:
    """Return the canonical answer of a group: a number, a text, or the option that it names."""
    if item.kind == "number":
        return canonical_number(words)
    if item.kind == "text":
        return text_answer(words, variant.target)
    choice = ChoiceText(variant.labels, [item.options[i] for i in variant.order]).choice(words)
    return None if choice.position is None else str(variant.order[choice.position])


EXTRACTOR = Pattern()
