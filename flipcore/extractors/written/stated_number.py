"""Finds the number that a generated text gives as its answer.

The last statement counts ("#### n", "Answer: n", "A: n", "the answer is n", a box, "n is the
answer"), or without one the last number of the text. Denied numbers ("not 20"), two numbers to
choose from and two units ("2 hours and 30 minutes") are no answer. GSM8K's own grader reads "A: n"
and "#### n".

Numbers may have a scale ("1.8 million"), be mixed fractions ("3 1/2"), or have blanks or points
between thousands and a comma before decimals. "3,4" (a decimal or two numbers) and "2:30" (a time
of day) are not read.
"""

import re
import unicodedata
from collections.abc import Iterable
from fractions import Fraction

from flipcore.extractors.written import languages
from flipcore.extractors.written.denial import is_denied
from flipcore.text.answers import canonical_number

_POWER = (
    r"(?:[eE][-+]?\d{1,3}(?!\w|\.\d)|\s?(?:x|×|\*|\\times|\\cdot)\s?10\s?\^\s?\{?[-+−]?\d{1,3}\}?)"
)
_VULGAR = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_EURO = r"\s?(?:€|EUR\b|euros?\b)"
# These forms are tried before the plain ones, which would read only a part of them.
_CLOCK = r"\d{1,2}:[0-5]\d(?![\d:])"
_MIXED = rf"\d+[ \u00a0]\d+/\d+(?![\d/])|\d*\s?[{_VULGAR}]"
_POINTS = (
    rf"\d{{1,3}}(?:(?:\.\d{{3}}){{2,}}(?![\d.])|(?:\.\d{{3}})+(?:,\d{{1,2}}(?!\d)|(?={_EURO})))"
)
_BLANKS = r"\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?:[.,]\d{1,2})?(?![\d/]|-\w|[.,]\d| ?[x×*^])"
_COMMA = r"(?<!\d,)\d+,\d{1,2}(?![\d,])"
NUMBER = (
    r"(?:(?<![\w.)])[-−]\s?)?\$?\s?(?:\\[dt]?frac\{\d+\}\{\d+\}"
    rf"|(?<![\d.:])(?<!\d[eE])(?:{_CLOCK}|{_MIXED}|{_POINTS}|{_BLANKS}|{_COMMA})"
    r"|(?<![\d.])(?<!\d[eE])"
    r"(?:\d{1,3}(?:(?:,|\{,\})\d{3})+|\d+)(?:\.\d+)?"
    rf"(?:{_POWER}|\s?/\s?\d+(?![\d/])|(?![eE][-+]?\d))|(?<![\d.])\.\d+)%?"
)
_ANSWER_IS = (
    r"####|\\boxed\s*\{|(?:^|\n)[ \t]*(?:\*\*)?A[ "
    r"\t]*:|\b(?:final\s+)?answer\b(?:\s*\([^)\n]{0,60}\))?(?:\s+(?:to|"
    r"for)\b[^.\n:]{0,80}?)?\s*(?:\*\*)?\s*(?:is|would be|must be|should be|[:=])"
)
_BETWEEN = r"(?:[\s*:_({\[]|\\text|\\boxed|\\\(|the|about|a total of|equal to)*"
_STATED = re.compile(rf"(?:{_ANSWER_IS}){_BETWEEN}", re.IGNORECASE)
_STATED_IN_ANY_LANGUAGE = re.compile(
    rf"(?:{_ANSWER_IS}|{languages.ANSWER_IS}){_BETWEEN}", re.IGNORECASE
)
_ANSWER_LINE = re.compile(r"(?:^|\n)[ \t]*(?:\*\*)?A[ \t]*:", re.IGNORECASE)
# Every number begins so. Without this check the slow pattern would be tried at each letter.
_BEGINS = rf"(?=[-−$\\.\d{_VULGAR}]|\s[\\.\d{_VULGAR}])"
_NUMBER = re.compile(_BEGINS + NUMBER)
_CALLED_ANSWER = r"is\s+(?:the|my)\s+(?:\w+\s+)?answer\b"
_IS_ANSWER = re.compile(rf"({NUMBER})\s+(?:\w+\s+)?{_CALLED_ANSWER}", re.IGNORECASE)
# Looked for before _IS_ANSWER, which is slow; the first one in a text in lower case.
_MAY_BE_ANSWER_FOLDED = re.compile(_CALLED_ANSWER)
_MAY_BE_ANSWER = re.compile(_CALLED_ANSWER, re.IGNORECASE)
_COMMA_LANGUAGE = re.compile(languages.COMMA_ANSWER_IS, re.IGNORECASE)
_ALTERNATIVE = re.compile(rf"\s*(?:or|and|,|to|{languages.JOINS})\s*(?={NUMBER}\s*(?:[.,\n]|$))")
_CHOICE_BEFORE = re.compile(r"\d\s*(?:or|to|and)\s*\$?$")  # "18 or 20", "between 18 and 20"
_SCALE = re.compile(r"(?:[eE]|\s?(?:x|×|\*|\\times|\\cdot)\s?10\s?\^\s?\{?)([-+]?\d{1,3})\}?%?$")
_CURRENCY_REACH = 7  # characters after a number in which its currency may be
_REACH = 12  # characters before a number that are checked for a choice or a larger unit
_GAP = 60  # characters between a statement and its number
_TAIL = 120  # characters at the end, which nearly always hold the last number
_TIMES = re.compile(r"\s*(?:(thousand|million|billion|trillion)s?\b|(k)\b)", re.IGNORECASE)
_SCALES = {"thousand": 3, "k": 3, "million": 6, "billion": 9, "trillion": 12}
_CHECK = re.compile(
    r"[(\[]\s*(?:check|verif\w*|proof|because|since|note)\b[^()\[\]]*[)\]]", re.IGNORECASE
)
_CORRECTED = re.compile(
    r"\b(?:wait|correction|oops|actually|sorry|scratch that|I mean)\b[^\n]{0,80}?"
    r"\b(?:it(?:['’]s| is| should be| must be)|should be|must be|make that|I mean)"
    rf"(?:[\s*:]|actually)*{_BEGINS}",
    re.IGNORECASE,
)
_LARGE = r"(?:hours?|hrs?|days?|weeks?|years?|feet|foot|ft|pounds?|lbs?|dollars?|minutes?)"
_SMALL = r"(?:minutes?|mins?|seconds?|days?|hours?|months?|inch(?:es)?|ounces?|oz|cents?)"
_TWO_UNITS = re.compile(rf"\s*{_LARGE},?\s+(?:and\s+)?{NUMBER}\s*{_SMALL}\b", re.IGNORECASE)
_BEFORE_UNIT = re.compile(rf"\d\s*{_LARGE},?\s+(?:and\s+)?$", re.IGNORECASE)
# No number holds these letters, so a search may begin after one of them.
_NOT_IN_NUMBERS = "hln"


def stated_number(text: str, question: str = "") -> tuple[str | None, tuple[int, int] | None, str]:
    """Return (canonical number, its span, "") or (None, None, why not).
    To a question "how many million" the answer "5 million" is 5."""
    text = languages.in_ascii(text)
    if "(" in text or "[" in text:
        # Ignore checks in brackets, unless all numbers are in them.
        without_checks = _CHECK.sub(lambda match: " " * len(match.group()), text)
        if without_checks != text and _NUMBER.search(without_checks):
            text = without_checks
    may_be_foreign = languages.may_be_foreign(text)
    last = _last_statement(text, may_be_foreign=may_be_foreign)
    if last is None:
        tail = max(0, len(text) - _TAIL)
        search_start = max(text.rfind(letter, 0, tail) for letter in _NOT_IN_NUMBERS) + 1
        last = _last_number(text, search_start) or _last_number(text, 0)
        if last is None:
            return None, None, "The answer has no number, or only numbers that it denies."
        # A number may begin with the blank after a unit, so its first character is kept.
        before = text[max(0, last.start() - _REACH) : last.start() + 1]
        if _CHOICE_BEFORE.search(before[:-1]):
            return None, None, "The answer gives two numbers to choose from."
        if _BEFORE_UNIT.search(before.rstrip("0123456789")):
            return None, None, "The answer is in two units."
    elif not _ends_text(text, last):
        last = _correction(text, last.end()) or last
        if _ALTERNATIVE.match(text, last.end()):
            return None, None, "The answer gives two numbers to choose from."
    is_end = _ends_text(text, last)
    if not is_end and _TWO_UNITS.match(text, last.end()):
        return None, None, "The answer is in two units."
    has_commas = may_be_foreign and bool(_COMMA_LANGUAGE.search(text))
    answer = _value(
        last.group(),
        text[: last.start()].rstrip()[-1:],
        after=text[last.end() : last.end() + _CURRENCY_REACH],
        has_commas=has_commas,
    )
    answer = None if not is_end and languages.SCALES.match(text, last.end()) else answer
    if answer is None:
        return None, None, f"{last.group().strip()!r} is not a number that can be compared."
    start, end = last.end() - len(last.group().lstrip()), last.end()
    # The 8 of a name ("gsm8k") has no scale.
    has_scale = not is_end and not text[start - 1 : start].isalpha()
    times = _TIMES.match(text, end) if has_scale else None
    if times and not re.search(
        rf"\b(?:how many|in) {times.group().strip()}", question, re.IGNORECASE
    ):
        answer = str(Fraction(answer) * 10 ** _SCALES[(times[1] or times[2]).lower()])
        end = times.end()
    return answer, (start, end), ""


def _ends_text(text: str, number: re.Match) -> bool:
    """Tell whether only periods and spaces follow a number, as at the end of most texts."""
    return not text[number.end() :].strip(" .")


def _correction(text: str, start: int) -> re.Match | None:
    """Return the number of the last correction after `start`: "Wait, no, it is 14"."""
    marks = [match.end() for match in _CORRECTED.finditer(text, start)]
    return _NUMBER.match(text, marks[-1]) if marks else None


def _last_statement(text: str, *, may_be_foreign: bool) -> re.Match | None:
    """Return the number of the last statement; `may_be_foreign` allows other languages."""
    folded = "" if may_be_foreign else text.lower()
    start = 0 if may_be_foreign else _first_statement(text, folded)
    if start is None:
        return None
    stated: list[re.Match] = []
    for mark in (_STATED_IN_ANY_LANGUAGE if may_be_foreign else _STATED).finditer(text, start):
        if number := _stated_after(text, mark.end()):
            stated.append(number)
    may_be_answer = (
        _MAY_BE_ANSWER.search(text) if may_be_foreign else _MAY_BE_ANSWER_FOLDED.search(folded)
    )
    for mark in _IS_ANSWER.finditer(text) if may_be_answer else ():
        number = None if is_denied(text, *mark.span(1)) else _NUMBER.match(text, mark.start(1))
        if number:
            stated.append(number)
    return max(stated, key=lambda match: match.start(), default=None)


def _first_statement(text: str, folded: str) -> int | None:
    """Return where the first statement may begin in an ASCII text; None without a statement.

    `folded` is the text in lower case. Most answers are stated at the end of a text, so a search
    from there is much faster than one from the beginning.
    """
    answer = folded.find("answer")
    starts = [text.find("####"), folded.find("\\boxed"), answer]
    if answer > 0:
        starts.append(folded.rfind("final", 0, answer))  # "final answer"
    if ":" in text and (line := _ANSWER_LINE.search(text)):
        starts.append(line.start())
    return min((start for start in starts if start >= 0), default=None)


def _last_number(text: str, start: int) -> re.Match | None:
    """Return the last number after `start` that is not denied.
    A part of a word ("400-meter") counts only if the whole text has no other number."""
    numbers = [*_NUMBER.finditer(text, start)]
    return _first_number(text, reversed(numbers), or_part_of_word=not start)


def _first_number(
    text: str, numbers: Iterable[re.Match], *, or_part_of_word: bool
) -> re.Match | None:
    """Return the first number that is neither denied nor part of a word; None without one. With
    `or_part_of_word`, the first part of a word counts if there is no other number."""
    part_of_word = None
    for number in numbers:
        if _is_denied(text, number):
            continue
        if not _is_part_of_word(text, number):
            return number
        part_of_word = part_of_word or number
    return part_of_word if or_part_of_word else None


def _is_part_of_word(text: str, match: re.Match) -> bool:
    """Tell whether a number is part of a word, as in "400-meter", and counts nothing."""
    end = match.end()
    return text[end : end + 1] == "-" and text[end + 1 : end + 2].isalpha()


def _is_denied(text: str, match: re.Match) -> bool:
    return is_denied(text, match.end() - len(match.group().lstrip()), end=match.end())


def _stated_after(text: str, start: int) -> re.Match | None:
    """Return the number of a statement that ends at `start`. It stands within _GAP characters,
    after a currency word perhaps, or after the last equals sign of the line."""
    line_end = text.find("\n", start)
    line_end = len(text) if line_end < 0 else line_end
    equals = text.rfind("=", start, line_end)
    begin, stop = (equals, line_end) if equals >= 0 else (start, min(line_end, start + _GAP))
    return _first_number(text, _NUMBER.finditer(text, begin, stop), or_part_of_word=True)


def _value(
    number: str, before: str = "", after: str = "", *, has_commas: bool = False
) -> str | None:
    """Return the canonical number of a match of NUMBER; None if it is ambiguous.

    `before` is the character before it, `after` the text after it. `has_commas` says that the
    language sets a comma before decimals.
    """
    # Nearly every number is nothing but digits.
    if number.isascii() and number.strip().isdigit():
        return canonical_number(number)
    sign = "-" if number.strip()[:1] in "-−" else ""
    bare = re.sub(r"^[-−$\s]+|[%\s]+$", "", number)
    if re.fullmatch(_CLOCK, bare):
        return str(int(bare[:-3])) if bare.endswith(":00") else None
    if bare[-1] in _VULGAR:
        part = Fraction(unicodedata.numeric(bare[-1])).limit_denominator(10)
        return canonical_number(f"{sign}{int(bare[:-1] or 0) + part}")
    if mixed := re.fullmatch(r"(\d+)[ \u00a0](\d+)/(\d+)", bare):
        n_wholes, top, bottom = map(int, mixed.groups())
        if not bottom:
            return None
        # "2 9/3" is no mixed number; only its fraction counts.
        wholes = n_wholes if top < bottom else 0
        return canonical_number(f"{sign}{wholes + Fraction(top, bottom)}")
    is_euro = re.match(_EURO, after)
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+(?:,\d{1,2})?", bare) and (
        "," in bare or bare.count(".") > 1 or is_euro
    ):
        return canonical_number(sign + bare.replace(".", "").replace(",", "."))
    if re.fullmatch(_BLANKS, bare):
        return canonical_number(sign + re.sub(r"\s", "", bare).replace(",", "."))
    if re.fullmatch(_COMMA, bare):
        is_share = "%" in number or is_euro
        is_pair = before in ("(", "[", "{") or (
            len(bare.rpartition(",")[2]) == 1 and not is_share and not has_commas
        )
        return None if is_pair else canonical_number(sign + bare.replace(",", "."))
    if has_commas and re.fullmatch(r"\d{1,3}[.,]\d{3}", bare):
        return None  # thousands or decimals
    number = number.replace("−", "-").replace("- ", "-").replace("{,}", ",")
    number = re.sub(r"\\[dt]?frac\{(\d+)\}\{(\d+)\}", r"\1/\2", number)
    power = _SCALE.search(number)
    if power is None:
        return canonical_number(number)
    factor = canonical_number(number[: power.start()])
    return factor and str(Fraction(factor) * Fraction(10) ** int(power[1]))
