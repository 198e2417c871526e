"""What a rule can see before a person looks: numbers, names, negations and options kept, not the same text, about as long."""

import re
from collections.abc import Sequence

from flipcore.text.numerals import numbers

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
