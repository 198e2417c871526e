"""Canonical answers as text: an option's index in the item's order, a number, normalised words."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from flipcore.core.records import Item
from flipcore.text.numerals import in_digits

_NUMBER = re.compile(
    r"[$€£]?-?[$€£]?\s?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:\s?/\s?\d+)?\s?%?", re.ASCII
)


LONGEST_FRACTION = 24  # characters; a decimal number of more digits would be rounded
_FRACTION = re.compile(r"-?\d+/[1-9]\d*", re.ASCII)
_BEFORE_NUMBER = re.compile(r"####?|(?:^|\n)A:")  # between a solution and its answer


@lru_cache(1_000)  # a row needs it three times: for its kind, its gold answer and its target
def number_at_end(text: str) -> str | None:
    """Return the exact number of a right answer; None if it is not a number. A solution may come
    before it: those of GSM8K end in "#### 18" or in "A: 18"."""
    return canonical_number(_BEFORE_NUMBER.split(text)[-1])


def canonical_number(text: str) -> str | None:
    """Return an exact number as text: "1,450.00" -> "1450", "$14.50" -> "29/2", "12%" -> "12"; None
    for anything else.

    A percent sign is dropped, because graders compare "12%" with "12"; the question sets the unit.
    """
    cleaned = text.strip().rstrip(".").replace("\u2212", "-").strip()
    if len(cleaned) < 20 and cleaned.isascii() and cleaned.isdigit():
        return str(int(cleaned))
    if not _NUMBER.fullmatch(cleaned) or not re.search(r"\d", cleaned):
        return None
    try:
        return str(Fraction(re.sub(r"[\s,$€£%]", "", cleaned)))
    except (ValueError, ZeroDivisionError):
        return None


# A LaTeX command or escaped sign, a formula in dollars, a power, a fraction, a root or π.
_FORMULA = re.compile(r"\\[A-Za-z]+|\\[$%]|\$[^$]+\$|\^|\d\s*/\s*\d|[√π]")
# A LaTeX command with its argument, whose letters are not words of the answer.
_COMMAND = re.compile(r"\\[A-Za-z]+(?:\{[^{}]*\})?")
# Least shares of formulas, and of formulas and signs, among right answers that are mathematics.
LEAST_FORMULAS, LEAST_SIGNS = 0.05, 0.9


def answer_form(answer: str) -> str:
    """Return how a right answer is written: "words", "sign" (a number, a variable, a letter), or
    "formula" (anything else in mathematics)."""
    if number_at_end(answer) is not None:
        return "sign"
    if re.search(r"[^\W\d_]{3}", _COMMAND.sub(" ", answer)):
        return "words"
    return "formula" if _FORMULA.search(answer) else "sign"


def are_mathematics(forms: Mapping[str, int]) -> bool:
    """Tell whether right answers are mathematics; `forms` has their number per `answer_form`."""
    n, n_formulas = sum(forms.values()), forms.get("formula", 0)
    return n_formulas >= max(1, LEAST_FORMULAS * n) and n - forms.get("words", 0) >= LEAST_SIGNS * n


_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
MAX_TEXT = 1_000  # characters of a canonical text answer; longer ones are cut


class _WordTable(dict[int, str]):
    """A table for `str.translate`: punctuation, blanks and control characters become a blank. Each
    character is looked up once."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        self[code] = " " if unicodedata.category(letter)[0] in "PZC" else letter
        return self[code]


_WORD_TABLE = _WordTable()


_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_LONGEST_BOX = 2_000  # characters


def boxed_spans(text: str) -> list[tuple[int, int]]:
    """Return the (start, end) of the content of each \\boxed{…} or \\fbox{…} with matching
    braces."""
    spans = []
    for opening in _BOX.finditer(text):
        depth = 1
        for index in range(opening.end(), min(len(text), opening.end() + _LONGEST_BOX)):
            depth += {"{": 1, "}": -1}.get(text[index], 0)
            if depth == 0:
                spans.append((opening.end(), index))
                break
    return spans


def normalised_text(text: str) -> str:
    """Return the words as graders of short answers compare them (SQuAD, arXiv:1606.05250).

    Case, punctuation, articles and extra blanks are dropped; only case and extra blanks if nothing
    else would be left.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = _ARTICLES.sub(" ", folded.translate(_WORD_TABLE)).split()
    return " ".join(words or folded.split())[:MAX_TEXT]


_MATHEMATICS = re.compile(r"[$^=<>+*/(\[{|]")


def text_target(answers: Iterable[str], *, as_written: bool = False) -> str | None:
    """Return several right answers as one target, one per line; None for no answer.

    Of answers that compare equal, the first is kept. Words are normalised unless `as_written`.
    Mathematics is not, because normalising would destroy it.
    """
    lines_by_text: dict[str, str] = {}
    for answer in answers:
        line = " ".join(answer.split())[:MAX_TEXT]
        if not line:
            continue
        is_expression = "\\" in line or (
            _MATHEMATICS.search(line) and not re.search(r"[^\W\d_]{3}", line)
        )
        text = normalised_text(line)
        lines_by_text.setdefault(text, line if as_written or is_expression else text)
    return "\n".join(lines_by_text.values()) or None


def plain_answer(answer: str) -> str:
    """Return a short answer as it is compared: a number without the zeros that end its decimals
    ("1,450" and "1450.0" become "1450"), or normalised words."""
    bare = _THOUSANDS_BLANK.sub("", answer.strip(_MARKS_AROUND))
    digits = in_digits("1" if bare.casefold() == "one" else bare)
    number = _NUMBER_IN_DIGITS.fullmatch(digits)
    if not number:
        return normalised_text(answer)
    decimals = f".{number['decimals']}" if number["decimals"] else ""
    return number["whole"].replace("\u2212", "-") + decimals


_MARKS_AROUND = " \t\n.!?*\"'“”"
_NUMBER_IN_DIGITS = re.compile(r"(?P<whole>[-\u2212]?\d+)(?:\.(?P<decimals>\d*?)0*)?", re.ASCII)
_THOUSANDS_BLANK = re.compile(
    r"(?<=\d)[ \u00a0\u2009\u202f](?=(?:\d{3}[ \u00a0\u2009\u202f])*\d{3}\Z)"
)


def text_answer(answer: str, target: str | None) -> str | None:
    """Return the canonical text answer; None for an empty one. Any right answer is replaced by the
    first in `target`, so that synonyms are not flips."""
    plain_text = plain_answer(answer)
    right_answers = target.split("\n") if target else []
    return (
        right_answers[0] if plain_text in map(plain_answer, right_answers) else plain_text or None
    )


def option_text(item: Item, answer: str | None) -> str | None:
    """Return the text of the option that a canonical answer names; None if it names none."""
    if answer is None or not answer.isdecimal() or int(answer) >= len(item.options):
        return None
    return item.options[int(answer)]


def answer_text(item: Item, answer: str | None) -> str:
    """Return the answer for people: an option's text, or the answer itself; an em dash for None.
    Several right answers are joined by "or"."""
    if answer is None:
        return "—"
    if "\n" in answer:
        return " or ".join(answer_text(item, right_answer) for right_answer in answer.split("\n"))
    if item.kind == "number":
        return decimal_text(answer)
    option = option_text(item, answer) if item.kind == "choice" else None
    return answer if option is None else option


def decimal_text(number: str) -> str:
    """Return a canonical number as people write it: "29/2" -> "14.5". A third stays "1/3"."""
    if len(number) > LONGEST_FRACTION or not _FRACTION.fullmatch(number):
        return number
    numerator, _, denominator = number.partition("/")
    divisor = int(denominator)
    for factor in (2, 5):
        while divisor % factor == 0:
            divisor //= factor
    return number if divisor > 1 else f"{Decimal(numerator) / Decimal(denominator):f}"
