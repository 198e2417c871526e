"""Own pattern: a user's regular expression over the written answer, bounded in time."""

import math
import re as stdlib_re
from dataclasses import dataclass
from typing import ClassVar

import regex

from flipcore.core.contracts import param
from flipcore.core.errors import BadInput
from flipcore.core.records import OK, Item, Reading, Variant
from flipcore.extractors.readings import TextReader, unreadable
from flipcore.extractors.written.stated_choice import ChoiceText
from flipcore.text.answers import canonical_number, text_answer

TIME_LIMIT_S = (
    0.25  # for one answer; a pattern that needs longer goes through its possibilities one by one
)
# counted repeats are unrolled: (((a{1000}){1000}){1000}) never compiles
MOST_CHARACTERS, MOST_REPEATS = (500, 10_000)
# a letter that begins a word is no label
DEFAULT = r"answer\s*(?:is|:)[\s*(]*([A-Za-z](?![\w'’])|[-+]?[\d,.]*\d)"
_REPETITION = stdlib_re.compile(r"\{(\d*)(?:,(\d*))?\}")
WHICH = ("first", "last")
FLAGS = {
    "ignore case": regex.IGNORECASE,
    "multi-line": regex.MULTILINE,
    "dot matches newline": regex.DOTALL,
}


@dataclass(frozen=True)
class Pattern(TextReader):
    """`expression` is a regular expression; its `group` (a number, 0 is the whole match, or a name)
    in the first or last match holds a label, an option's text, a number or a short answer in words.
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
        """Raises BadInput for an expression, a group or a flag that cannot be used."""
        if not self.expression or len(self.expression) > MOST_CHARACTERS:
            raise BadInput(
                f"The pattern has {len(self.expression)} characters; give a regular expression of "
                f"1 to {MOST_CHARACTERS}."
            )
        if self.which not in WHICH:
            raise BadInput(
                f"The pattern takes the match {self.which!r}; choose one of {', '.join(WHICH)}."
            )
        if (
            math.prod(
                max(int(most or least or 1), 1)
                for least, most in _REPETITION.findall(self.expression)
            )
            > MOST_REPEATS
        ):
            raise BadInput(
                f"The pattern's counted repeats multiply to more than {MOST_REPEATS:,}. Use "
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
        """The answer that the group holds; unreadable where nothing matches, or not in time."""
        try:
            matches = self.compiled().finditer(text, timeout=TIME_LIMIT_S)
            if self.which == "first":
                hit = next(matches, None)
            else:
                hit = max(matches, key=lambda match: match.start(), default=None)
        except TimeoutError:
            return unreadable(
                f"The pattern took longer than {TIME_LIMIT_S:g} s on this answer and was stopped."
            )
        if hit is None or hit.group(self._group()) is None:
            return unreadable("The pattern matches nothing in the answer.")
        words, span = hit.group(self._group()), hit.span(self._group())
        answer = _answer(item, variant, words=words)
        if answer is None:
            return unreadable(f"The pattern found “{words[:40]}”, which is not among the answers.")
        return Reading(OK, answer=answer, span=span)


def _answer(item: Item, variant: Variant, words: str) -> str | None:
    """A number, a text, or the option that a label or an option's words name."""
    if item.kind == "number":
        return canonical_number(words)
    if item.kind == "text":
        return text_answer(words, variant.target)
    choice = ChoiceText(variant.labels, [item.options[i] for i in variant.order]).choice(words)
    return None if choice.position is None else str(variant.order[choice.position])


EXTRACTOR = Pattern()
