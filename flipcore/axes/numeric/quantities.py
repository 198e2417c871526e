"""Finds the numbers that a word problem states, and those that must not change.

It is conservative on purpose: a wrong gold would fake a drop, a refused item only costs coverage.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
_TENS = dict(
    zip(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(),
        range(20, 100, 10),
        strict=True,
    )
)
WORDS = {word: value for value, word in enumerate(_UNITS)} | _TENS
for _ten, _value in _TENS.items():
    WORDS |= {f"{_ten}-{_UNITS[digit]}": _value + digit for digit in range(1, 10)}

# Longest words first: "twenty" would otherwise be read out of "twenty-one".
_NUMBER = re.compile(
    r"(?P<digits>(?<![\w.])\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<=\$)\d{1,3}(?: \d{3})+(?!\d)|"
    r"(?<![\w])\d*\.?\d+)|\b(?P<word>" + "|".join(sorted(WORDS, key=len, reverse=True)) + r")\b",
    re.IGNORECASE,
)
# "/2", " and 1/2", "-third", " thirds"; but 2 quarters are coins unless they are "of" something
_FRACTION_AFTER = re.compile(
    r"\s?/\s?\d|\s+and\s+\d+\s?/\s?\d|-?(?:half|third|fourth|quarter|fifth|sixth|seventh|eighth|"
    r"tenth)s?\b|\s+(?:half|halves|thirds?|fourths?|quarters? of|fifths?|sixths?|sevenths?|"
    r"eighths?|ninths?|tenths?)\b",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b", re.IGNORECASE)
_CLOCK = re.compile(r"\s*(?::\d\d|o'?clock\b|[ap]\.?\s?m\b)", re.IGNORECASE)
_UNIT_AFTER = re.compile(
    r"[\s-]*(?:more |fewer |less |other |different |additional |new |full |whole )?([A-Za-z]+)"
)
_LIST_AFTER = re.compile(r"\s+\w+(?:\s+\w+)?\s*:")
_NAME_BEFORE = re.compile(
    r"(?:\b(?:grade|chapter|page|day|room|number|no\.|bus|route|level|stage|round|week|step|"
    r"flight|floor|house|in|since|year|january|february|march|april|may|june|july|august|"
    r"september|october|november|december)\s*#?\s*)$",
    re.IGNORECASE,
)
_MEASURES = (
    r"(?:milli|centi|kilo)?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|foot|feet|"
    r"inch(?:es)?|yards?|miles?|met(?:er|re)s?|dozens?|pounds?|ounces?|grams?|tons?|lit(?:er|"
    r"re)s?|gallons?|quarts?|pints?|cups?|dollars?|quarters?|nickels?|dimes?|cents?|pennies|pence)"
)
_DEFINED_AFTER = re.compile(
    rf"\s*{_MEASURES}\s+(?:are\s+)?(?:in|to|per|makes?) (?:a|an|one|each|every|1)\s+{_MEASURES}\b",
    re.IGNORECASE,
)
_FACT_AFTER = re.compile(
    r"[\s-]*(?:\w+\s+)?(?:legs?|legged|wheels?|wheelers?|eyes?|eyed|wings?|fingers?|toes?|arms?|"
    r"ears?|tentacles?|horns?|humps?|corners?|sides?|angles?|tires?|paws?|hooves|states|planets|"
    r"continents|players on a|suits|innings|holes? of golf)\b",
    re.IGNORECASE,
)
_MONTHS = r"january|february|march|april|june|july|august|september|october|november|december"


@dataclass(frozen=True)
class Mention:
    """One number in the question.

    `is_percent` and `is_money` say what it is, `decimals` counts its decimal places, `unit` is the
    word after it. `why_frozen` is why it must stay, "" if it may change.
    """

    start: int
    end: int
    text: str
    value: Fraction
    is_percent: bool
    is_money: bool
    decimals: int
    unit: str
    why_frozen: str = ""


def mentions(question: str) -> list[Mention]:
    """Return all numbers of a question in reading order."""
    numbers = []
    for match in _NUMBER.finditer(question):
        text = match.group()
        value = (
            Fraction(re.sub("[, ]", "", text)) if match["digits"] else Fraction(WORDS[text.lower()])
        )
        before, after = question[: match.start()], question[match.end() :]
        is_percent = bool(re.match(r"\s?(?:%|percent\b|per cent\b)", after))
        is_money = bool(
            re.search(r"[$€£]\s?$", before)
            or re.match(r"\s?(?:\$|€|dollars?|cents?|euros?)(?!\w)", after)
        )
        unit = _UNIT_AFTER.match(after)
        decimals = len(text.split(".")[1]) if "." in text else 0
        numbers.append(
            Mention(
                match.start(),
                match.end(),
                text=text,
                value=value,
                is_percent=is_percent,
                is_money=is_money,
                decimals=decimals,
                unit=unit[1].lower() if unit and not is_percent else "",
                why_frozen=_why_frozen(text, value, before=before, after=after),
            )
        )
    return numbers


def _why_frozen(text: str, value: Fraction, before: str, after: str) -> str:
    """Return why the number between `before` and `after` must stay; "" if it may change."""
    tail = before[-40:]
    if value in (0, 1):
        return "zero or one"
    if _FRACTION_AFTER.match(after) or re.search(r"/\s?$", tail):
        return "fraction"
    if _ORDINAL.match(after):
        return "ordinal"
    if _CLOCK.match(after) or re.search(r"\d:$", tail):
        return "clock time"
    if (
        value.denominator == 1
        and 1700 <= value <= 2100
        and "," not in text
        and not re.search(r"\$\s?$", tail)
    ):
        return "year"
    if re.search(rf"\b(?:{_MONTHS}|may)\.?\s+$", tail, re.IGNORECASE) or re.match(
        rf"\s+(?:{_MONTHS})\b", after, re.IGNORECASE
    ):
        return "date"
    if _NAME_BEFORE.search(tail) and not re.search(r"\bin\s+$", tail):
        return "name of a thing"
    if _DEFINED_AFTER.match(after):
        return "unit definition"
    return _part_of_something(value, tail, after=after)


def _part_of_something(value: Fraction, tail: str, after: str) -> str:
    """Return why a number must stay as part of a thing, a fact, a range or a ratio, or ""."""
    if re.match(
        rf"[\s-]days? (?:in|of) (?:the month|{_MONTHS}|may)\b|[\s-]days? (?:(?:in|of) "
        r"(?:that|this|a) )?month\b",
        after,
        re.IGNORECASE,
    ):
        return "unit definition"
    if re.match(r"\s(?:dollars? |cents? )?(?:bills?|notes?|coins?)\b", after) and (
        re.search(r"\$$", tail) or re.match(r"\s(?:dollars?|cents?) ", after)
    ):
        return "name of a thing"
    if re.match(r"\sdays?\b", after) and re.search(
        r"\b(?:other|remaining) (?:\w+ )?days\b|\brest of the week\b", after
    ):
        return "part of a week"
    if _FACT_AFTER.match(after) and value.denominator == 1 and value <= 50:
        return "fact of nature or of a game"
    if re.match(r"\s?[–-]\s?\$?\d|\s(?:to|through)\s\$?\d", after) or re.search(
        r"\d\s?[–-]\s?\$?$|\d (?:to|through) \$?$", tail
    ):
        return "range"
    if re.match(r"\s?:\s?\d", after) or re.search(r"\d\s?:\s?$", tail):
        return "ratio"
    if re.match(
        r"\s?-?\s?(?:digit|dimensional|sided|way|star)\b", after, re.IGNORECASE
    ) or re.match(r"[A-Za-z]", after):
        return "part of a name"
    if _LIST_AFTER.match(after):
        return "before a list"
    if re.match(r"(?:\s?'?s\b)|\s+(?:out of|in) (?:every )?(?:\d|ten|five|four|three)", after):
        return "ratio in words"
    return ""
