"""Which number a generated text gives as its answer.

The last statement counts ("#### n", "Answer: n", "A: n", "the answer is n", a box, "n is the answer"); without one, the last
number of the answer. A number that is denied ("not 20") is none, and neither are two to choose from. GSM8K's own grader reads
"A: n" and "#### n".
"""

import re
from fractions import Fraction

from flipcore.extractors.written.denial import is_denied
from flipcore.text.answers import canonical_number

_POWER = r"(?:[eE][-+]?\d{1,3}(?!\w|\.\d)|\s?(?:x|×|\*|\\times|\\cdot)\s?10\s?\^\s?\{?[-+−]?\d{1,3}\}?)"
NUMBER = (
    r"(?:(?<![\w.)])[-−]\s?)?\$?\s?(?:\\[dt]?frac\{\d+\}\{\d+\}|(?<![\d.])(?<!\d[eE])(?:\d{1,3}(?:(?:,|\{,\})\d{3})+|\d+)(?:\.\d+)?"
    rf"(?:{_POWER}|\s?/\s?\d+(?![\d/])|(?![eE][-+]?\d))|(?<![\d.])\.\d+)%?"
)
_STATED = re.compile(
    r"(?:####|\\boxed\s*\{|(?:^|\n)[ \t]*(?:\*\*)?A[ \t]*:"
    r"|\b(?:final\s+)?answer\b(?:\s*\([^)\n]{0,60}\))?(?:\s+(?:to|for)\b[^.\n:]{0,80}?)?\s*(?:\*\*)?\s*"
    r"(?:is|would be|must be|should be|[:=]))(?:[\s*:_({\[]|\\text|\\boxed|\\\(|the|about|a total of|equal to)*",
    re.IGNORECASE,
)
_MAY_STATE = re.compile(r"####|\\boxed|answer|A[ \t]*:", re.IGNORECASE)  # what every statement holds: the search is slow
_BEGINS = r"(?=[-−$\\.\d]|\s[\\.\d])"  # as every number does: the search is slow where each letter of a text is tried
_NUMBER = re.compile(_BEGINS + NUMBER)
_BEHIND = r"is\s+(?:the|my)\s+(?:\w+\s+)?answer\b"
_IS_ANSWER = re.compile(rf"({NUMBER})\s+(?:\w+\s+)?{_BEHIND}", re.IGNORECASE)
_MAY_BE_ANSWER = re.compile(_BEHIND, re.IGNORECASE)  # the search for a number before it is slow
_ALTERNATIVE = re.compile(rf"\s*(?:or|and|,|to)\s*(?={NUMBER}\s*(?:[.,\n]|$))")
_CHOICE_BEFORE = re.compile(r"\d\s*(?:or|to|and)\s*\$?$")  # "18 or 20", "between 18 and 20"
_SCALE = re.compile(r"(?:[eE]|\s?(?:x|×|\*|\\times|\\cdot)\s?10\s?\^\s?\{?)([-+]?\d{1,3})\}?%?$")
_REACH = 12
_TAIL = 120  # characters at the end of a text in which its last number nearly always stands
_NO_PART = "hln"  # letters that no number holds: the numbers behind one are the same wherever the search begins


def stated_number(text: str) -> tuple[str | None, tuple[int, int] | None, str]:
    """(canonical number, its span, "") or (None, None, why not). Two numbers joined by "or" are no answer."""
    last = _statement(text)
    if last is None:
        tail = max(0, len(text) - _TAIL)
        last = _last(text, max(text.rfind(letter, 0, tail) for letter in _NO_PART) + 1) or _last(text, 0)
        if last is None:
            return None, None, "The answer has no number, or only numbers that it denies."
        if _CHOICE_BEFORE.search(text[max(0, last.start() - _REACH) : last.start()]):
            return None, None, "The answer gives two numbers to choose from."
    elif _ALTERNATIVE.match(text, last.end()):
        return None, None, "The answer gives two numbers to choose from."
    answer = _value(last.group())
    if answer is None:
        return None, None, f"{last.group().strip()!r} is not a number that can be compared."
    start = last.end() - len(last.group().lstrip())
    return answer, (start, last.end()), ""


def _statement(text: str) -> re.Match | None:
    """The number of the last statement that gives one."""
    if not _MAY_STATE.search(text):
        return None
    stated = [match for mark in _STATED.finditer(text) for match in [_after(text, mark.end())] if match]
    marks = _IS_ANSWER.finditer(text) if _MAY_BE_ANSWER.search(text) else ()
    first = [_NUMBER.match(text, mark.start(1)) for mark in marks if not is_denied(text, *mark.span(1))]
    return max((*stated, *filter(None, first)), key=lambda match: match.start(), default=None)


def _last(text: str, start: int) -> re.Match | None:
    """The last number behind `start` that is not denied."""
    return next((match for match in reversed([*_NUMBER.finditer(text, start)]) if not _denied(text, match)), None)


def _denied(text: str, match: re.Match) -> bool:
    return is_denied(text, match.end() - len(match.group().lstrip()), match.end())


def _after(text: str, start: int) -> re.Match | None:
    """The number that a statement gives: directly after it (a currency word may stand between), or in an equation on the
    same line, what stands after the last equals sign."""
    line_end = text.find("\n", start)
    line_end = len(text) if line_end < 0 else line_end
    equals = text.rfind("=", start, line_end)
    place, stop = (equals, line_end) if equals >= 0 else (start, min(line_end, start + 60))
    numbers = (match for match in _NUMBER.finditer(text, place, stop) if not _denied(text, match))
    return next(numbers, None)


def _value(number: str) -> str | None:
    """The canonical number of what was matched, LaTeX and powers of ten included."""
    number = number.replace("−", "-").replace("- ", "-").replace("{,}", ",")
    number = re.sub(r"\\[dt]?frac\{(\d+)\}\{(\d+)\}", r"\1/\2", number)
    power = _SCALE.search(number)
    if power is None:
        return canonical_number(number)
    factor = canonical_number(number[: power.start()])
    return factor and str(Fraction(factor) * Fraction(10) ** int(power[1]))
