"""Mathematics: the expression that a text states, compared by Math-Verify
(requirements-math.txt)."""

import atexit
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from flipcore.core.finish import REFUSAL
from flipcore.core.records import OK, WRITTEN_MATH, Item, Reading, Variant
from flipcore.extractors.readings import TextExtractor, asked_question, unreadable
from flipcore.extractors.written import expressions
from flipcore.extractors.written.scope import answer_end, is_refusal, marked_answer
from flipcore.extractors.written.stated_number import stated_number
from flipcore.extractors.written.stated_words import short_answer, stated_span, without_lead
from flipcore.text.answers import boxed_spans, canonical_number

MAX_CHARACTERS = 1_500  # of an expression
MAX_WORDS = 12  # of an answer in words
_MAX_WORDS_AROUND = 6  # around an expression
_CLOCK_S = 6 * expressions.LIMIT_S  # by the clock, for systems that cannot limit processor time
_JOINED = re.compile(
    r"[\s$\\()\[\]]*(?:,|;|\band\b|\bor\b)[\s$\\()\[\]]*(?:and\b|or\b)?[\s$\\()\[\]]*"
)
_MATH_WORDS = re.compile(
    r"\\(?:text|mathrm|mathbf|operatorname|mbox|begin|end)\s*\{[^{}]*\}(?:\{[rlc|]*\})?|\\[A-Za-z]+"
    r"|\b(?:sqrt|sin|cos|tan|cot|sec|csc|log|exp|and|or|pi|infinity)\b"
)
_WORD = re.compile(r"[^\W\d_]{3,}")
_PAIR = re.compile(r"\s*[-−]?\d+,\d{1,2}\s*")  # "18,50" is a decimal or two numbers
_NUMERAL = re.compile(r"\d+(?:[.,/]\d+)*")
_JOINED_BOXES = re.compile(r"\}([^{}]*)\\f?boxed\s*\{")
_EDGES = " \t\n*_`\"'“”.,;:"


class _Worker:
    """The process that reads mathematics (`expressions`).
    It starts at the first request, and again after it was ended."""

    def __init__(self) -> None:
        self._lock, self._owner_pid = threading.Lock(), 0
        self._process: subprocess.Popen[str] | None = None

    def reply(self, words: str, targets: Sequence[str]) -> dict | None:
        """Return the worker's reply; None if it ran out of time or memory."""
        with self._lock:
            if (
                self._process is None
                or self._process.poll() is not None
                or self._owner_pid != os.getpid()
            ):
                self._owner_pid = os.getpid()
                # -P keeps the file's own folder out of the import path.
                command = [sys.executable, "-P", str(Path(expressions.__file__))]
                pipe = subprocess.PIPE
                self._process = subprocess.Popen(
                    command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, encoding="utf-8"
                )
            process = self._process
            timer = threading.Timer(_CLOCK_S, process.kill)
            timer.start()
            assert process.stdin is not None and process.stdout is not None
            try:
                process.stdin.write(json.dumps([expressions.LIMIT_S, words, list(targets)]) + "\n")
                process.stdin.flush()
                line = process.stdout.readline()
            except OSError:
                line = ""
            finally:
                timer.cancel()
            if line:
                return json.loads(line)
            self.end()
            return None

    def end(self) -> None:
        """End the worker, unless a parent of this process started it."""
        if self._process is not None and self._owner_pid == os.getpid():
            self._process.kill()
            self._process.communicate()
            self._process = None


_WORKER = _Worker()
atexit.register(_WORKER.end)


@lru_cache(10_000)
def _reply(words: str, targets: tuple[str, ...]) -> dict | None:
    return _WORKER.reply(words, targets)


def why_not() -> str:
    """Return a sentence about the missing package; "" if mathematics can be read."""
    if find_spec("math_verify"):
        return ""
    return "Mathematics needs math-verify: pip install -r requirements-math.txt."


def _answer_span(text: str) -> tuple[int, int, bool]:
    """Return (start, end, whether the text states that this is its answer).

    It is the last box with the boxes joined to it, a marked answer, or the text after "the answer
    is"; else the last paragraph, which the text does not call its answer.
    """
    boxes = boxed_spans(text)
    if boxes:
        start, last_end = boxes[-1]
        for earlier_start, earlier_end in reversed(boxes[:-1]):
            between = re.sub(r"\\f?boxed\{?", "", text[earlier_end + 1 : start])
            if not _JOINED.fullmatch(between):
                break
            start = earlier_start
        return start, last_end, True
    span = marked_answer(text) or stated_span(text)
    if span:
        return *span, True
    end = len(text.rstrip())
    return text.rfind("\n\n", 0, end) + 1, end, False


def _expression(text: str, *, is_stated: bool) -> tuple[int, int] | None:
    """Return the span of the expression in `text`; None if several may be meant.

    It is the LaTeX at the beginning of a statement or at the end of a paragraph, with the LaTeX
    joined to it. A text without LaTeX is the expression itself.
    """
    groups: list[tuple[int, int]] = []
    for match in expressions.ENVIRONMENT.finditer(text):
        start, end = match.span()
        if groups and _JOINED.fullmatch(text[groups[-1][1] : start]):
            start, _ = groups.pop()
        groups.append((start, end))
    if not groups:
        return 0, len(text)
    start, end = groups[0] if is_stated else groups[-1]
    around = text[:start] if is_stated else text[end:]
    n_words = len(_WORD.findall(around))
    # A single expression may have a few words around it. Among several, any word leaves open
    # which of them is the answer.
    max_words = _MAX_WORDS_AROUND if len(groups) == 1 else 0
    return (start, end) if n_words <= max_words else None


@dataclass(frozen=True)
class Mathematics(TextExtractor):
    name: ClassVar[str] = WRITTEN_MATH
    title: ClassVar[str] = "Mathematics"
    about: ClassVar[str] = (
        "The expression that the text states; ½, .5 and \\frac12 are one answer. Needs math-verify."
    )
    applies_to: ClassVar[frozenset[str]] = frozenset({"number", "text"})

    def why_not(self) -> str:
        return why_not()

    def read_text(self, item: Item, variant: Variant, text: str) -> Reading:
        question = asked_question(item, variant)
        text = text[: answer_end(text, item.question, question)]
        start, end, is_stated = _answer_span(text)
        targets = tuple(variant.target.split("\n")) if variant.target else ()
        is_target = any(_plain(text[start:end]) == _plain(target) for target in targets)
        if not is_target:
            span = _expression(text[start:end], is_stated=is_stated)
            if span is None:
                return unreadable("The answer holds several expressions in words.")
            start, end = start + span[0], start + span[1]
        stated = text[start:end]
        words = without_lead(stated.strip(_EDGES), f"{item.question} {question}").strip(_EDGES)
        if not words or is_refusal(text):
            return unreadable(REFUSAL if words else "The answer is empty.")
        answer, reason = _answer(words, targets, question=question)
        if answer is None:
            return unreadable(reason)
        start += stated.find(words)
        return Reading(OK, answer=answer, span=(start, start + len(words)))


def canonical_expression(words: str, target: str | None, question: str) -> str | None:
    """Return the canonical answer of a text that is nothing but an expression, or None."""
    targets = tuple(target.split("\n")) if target else ()
    answer, _ = _answer(words.strip(_EDGES), targets, question=question)
    return answer


def _answer(words: str, targets: tuple[str, ...], question: str) -> tuple[str | None, str]:
    """Return (canonical answer, "") or (None, why not); any right answer gives the first one."""
    if any(_plain(words) == _plain(target) for target in targets):
        return targets[0], ""
    target_numbers = [canonical_number(target) for target in targets]
    number = canonical_number(words.strip("$\\() "))
    # Words make it a sentence, whose letters are no variables.
    if _WORD.search(_MATH_WORDS.sub(" ", words)):
        if not any(character.isdigit() for character in words):
            right = "\n".join(map(_unwrapped, targets))
            answer, reason = short_answer(
                _unwrapped(words), right, question=question, most_words=MAX_WORDS
            )
            return (targets[0] if targets and answer == _unwrapped(targets[0]) else answer), reason
        number, _, reason = stated_number(words, question)
        if number is None or (None in target_numbers and len(_NUMERAL.findall(words)) > 1):
            return None, reason or "The answer gives several numbers in a sentence."
        words = number
    if number is not None and None not in target_numbers:
        return (targets[0] if number in target_numbers else number), ""
    if len(words) > MAX_CHARACTERS:
        return None, f"The expression has more than {MAX_CHARACTERS:,} characters."
    reply = _reply(_JOINED_BOXES.sub(r"\1", words), targets)
    if reply is None:
        return None, "The expression takes too long to work out, and was left."
    if reply["target_index"] is not None:
        return targets[0], ""
    if reply["answer"] is None:
        return None, "The answer holds no expression that can be read."
    if _PAIR.fullmatch(words):
        return None, f"{words!r} may be a decimal or two numbers."
    return reply["answer"], ""


def _unwrapped(words: str) -> str:
    """Return the words without \\text{…} and dollar signs."""
    return re.sub(r"\\(?:text|mathrm|mathbf|mbox)\s*\{([^{}]*)\}", r"\1", words).replace("$", "")


def _plain(words: str) -> str:
    """Return the words without blanks, dollar signs and the sizes of brackets."""
    layout = r"\\(?:left|right|,|!|;|displaystyle|[dt](?=frac))|[\s$*]|\\[()\[\]]"
    return re.sub(layout, "", _unwrapped(words)).strip(".").casefold()


EXTRACTOR = Mathematics()
