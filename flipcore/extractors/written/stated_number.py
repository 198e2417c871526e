"""Which number a generated text gives as its answer.

The last statement counts ("#### n", "Answer: n", "A: n", "the answer is n", a box); without one, the last number of the
answer. GSM8K's own grader reads "A: n" and "#### n".
"""

from __future__ import annotations

import re

from flipcore.text.answers import canonical_number

NUMBER = (
    r"(?:(?<![\w.)])[-−]\s?)?\$?\s?(?:(?<![\d.])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:\s?/\s?\d+(?![\d/]))?|"
    r"(?<![\d.])\.\d+)%?"
)
_STATED = re.compile(
    r"(?:####|\\boxed\s*\{|(?:^|\n)[ \t]*(?:\*\*)?A[ \t]*:"
    r"|\b(?:final\s+)?answer\b(?:\s+(?:to|for)\b[^.\n:]{0,80}?)?\s*(?:\*\*)?\s*"
    r"(?:is|would be|must be|should be|[:=]))(?:[\s*:_({\[]|\\text|\\boxed|\\\(|the|about|a total of|equal to)*",
    re.IGNORECASE,
)
_NUMBER = re.compile(NUMBER)
_ALTERNATIVE = re.compile(rf"\s*(?:or|and)\s*(?={NUMBER}\s*(?:[.,\n]|$))")


def stated_number(text: str) -> tuple[str | None, tuple[int, int] | None, str]:
    """(canonical number, its span, "") or (None, None, why not). Two numbers joined by "or" are no answer."""
    last = None
    for mark in _STATED.finditer(text):
        found = _after(text, mark.end())
        last = found or last
    if last is None:
        numbers = list(_NUMBER.finditer(text))
        if not numbers:
            return None, None, "The answer has no number."
        last = numbers[-1]
    elif _ALTERNATIVE.match(text, last.end()):
        return None, None, "The answer gives two numbers to choose from."
    answer = canonical_number(last.group().replace("−", "-").replace("- ", "-"))
    if answer is None:
        return None, None, f"{last.group().strip()!r} is not a number that can be compared."
    start = last.end() - len(last.group().lstrip())
    return answer, (start, last.end()), ""


def _after(text: str, start: int) -> re.Match | None:
    """The number that a statement gives: directly after it (a currency word may stand between), or in an equation on the
    same line, what stands after the last equals sign."""
    line_end = text.find("\n", start)
    line_end = len(text) if line_end < 0 else line_end
    equals = text.rfind("=", start, line_end)
    if equals >= 0:
        return _NUMBER.search(text, equals, line_end)
    return _NUMBER.search(text, start, min(line_end, start + 60))
