"""Canonical answers as text: an option's index in the item's own order, an exact number, or
normalised words."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache

from flipcore.core.records import Item
from flipcore.text.numerals import in_digits

_NUMBER = re.compile(
    r"[$€£]?-?[$€£]?\s?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:\s?/\s?\d+)?\s?%?", re.ASCII
)


_BEFORE_NUMBER = re.compile(r"####?|(?:^|\n)A:")  # how a solution ends in its answer


@lru_cache(1_000)  # the kind, the gold answer and the target of a row all ask for it
def number_at_end(text: str) -> str | None:
    """The exact number of a right answer, which may stand behind a solution: GSM8K's end in "####
    18", or in "A: 18"."""
    return canonical_number(_BEFORE_NUMBER.split(text)[-1])


def canonical_number(text: str) -> str | None:
    """An exact number as text: "1,450.00" -> "1450", "$14.50" -> "29/2", "12%" -> "12"; None for
    anything else.

    A percent sign is dropped: graders compare "12%" with "12", and the question decides the unit.
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


_FORMULA = re.compile(r"\\[A-Za-z]+|\\[$%]|\$[^$]+\$|\^|\d\s*/\s*\d|[√π]")
_COMMAND = re.compile(r"\\[A-Za-z]+(?:\{[^{}]*\})?")
# of right answers that are mathematics: formulas; formulas, numbers and variables
LEAST_FORMULAS, LEAST_SIGNS = 0.05, 0.9


def answer_form(answer: str) -> str:
    """Classify how a right answer is written: a "formula" that no plain number says, a "sign" (a
    number, a variable, a letter), or "words"."""
    if number_at_end(answer) is not None:
        return "sign"
    if re.search(r"[^\W\d_]{3}", _COMMAND.sub(" ", answer)):
        return "words"
    return "formula" if _FORMULA.search(answer) else "sign"


def are_mathematics(forms: Mapping[str, int]) -> bool:
    """Tell whether right answers are formulas, of which so many have each `answer_form`."""
    n, n_formulas = sum(forms.values()), forms.get("formula", 0)
    return n_formulas >= max(1, LEAST_FORMULAS * n) and n - forms.get("words", 0) >= LEAST_SIGNS * n


_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
# characters of a canonical text answer; a longer one is no short answer but a text
MAX_TEXT = 1_000


class _Words(dict[int, str]):
    """A letter's code -> what stands for it among words: a blank for punctuation, blanks and
    control characters; each looked up once."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        self[code] = " " if unicodedata.category(letter)[0] in "PZC" else letter
        return self[code]


_WORDS = _Words()


_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_LONGEST_BOX = 2_000  # characters


def boxed_spans(text: str) -> list[tuple[int, int]]:
    """Spans of the insides of \\boxed{…} (or \\fbox{…}) whose braces match."""
    spans = []
    for box in _BOX.finditer(text):
        depth = 1
        for place in range(box.end(), min(len(text), box.end() + _LONGEST_BOX)):
            depth += {"{": 1, "}": -1}.get(text[place], 0)
            if depth == 0:
                spans.append((box.end(), place))
                break
    return spans


def normalised_text(text: str) -> str:
    """Words that compare as graders of short answers do (SQuAD, arXiv:1606.05250): no case,
    punctuation, articles or further blanks. Where nothing would be left, the stripped text
    itself."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    plain_text = " ".join(_ARTICLES.sub(" ", folded.translate(_WORDS)).split()) or " ".join(
        folded.split()
    )
    return plain_text[:MAX_TEXT]


_MATHEMATICS = re.compile(r"[$^=<>+*/(\[{|]")


def text_target(answers: Iterable[str], *, as_written: bool = False) -> str | None:
    """Several right answers as one target, one a line, and one of several that compare equal; None
    without any. Words are normalised unless they are wanted as they are written, and mathematics,
    which that would destroy, is not."""
    first: dict[str, str] = {}
    for line in (" ".join(answer.split())[:MAX_TEXT] for answer in answers):
        is_expression = "\\" in line or (
            _MATHEMATICS.search(line) and not re.search(r"[^\W\d_]{3}", line)
        )
        if line:
            first.setdefault(
                normalised_text(line),
                line if as_written or is_expression else normalised_text(line),
            )
    return "\n".join(first.values()) or None


def plain_answer(answer: str) -> str:
    """Short answer as compared: normalised words, or the digits of a whole number ("1,450")."""
    bare = _BLANKS.sub("", answer.strip(_ENDS))
    digits = in_digits("1" if bare.casefold() == "one" else bare)
    return digits.replace("\u2212", "-") if _WHOLE.fullmatch(digits) else normalised_text(answer)


_ENDS, _WHOLE = " \t\n.!?*\"'“”", re.compile(r"[-\u2212]?\d+", re.ASCII)
# between thousands
_BLANKS = re.compile(r"(?<=\d)[ \u00a0\u2009\u202f](?=(?:\d{3}[ \u00a0\u2009\u202f])*\d{3}\Z)")


def text_answer(answer: str, target: str | None) -> str | None:
    """Canonical text answer. All right answers are the first one, so synonyms are no flips."""
    plain_text = plain_answer(answer)
    right = target.split("\n") if target else []
    return right[0] if plain_text in map(plain_answer, right) else plain_text or None


def option_text(item: Item, answer: str | None) -> str | None:
    """The text of the option that a canonical answer names; None where it names none."""
    if answer is None or not answer.isdecimal() or int(answer) >= len(item.options):
        return None
    return item.options[int(answer)]


def answer_text(item: Item, answer: str | None) -> str:
    """The answer for people: an option's text, or the number; an em dash for none, "or" between
    several right ones."""
    if answer is None:
        return "—"
    if "\n" in answer:
        return " or ".join(answer_text(item, right_answer) for right_answer in answer.split("\n"))
    option = option_text(item, answer) if item.kind == "choice" else None
    return answer if option is None else option
