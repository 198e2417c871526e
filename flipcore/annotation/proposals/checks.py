"""What a rule can see before a person looks: numbers, names, negations and options kept, not the same text, about as long."""

import re
from collections.abc import Sequence
from fractions import Fraction

Check = tuple[str, bool, str]

_NEGATION = re.compile(
    r"\b(?:not|never|no|none|nobody|nothing|neither|nor|without|cannot|except|un(?:less|til))\b|n['’]t\b", re.IGNORECASE
)
_ONE = re.compile(r"\b(?:one|single)\b", re.IGNORECASE)  # a pronoun as often as a number, so it is no number of its own
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
SHORTEST, LONGEST = 0.5, 2.0


def checks(original: str, text: str, options: Sequence[str] = ()) -> tuple[Check, ...]:
    """(name, passed, sentence) of every rule; the sentence says what was found."""
    return (
        _different(original, text),
        _numbers(original, text),
        _names(original, text),
        _negations(original, text),
        _options(original, text, options),
        _length(original, text),
    )


def translation_checks(original: str, text: str) -> tuple[Check, ...]:
    """The rules that hold in any language: another text, the same figures, about as long. Whether it asks the same a person sees."""
    before, after = (sorted(re.sub("[.,]", "", one) for one in _FIGURE.findall(words)) for words in (original, text))
    is_same = before == after
    figures = (
        "numbers",
        is_same,
        "All figures are kept." if is_same else f"Figures: {', '.join(before)} became {', '.join(after)}.",
    )
    return _different(original, text), figures, _length(original, text)


def overlap(original: str, text: str) -> float:
    """Share of the different words of both that they have in common (Jaccard); NaN where neither has a word."""
    first, second = ({word.casefold() for word in _WORD.findall(one)} for one in (original, text))
    return len(first & second) / len(first | second) if first | second else float("nan")


def _different(original: str, text: str) -> Check:
    same = _bare(original) == _bare(text)
    return (
        "different",
        not same and bool(text.strip()),
        "It is the original again." if same else "It is not the original's text." if text.strip() else "It is empty.",
    )


def _bare(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def _numbers(original: str, text: str) -> Check:
    before, after = set(numbers(original)), set(numbers(text))
    lost, new = (
        sorted(these - those - ({"1"} if _ONE.search(other) else set()))
        for these, those, other in ((before, after, text), (after, before, original))
    )
    changes = "; ".join(f"{what} {', '.join(figures)}" for what, figures in (("lost", lost), ("new", new)) if figures)
    return "numbers", not lost and not new, f"Numbers: {changes}." if changes else "All numbers are kept."


def _owner(word: str) -> str:
    """A name without its possessive."""
    return re.sub(r"['’]s$", "", word, flags=re.IGNORECASE)


def names(text: str) -> set[str]:
    """Words with a capital inside a sentence; the first word of a sentence says nothing."""
    capitals = set()
    for sentence in re.split(r"(?<=[.!?:])['\"’”)]*\s+|\n+", text):
        words = _WORD.findall(sentence)
        capitals |= {_owner(word) for word in words[1:] if word[:1].isupper() and word != "I"}
    return capitals


def _names(original: str, text: str) -> Check:
    there = {_owner(word).casefold() for word in _WORD.findall(text)}
    lost = sorted(name for name in names(original) if name.casefold() not in there)
    return "names", not lost, f"Names lost: {', '.join(lost)}." if lost else "All names are kept."


def _negations(original: str, text: str) -> Check:
    before, after = (len(_NEGATION.findall(one)) for one in (original, text))
    is_same = (before > 0) == (after > 0)
    return (
        "negations",
        is_same,
        (
            "Negations are kept."
            if is_same
            else f"The original has {before} negation{'s' * (before != 1)}, the paraphrase {after}."
        ),
    )


def _options(original: str, text: str, options: Sequence[str]) -> Check:
    """An option that the question names must stay named, and none may be given away."""
    moved = [
        option
        for option in options
        if len(option) > 2 and (option.casefold() in original.casefold()) != (option.casefold() in text.casefold())
    ]
    return (
        "options",
        not moved,
        (f"The option {moved[0]!r} is named in one of the two texts only." if moved else "No option is lost or given away."),
    )


def _length(original: str, text: str) -> Check:
    before, after = (max(len(_WORD.findall(one)), 1) for one in (original, text))
    ratio = after / before
    return "length", SHORTEST <= ratio <= LONGEST, f"It has {ratio:.1f} times the words of the original."


# The numbers that a text names, in digits or in words, as exact values.

_SMALL = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
        "nineteen".split()
    )
} | dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10), strict=True))
_TIMES = {"dozen": 12, "dozens": 12, "hundred": 100}
_CLOSING = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_NAME_OF_NUMBER, _SCALE = (
    rf"(?:{'|'.join(sorted(words, key=len, reverse=True))})\b"
    for words in ([*_SMALL, *_TIMES, *_CLOSING], [*_TIMES, *_CLOSING])
)
_NUMBER = re.compile(
    rf"(?P<digits>\d+(?:,\d{{3}})+(?:\.\d+)?|(?:(?<![\d.])\.)?\d+(?:\.\d+)?)(?P<scales>(?:\s+{_SCALE})*)"
    rf"|\b{_NAME_OF_NUMBER}(?:(?:[\s-]+|(?:(?<=hundred)|(?<=thousand)|(?<=million)),?\s+(?:and\s+)?){_NAME_OF_NUMBER})*",
    re.IGNORECASE,
)


def numbers(text: str) -> list[str]:
    """Every number of a text in ascending order, as digits or a fraction: "twenty-five" is 25, "two dozen" 24, "1.5 million"
    1500000. "One" standing alone is a pronoun as often as a number and does not count."""
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


def _values(words: Sequence[str]) -> list[Fraction]:
    """The numbers of a run of number words: "two hundred five" is one of them, "five six" are two."""
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
    """Whether "part value" is one number: five after twenty, twenty after three hundred."""
    return (
        part is None
        or (part % 10 == 0 and part % 100 >= 20 and 0 < value < 10)
        or (part >= 100 and part % 100 == 0 and value > 0)
    )
