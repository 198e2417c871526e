"""The numbers in a text, in digits or in words, as exact values."""

import re
from collections.abc import Sequence
from fractions import Fraction

_SMALL = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split()
    )
} | dict(
    zip(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(),
        range(20, 100, 10),
        strict=True,
    )
)
# A factor multiplies the part before it, to which more may be added ("two hundred five"). A large
# unit also adds its part to the total, and the next part starts at 0 ("two thousand five").
_FACTORS = {"dozen": 12, "dozens": 12, "hundred": 100}
_LARGE_UNITS = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_NUMBER_WORD, _SCALE_WORD = (
    rf"(?:{'|'.join(sorted(words, key=len, reverse=True))})\b"
    for words in ([*_SMALL, *_FACTORS, *_LARGE_UNITS], [*_FACTORS, *_LARGE_UNITS])
)
_NUMBER = re.compile(
    rf"(?P<digits>\d+(?:,\d{{3}})+(?:\.\d+)?"
    rf"|(?:(?<![\d.])\.)?\d+(?:\.\d+)?)(?P<scales>(?:\s+{_SCALE_WORD})*)"
    rf"|\b{_NUMBER_WORD}(?:(?:[\s-]+|(?:(?<=hundred)|(?<=thousand)"
    rf"|(?<=million)),?\s+(?:and\s+)?){_NUMBER_WORD})*",
    re.IGNORECASE,
)


def numbers(text: str) -> list[str]:
    """Return every number of a text in ascending order, as digits or a fraction.

    "twenty-five" is 25, "two dozen" 24, "1.5 million" 1500000. A single "one" does not count,
    because it is a pronoun as often as a number.
    """
    values: list[Fraction] = []
    for match in _NUMBER.finditer(text):
        if match["digits"]:
            value = Fraction(match["digits"].replace(",", ""))
            for scale in match["scales"].casefold().split():
                value *= (_FACTORS | _LARGE_UNITS)[scale]
            values.append(value)
        else:
            values += _values_of_words(re.findall(_NUMBER_WORD, match.group().casefold()))
    return [str(value) for value in sorted(values)]


def in_digits(text: str) -> str:
    """Return the text with each number in plain digits: "twenty-five of 1,450" is "25 of 1450".
    A single "one" and several numbers in a row stay unchanged."""
    return _NUMBER.sub(_digits, text)


def _digits(match: re.Match) -> str:
    without_commas = match.group().replace(",", "")
    if match["digits"] and not match["scales"]:
        return without_commas
    values = numbers(match.group())
    return values[0] if len(values) == 1 and values[0].isdecimal() else without_commas


def _values_of_words(words: Sequence[str]) -> list[Fraction]:
    """Return the numbers of a run of number words: one in "two hundred five", two in "five six"."""
    values: list[Fraction] = []
    number_words: list[str] = []  # of the current number
    total, part = 0, None
    # The empty word ends the last number.
    for word in [*words, ""]:
        value = _SMALL.get(word)
        if word in _FACTORS:
            part = (1 if part is None else part) * _FACTORS[word]
        elif word in _LARGE_UNITS:
            total, part = total + (1 if part is None else part) * _LARGE_UNITS[word], None
        elif value is not None and _continues(part, value):
            part = (part or 0) + value
        else:
            if number_words not in ([], ["one"]):
                values.append(Fraction(total + (part or 0)))
            total, part, number_words = 0, value, []
        number_words.append(word)
    return values


def _continues(part: int | None, value: int) -> bool:
    """Tell whether `value` after `part` continues the number, as five after twenty does, or twenty
    after three hundred."""
    return (
        part is None
        or (part % 10 == 0 and part % 100 >= 20 and 0 < value < 10)
        or (part >= 100 and part % 100 == 0 and value > 0)
    )
