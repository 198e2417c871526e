"""Steps 8 and 9: find how right answers are written, and how often outputs agree with them."""

import json
import math
import re
from ast import literal_eval
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from flipcore.datasets.reading.columns import options_in
from flipcore.datasets.tables.stems import is_word
from flipcore.text.answers import canonical_number, normalised_text, number_at_end

LONGEST_KEY = 40  # most characters of a right answer that is searched for in an output
_LETTER = re.compile(r"\s*[(\[*]*([A-Z])[)\].:*]*\s*")
_NAMED_LETTER = re.compile(
    r"(?:answer|option|choice|antwort|r[ée]ponse|respuesta|risposta|resposta|答案|正解|정답)"
    r"[^A-Za-z0-9\n]{0,3}(?:is|ist|est|es|é|è|:|：|选)?[\s:：*(\[$\\{]*(?:boxed\{)?([A-Z])(?![A-Za-z])",
    re.IGNORECASE,
)
_NAMED_LETTERS = re.compile(
    r"(?:answers?|options?|choices?|antwort(?:en)?|respuestas?|答案|正解|정답)[^A-Za-z0-9\n]{0,3}(?:is|are|ist|sind|es|son|是|为)?"
    r"[\s:：*(\[$\\{]*(?:boxed\{)?((?:[A-J][)\]}*]*(?:\s*[,;/&+]\s*|\s+and\s+|、|和)?[(\[*]*)+)(?![A-Za-z])",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:\s*/\s*\d+)?")
# 0,57 and 3,5, as European spreadsheets write numbers
DECIMAL_COMMA = r"-?(?:\d+,\d{1,2}|0,\d+|\d+,\d{4,})"
_ONLY_LETTERS = re.compile(r"[A-Z\s,;\[\]\"'/&+]+")
# an output that says why a call failed: "ERROR: 429 You exceeded your current quota", "[generation
# failed: Network error"
_OF_CALL = "api|llm|model|generation|inference|request|network|connection|call"
ERROR_TEXT = (
    rf"(?i)^\W*(?:(?:{_OF_CALL}) )*error(?: code)?\s*[:\]0-9(-]"
    rf"|^\W*(?:(?:{_OF_CALL}) )+(?:failed|failure)\s*[:\]0-9(-]"
    r"|^traceback \(most recent call"
)
_PLACE = re.compile(r"\d{1,2}")
_LEADING_LETTER = re.compile(r"\s*[(\[*]*([A-Z])[)\].:*]+\s")


class Coding(StrEnum):
    """Ways to write right answers."""

    LETTER = "letter"
    LETTER_OR_TEXT = "letter or text"
    LETTERS = "several letters"
    PLACE_FROM_0 = "place from 0"
    PLACE_FROM_1 = "place from 1"
    SAME_VALUE = "same value"
    LABEL = "label"
    NUMBER = "number"
    TEXT = "text"
    CONTAINED = "contained text"
    LONG_TEXT = "long text"  # never compared word for word


@dataclass(frozen=True)
class Agreement:
    """Counts of outputs with a right answer (`n`), and of those that agree with it."""

    coding: Coding
    n_right: int
    n: int

    @property
    def share(self) -> float:
        """The share of right outputs; NaN if `n` is 0."""
        return self.n_right / self.n if self.n else math.nan


def entries_of(cell: str | None) -> list[str]:
    """Return the entries of a list in a cell, JSON or Python; a plain text is one entry."""
    if not cell:
        return []
    text = cell.strip()
    if text.startswith(("[", "{", "(")):
        for parse in (json.loads, literal_eval):
            try:
                value = parse(text)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
            if isinstance(value, Mapping):
                value = value.get("text", list(value.values()))
            if isinstance(value, (list, tuple)):
                return [
                    str(entry["text"] if isinstance(entry, Mapping) and "text" in entry else entry)
                    for entry in value
                ]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines if 1 < len(lines) <= 12 and max(map(len, lines)) <= LONGEST_KEY else [text]


def letter_in(text: str) -> str | None:
    """Return the letter that an output names: alone, after "answer", or before an option's text."""
    bare = _LETTER.fullmatch(text)
    if bare:
        return bare[1]
    letters = _NAMED_LETTER.findall(text)
    if letters:
        return letters[-1].upper()
    leading = _LEADING_LETTER.match(text)
    return leading[1] if leading else None


def is_right(coding: Coding, output: str, key: str, options: Sequence[str] = ()) -> bool:
    """Tell whether an output is right under a coding.

    `key` is the cell of the right answer, `options` are the texts of the options in their order.
    """
    keys = entries_of(key)
    if coding is Coding.LETTER:
        letter = letter_in(output)
        if letter is None and options:
            places = [i for i, option in enumerate(options) if _same(option, output)]
            letter = chr(ord("A") + places[0]) if places else None
        return letter is not None and letter in {letter_in(k) for k in keys}
    if coding is Coding.LETTER_OR_TEXT:
        letters = {k.strip() for k in keys if _LETTER.fullmatch(k)}
        texts = [k for k in keys if not _LETTER.fullmatch(k)]
        return letter_in(output) in letters or any(_same(k, output) for k in texts)
    if coding is Coding.LETTERS:
        return letters_of(output) == letters_of(key)
    if coding in (Coding.PLACE_FROM_0, Coding.PLACE_FROM_1):
        base = int(coding is Coding.PLACE_FROM_1)
        place = int(float(key)) - base if re.fullmatch(r"\d+(\.0)?", key) else -1
        if not 0 <= place < max(len(options), 26):
            return False
        option = options[place] if place < len(options) else None
        return letter_in(output) == chr(ord("A") + place) or (
            option is not None and _same(option, output)
        )
    if coding is Coding.NUMBER:
        numbers = _NUMBERS.findall(output.rpartition("####")[2])
        number = canonical_number(numbers[-1].rstrip(".,")) if numbers else None
        return number is not None and number in {
            number_at_end(k.rpartition("####")[2]) for k in keys
        }
    if coding is Coding.CONTAINED:
        text = f" {normalised_text(output)} "
        return any(f" {normalised_text(k)} " in text for k in keys if normalised_text(k))
    return any(_same(k, output) for k in keys)


def letters_of(text: str) -> frozenset[str]:
    """Return the letters of an answer of several: "A, C", "AC", ["A", "C"], "They are A and C."."""
    joined = " ".join(entries_of(text))
    named_letters = _NAMED_LETTERS.findall(joined)
    for answer in (joined, *named_letters[-1:]):
        bare = re.sub(r"[\s,;/&+.()\[\]*\"']|and|和", "", answer)
        if re.fullmatch(r"[A-J]+", bare) and len(set(bare)) == len(bare):
            return frozenset(bare)
    if len(joined) > LONGEST_KEY:
        return frozenset()  # in a longer text a capital A is often the article
    return frozenset(re.findall(r"\b([A-J])\b", joined))


def _same(left: str, right: str) -> bool:
    if normalised_text(left) == normalised_text(right) and normalised_text(left):
        return True
    number = canonical_number(left.strip())
    return number is not None and number == canonical_number(right.strip())


def agreement(
    coding: Coding,
    rows: Iterable[Mapping[str, str | None]],
    output: str,
    target: str,
    options: Sequence[str] = (),
) -> Agreement:
    """Count the rows whose output is right.

    A row without an output is wrong, a row without a right answer is not counted.
    """
    n_right = n = 0
    for row in rows:
        key, text = row.get(target), row.get(output)
        if key is None:
            continue
        n += 1
        n_right += text is not None and is_right(coding, text, key, _options_in(row, options))
    return Agreement(coding, n_right, n)


def _options_in(row: Mapping[str, str | None], options: Sequence[str]) -> list[str]:
    if len(options) == 1:
        return list(options_in(row, options[0]))
    return [str(row[name]) for name in options if row.get(name) is not None]


def codings_of(
    rows: Sequence[Mapping[str, str | None]], output: str, target: str, options: Sequence[str]
) -> list[Coding]:
    """Return the codings that the right answers allow, the likeliest first; [] if there is none."""
    keys = [key for row in rows if (key := row.get(target)) is not None]
    outputs = [text for row in rows if (text := row.get(output)) is not None]
    if not keys or not outputs:
        return []
    if _share(keys, _is_letter_and_text) > 0.9:
        return [Coding.LETTER_OR_TEXT]
    if _share(keys, lambda key: letters_of(key) and _ONLY_LETTERS.fullmatch(key)) > 0.95:
        has_several = _share(keys, lambda key: len(letters_of(key)) > 1) > 0.1
        return [Coding.LETTERS if has_several else Coding.LETTER]
    has_options = _share(
        rows, lambda row: row.get(target) is None or any(row.get(name) for name in options)
    )
    if options and _share(keys, _PLACE.fullmatch) > 0.95 and has_options > 0.9:
        if _share(outputs, _PLACE.fullmatch) > 0.9:
            return [Coding.SAME_VALUE]
        listed = [_options_in(row, options) for row in rows]
        pairs = [(row[target], texts) for row, texts in zip(rows, listed, strict=True)]
        pairs = [pair for pair in pairs if pair[0] is not None]
        as_text = _share(pairs, lambda pair: pair[0] in pair[1])
        places = [int(key) for key in keys if key.isdecimal()]
        longest = max((len(entries) for entries in listed), default=0)
        bases = [Coding.PLACE_FROM_0] if 0 in places else [Coding.PLACE_FROM_0, Coding.PLACE_FROM_1]
        if places and max(places) >= longest:
            bases = [Coding.PLACE_FROM_1]
        return [Coding.SAME_VALUE, *bases] if as_text > 0.9 else bases
    if _are_classes(keys, outputs):
        return [Coding.LABEL]
    if _share(keys, lambda key: number_at_end(key.rpartition("####")[2]) is not None) > 0.9:
        is_short = _share(keys, lambda key: len(key) <= LONGEST_KEY or "####" in key) > 0.9
        return [Coding.NUMBER] if is_short else [Coding.LONG_TEXT]
    labels = {key.casefold() for key in keys}
    are_labels = _share(outputs, lambda text: text.strip().casefold() in labels) > 0.3
    if are_labels and len(labels) <= max(2, len(keys) // 5):
        return [Coding.LABEL]
    if _share(keys, lambda key: max(map(len, entries_of(key)), default=0) <= LONGEST_KEY) > 0.5:
        return [Coding.TEXT, Coding.CONTAINED]
    return [Coding.LONG_TEXT]


def _is_letter_and_text(key: str) -> bool:
    """Tell whether a right answer is a list of a letter and the text of that option."""
    entries = entries_of(key)
    return len(entries) == 2 and sum(bool(_LETTER.fullmatch(entry)) for entry in entries) == 1


def _are_classes(keys: Sequence[str], outputs: Sequence[str]) -> bool:
    """Tell whether right answers and outputs are the same few whole numbers, such as digits."""
    classes = set(keys)
    if not 2 <= len(classes) <= max(2, len(keys) // 5):
        return False
    are_whole = all(re.fullmatch(r"\d{1,3}", key) for key in classes)
    return are_whole and sum(text in classes for text in outputs) > 0.9 * len(outputs)


def _share(values: Sequence, test: Callable) -> float:
    """Return the share of values that pass a test; 0 without values."""
    return sum(bool(test(value)) for value in values) / len(values) if values else 0.0


def score_of_cell(cell: str | None) -> float | None:
    """Return the score in a cell, with percentages and k/n as shares; None for anything else."""
    if cell is None:
        return None
    text = cell.strip()
    if is_word(text, "right"):
        return 1.0
    if is_word(text, "wrong"):
        return 0.0
    if is_word(text, "partial"):
        return 0.5
    ratio = re.fullmatch(r"(\d+(?:\.\d+)?)\s*/\s*(\d+)", text)
    if ratio and float(ratio[2]):
        return float(ratio[1]) / float(ratio[2])
    is_percent = text.endswith("%")
    text = text.removesuffix("%").strip()
    # 1,234 may be a thousand or a little more than one, so it is no number here
    if re.fullmatch(DECIMAL_COMMA, text):
        text = text.replace(",", ".")
    try:
        value = float(text)
    except ValueError:
        return None
    return None if value != value else value / 100 if is_percent else value
