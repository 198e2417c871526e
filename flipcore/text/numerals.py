"""The numbers that a text names, in digits or in words, as exact values."""

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
_TIMES = {"dozen": 12, "dozens": 12, "hundred": 100}
_CLOSING = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_NAME_OF_NUMBER, _SCALE = (
    rf"(?:{'|'.join(sorted(words, key=len, reverse=True))})\b"
    for words in ([*_SMALL, *_TIMES, *_CLOSING], [*_TIMES, *_CLOSING])
)
_NUMBER = re.compile(
    rf"(?P<digits>\d+(?:,\d{{3}})+(?:\.\d+)?"
    rf"|(?:(?<![\d.])\.)?\d+(?:\.\d+)?)(?P<scales>(?:\s+{_SCALE})*)"
    rf"|\b{_NAME_OF_NUMBER}(?:(?:[\s-]+|(?:(?<=hundred)|(?<=thousand)"
    rf"|(?<=million)),?\s+(?:and\s+)?){_NAME_OF_NUMBER})*",
    re.IGNORECASE,
)


def numbers(text: str) -> list[str]:
    """Every number of a text in ascending order, as digits or a fraction: "twenty-five" is 25, "two
    dozen" 24, "1.5 million" 1500000. "One" standing alone is a pronoun as often as a number and
    does not count."""
    values: list[Fraction] = []
    for match in _NUMBER.finditer(text):
        if match["digits"]:
            value = Fraction(match["digits"].replace(",", ""))
            for scale in match["scales"].casefold().split():
                value *= (_TIMES | _CLOSING)[scale]
            values.append(value)
        else:
            values += _values(re.findall(_NAME_OF_NUMBER, match.group().casefold()))
    return [str(value) for value in sorted(values)]


def in_digits(text: str) -> str:
    """The text with each number in plain digits: "twenty-five of 1,450" is "25 of 1450". "One" and
    numbers in a row stay as they are."""
    return _NUMBER.sub(_digits, text)


def _digits(match: re.Match) -> str:
    if match["digits"] and not match["scales"]:
        return match.group().replace(",", "")
    values = numbers(match.group())
    return (
        values[0] if len(values) == 1 and values[0].isdecimal() else match.group().replace(",", "")
    )


def _values(words: Sequence[str]) -> list[Fraction]:
    """The numbers of a run of number words: "two hundred five" is one of them, "five six" are
    two."""
    values: list[Fraction] = []
    run: list[str] = []
    total, part = 0, None
    for word in [*words, ""]:
        value = _SMALL.get(word)
        if word in _TIMES:
            part = (1 if part is None else part) * _TIMES[word]
        elif word in _CLOSING:
            total, part = total + (1 if part is None else part) * _CLOSING[word], None
        elif value is not None and _goes_on(part, value):
            part = (part or 0) + value
        else:
            values += [Fraction(total + (part or 0))] if run not in ([], ["one"]) else []
            total, part, run = 0, value, []
        run.append(word)
    return values


def _goes_on(part: int | None, value: int) -> bool:
    """Tell whether "part value" is one number: five after twenty, twenty after three hundred."""
    return (
        part is None
        or (part % 10 == 0 and part % 100 >= 20 and 0 < value < 10)
        or (part >= 100 and part % 100 == 0 and value > 0)
    )
