"""Finds the short answer that a text states in words.

It is the text after the last "the answer is", else the whole text if it is short, else its first
sentence if that is short. "It was", "I think that it is" and a subject that repeats the question
are no part of an answer. As in containment and normalized exact match (SQuAD, TriviaQA), a right
answer counts among other words ("the playwright William Shakespeare"). It does not count inside
another name ("New York" is not York), after "son of", or if it is denied. Beside another answer
("Ghent or Paris", "Paris, Texas") no answer is read.
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
# Words that may stand next to a name without changing it.
_SMALL_WORDS = frozenset(
    "a an the it is was are were he she they this that of in at on by to from for as be been "
    "called named likely probably most must would say i think believe answer so yes no well sure "
    "which who its his her their mr mrs sir dr".split()
)
# Words that make the name after them another one: "near Paris" is not Paris.
_OTHER_THAN = frozenset(
    "near after before like unlike than against without not except beside besides outside behind "
    "beyond".split()
)
_RANGE_AFTER = re.compile(r"\s*(?:to\b|[-–—])\s*\d")
_RANGE_BEFORE = re.compile(r"\d\s*(?:to|[-–—])\s*$")
_NO_LETTERS = r"(?<![\w.])"
# What may not stand before a number: 50 is no part of 1,50, and is not -50.
_NO_DIGITS = r"(?<![\w.])(?<!\d,)(?<!\A[-−])(?<!\W[-−])"
_JOINING = frozenset(("or", "and"))


def stated_span(text: str) -> tuple[int, int] | None:
    """Return the span from the last "the answer is" to the end of its line; None without one."""
    spans = [match.span("words") for match in _STATED.finditer(text)]
    return spans[-1] if spans else None


def without_lead(words: str, question: str) -> str:
    """Return the words without a leading "It is" or a subject that repeats the question."""
    lead = _LEAD.match(words)
    if lead and words[lead.end() :].strip():
        return words[lead.end() :]
    subject = _SUBJECT.match(words)
    if subject and words[subject.end() :].strip():
        repetition = set(_tokens(subject["subject"])) - _SMALL_WORDS
        if repetition and repetition <= set(_tokens(question)):
            return words[subject.end() :]
    return words


def short_answer(
    words: str, target: str | None, question: str, most_words: int
) -> tuple[str | None, str]:
    """Return (canonical answer, "") or (None, why not) for the words of an answer.
    `target` are the right answers, one per line; any of them gives the first one."""
    if not words.strip():
        return None, "The answer is empty."
    if _NO_ANSWER.match(words):
        return None, "The answer says that it does not know."
    right_answers = target.split("\n") if target else []
    answer = text_answer(words, target)
    if right_answers and answer == right_answers[0]:
        return answer, ""
    if len(words.split()) > most_words:
        words = _SENTENCE.split(words.strip(), maxsplit=1)[0]
        if len(words.split()) > most_words:
            return None, f"The answer has more than {most_words} words and states no short answer."
    if any(_is_in_another_order(words, name, question) for name in right_answers):
        return right_answers[0], ""
    verdicts = [_is_named(words, name, question=question) for name in right_answers]
    if True in verdicts:
        return right_answers[0], ""
    if None in verdicts:
        return None, "The answer names another one beside the right one."
    return text_answer(
        _only_number(words, right_answers, question=question) or without_lead(words, question),
        target,
    ), ""


def _is_in_another_order(words: str, right_name: str, question: str) -> bool:
    """Tell whether the words are the name with its last word first: "Shakespeare, William".
    Every word must have a capital, and nothing else may be there."""
    name = without_lead(words, question).strip(" .\n\"'“”")
    name_words = re.findall(r"[^\W\d_][\w'’.-]*", name)
    name_parts, parts = plain_answer(name).split(), plain_answer(right_name).split()
    if not 2 <= len(parts) <= 4 or not len(parts) == len(name_parts) == len(name_words):
        return False
    if not all(word[:1].isupper() for word in name_words):
        return False
    return name_parts in ([parts[-1], *parts[:-1]], [*parts[1:], parts[0]])


def _only_number(words: str, right_answers: Sequence[str], question: str) -> str | None:
    """Return the only number in the words, in digits, where the right answer is a whole number.
    So "There are five" is the answer 5. None if there are several numbers, or none."""
    figures = {*re.findall(r"\d+", in_digits(words))}
    is_asked = bool(right_answers) and all(plain_answer(name).isdecimal() for name in right_answers)
    if not is_asked or len(figures) != 1:
        return None
    (figure,) = figures
    return figure if _is_named(words, figure, question=question) else None


def _is_named(words: str, name: str, question: str) -> bool | None:
    """Tell whether the words hold this name; None if they hold another one next to it."""
    text = unicodedata.normalize("NFKC", words)
    parts = plain_answer(name).split()
    if not parts:
        return False
    is_number = parts[0].isdecimal() and len(parts) == 1
    text = in_digits(text) if is_number else text
    joined = r"\W+(?:(?:a|an|the)\W+)?".join(map(re.escape, parts))
    occurrence = re.compile(
        rf"{_NO_DIGITS if is_number else _NO_LETTERS}{joined}(?!\w|[.,]\d)", re.IGNORECASE
    )
    question_words = set(_tokens(question))
    # Only the first mention that is not denied counts.
    for match in occurrence.finditer(text):
        if is_denied(text, *match.span()):
            continue
        before, after = text[: match.start()], text[match.end() :]
        # The word on each side, and the gap between it and the name.
        neighbors = []
        if word_before := re.search(r"(\w+)(\W+)$", before):
            neighbors.append((word_before[1], word_before[2]))
        if word_after := re.match(r"(\W+)(\w+)", after):
            neighbors.append((word_after[2], word_after[1]))
        if _RANGE_AFTER.match(after) or _RANGE_BEFORE.search(before):
            return None
        for word, gap in neighbors:
            if word.casefold() in _JOINING or "/" in gap or "&" in gap:
                return None
            if "," in gap and word[:1].isupper() and not _is_small(word, question_words):
                return None
        return all(
            _keeps_name(word, gap, match.group(), before=before, question_words=question_words)
            for word, gap in neighbors
        )
    return False


def _is_small(word: str, question_words: set[str]) -> bool:
    return word.casefold() in _SMALL_WORDS or word.casefold() in question_words


def _keeps_name(word: str, gap: str, name: str, before: str, question_words: set[str]) -> bool:
    """Tell whether a word next to a name leaves it the same name.

    It may be a small word, a word of the question or, next to a capitalized name, a word in small
    letters; or a sentence or a bracket ends between them.
    """
    if word.casefold() == "of" and before.rstrip().casefold().endswith("of"):
        owner = re.search(r"(\w+)\W+of\W*$", before, re.IGNORECASE)
        return owner is None or _is_small(owner[1], question_words)
    if gap.strip() in ("'", "’", "-") or word.casefold() in _OTHER_THAN:
        return False
    return (
        _is_small(word, question_words)
        or bool(re.search(r"[.:;!?()\n,]", gap))
        or (name[:1].isupper() and word[:1].islower())
    )


def _tokens(text: str) -> list[str]:
    return re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())
