"""The short answer that a text states in words, and whether it is a right one.

In order: what follows the last "the answer is"; the whole text where it is short; its first
sentence where that is. "It was", "I think that it is" and a subject that repeats the question are
no part of an answer. A right answer counts where it stands in other words ("the playwright William
Shakespeare"), as containment and normalised exact match have it (SQuAD, TriviaQA), but not as a
part of another name ("New York" is not York), after "son of", or denied. Where it stands beside
another answer ("Ghent or Paris", "Paris, Texas"), none is read.
"""

import re
import unicodedata
from collections.abc import Sequence

from flipcore.extractors.written.denial import is_denied
from flipcore.text.answers import plain_answer, text_answer
from flipcore.text.numerals import in_digits

_STATED = re.compile(
    r"\banswers?\b[ \t*]*(?:is|are|:)[\s*:]*(?P<words>\\\[.{1,1500}?\\\]|\$\$.{1,1500}?\$\$|"
    r"[^\n]+)",
    re.IGNORECASE | re.DOTALL,
)
_LEAD = re.compile(
    r"\W*(?:(?:well|so|sure|yes|okay|ok|certainly|therefore|thus|"
    r"hence)\b[,.!:]?\s+)?(?:I\s+(?:think|believe|would say|guess)(?:\s+that)?[\s,]+)?(?:it|this|"
    r"that|he|she|they|these|those|there)(?:['’]s|\s+(?:is|was|are|were|would be|must be|"
    r"should be)\b)(?:\s+(?:called|named)\b)?[\s:]*",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"(?P<subject>[^.!?\n]{1,120}?)\s(?:is|was|are|were)(?:\s+(?:called|named))?\s", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[^\s.]{3})[.!?](?=\s+[\"'“(*]*[A-Z])|\n")
_NO_ANSWER = re.compile(
    r"\W*(?:sorry,?\s+)?I(?:['’]m| am| do| don['’]t)?\s+(?:(?:really|"
    r"honestly)\s+)?(?:not\s+)?(?:know|sure|certain)\b",
    re.I,
)
_SMALL = frozenset(
    "a an the it is was are were he she they this that of in at on by to from for as be been "
    "called named likely probably most must would say i think believe answer so yes no well sure "
    "which who its his her their mr mrs sir dr".split()
)
_APART = frozenset(
    "near after before like unlike than against without not except beside besides outside behind "
    "beyond".split()
)
_RANGE_AFTER = re.compile(r"\s*(?:to\b|[-–—])\s*\d")
_RANGE_BEFORE = re.compile(r"\d\s*(?:to|[-–—])\s*$")
_NO_LETTERS = r"(?<![\w.])"
# before a number: 50 is no part of 1,50 and not -50
_NO_DIGITS = r"(?<![\w.])(?<!\d,)(?<!\A[-−])(?<!\W[-−])"
_JOINING = frozenset(("or", "and"))


def stated_span(text: str) -> tuple[int, int] | None:
    """Span of the words behind the last "the answer is", to the line's end; None without one."""
    spans = [match.span("words") for match in _STATED.finditer(text)]
    return spans[-1] if spans else None


def without_lead(words: str, question: str) -> str:
    """The words without an "It is" or a subject that says again what was asked."""
    lead = _LEAD.match(words)
    if lead and words[lead.end() :].strip():
        return words[lead.end() :]
    subject = _SUBJECT.match(words)
    if subject and words[subject.end() :].strip():
        repetition = set(_tokens(subject["subject"])) - _SMALL
        if repetition and repetition <= set(_tokens(question)):
            return words[subject.end() :]
    return words


def short_answer(
    words: str, target: str | None, question: str, most_words: int
) -> tuple[str | None, str]:
    """(canonical answer, why there is none) of the words that a text states."""
    if not words.strip():
        return None, "The answer is empty."
    if _NO_ANSWER.match(words):
        return None, "The answer says that it does not know."
    right = target.split("\n") if target else []
    answer = text_answer(words, target)
    if right and answer == right[0]:
        return answer, ""
    if len(words.split()) > most_words:
        words = _SENTENCE.split(words.strip(), maxsplit=1)[0]
        if len(words.split()) > most_words:
            return None, f"The answer has more than {most_words} words and states no short answer."
    if any(_is_in_another_order(words, name, question) for name in right):
        return right[0], ""
    names = [_is_named(words, name, question=question) for name in right]
    if True in names:
        return right[0], ""
    if None in names:
        return None, "The answer names another one beside the right one."
    return text_answer(
        _only_number(words, right, question=question) or without_lead(words, question), target
    ), ""


def _is_in_another_order(words: str, right: str, question: str) -> bool:
    """Tell whether the words are a right name with its last word first: "Shakespeare, William".

    Names alone: every word has a capital, and nothing else is said.
    """
    said = without_lead(words, question).strip(" .\n\"'“”")
    capitalised = re.findall(r"[^\W\d_][\w'’.-]*", said)
    said_parts, parts = plain_answer(said).split(), plain_answer(right).split()
    if (
        not 2 <= len(parts) <= 4
        or len(said_parts) != len(parts)
        or len(capitalised) != len(said_parts)
    ):
        return False
    if not all(word[:1].isupper() for word in capitalised):
        return False
    return said_parts in ([parts[-1], *parts[:-1]], [*parts[1:], parts[0]])


def _only_number(words: str, right: Sequence[str], question: str) -> str | None:
    """The one number that the words name, where a whole number is asked for: "There are five"
    answers what "5" does."""
    figures = {*re.findall(r"\d+", in_digits(words))}
    is_asked = bool(right) and all(plain_answer(name).isdecimal() for name in right)
    if not is_asked or len(figures) != 1:
        return None
    (figure,) = figures
    return figure if _is_named(words, figure, question=question) else None


def _is_named(words: str, right: str, question: str) -> bool | None:
    """Tell whether a right answer is what the words name; None where they name another one too."""
    text = unicodedata.normalize("NFKC", words)
    parts = plain_answer(right).split()
    if not parts:
        return False
    is_number = parts[0].isdecimal() and len(parts) == 1
    text = in_digits(text) if is_number else text
    joined = r"\W+(?:(?:a|an|the)\W+)?".join(map(re.escape, parts))
    spot = re.compile(
        rf"{_NO_DIGITS if is_number else _NO_LETTERS}{joined}(?!\w|[.,]\d)", re.IGNORECASE
    )
    of_question = set(_tokens(question))
    for match in spot.finditer(text):
        if is_denied(text, *match.span()):
            continue
        before, after = text[: match.start()], text[match.end() :]
        left = re.search(r"(\w+)(\W+)$", before)
        right_side = re.match(r"(\W+)(\w+)", after)
        sides = [(left[1], left[2])] if left else []
        sides += [(right_side[2], right_side[1])] if right_side else []
        if _RANGE_AFTER.match(after) or _RANGE_BEFORE.search(before):
            return None
        if any(word.casefold() in _JOINING or "/" in gap or "&" in gap for word, gap in sides):
            return None
        if any(
            "," in gap and word[:1].isupper() and not _is_small(word, of_question)
            for word, gap in sides
        ):
            return None
        return all(
            _may_stand_beside(word, gap, name=match.group(), before=before, of_question=of_question)
            for word, gap in sides
        )
    return False


def _is_small(word: str, of_question: set[str]) -> bool:
    return word.casefold() in _SMALL or word.casefold() in of_question


def _may_stand_beside(word: str, gap: str, name: str, before: str, of_question: set[str]) -> bool:
    """Tell whether a word next to a name leaves it whole: a small word, one of the question or,
    next to a name in capitals, one in small letters; or a sentence or a bracket ends between
    them."""
    if word.casefold() == "of" and before.rstrip().casefold().endswith("of"):
        owner = re.search(r"(\w+)\W+of\W*$", before, re.IGNORECASE)
        return owner is None or _is_small(owner[1], of_question)
    if gap.strip() in ("'", "’", "-") or word.casefold() in _APART:
        return False
    return (
        _is_small(word, of_question)
        or bool(re.search(r"[.:;!?()\n,]", gap))
        or (name[:1].isupper() and word[:1].islower())
    )


def _tokens(text: str) -> list[str]:
    return re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())
