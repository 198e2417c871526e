"""Judge: another model reads the answer, and replies with one line; any other reply is unreadable.

A second judge sees the options from last to first. It shows whether the reading depends on their
order.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from flipcore.core.contracts import Ask, Extractor, Need, param
from flipcore.core.records import OK, Completion, Item, Reading, Request, Variant
from flipcore.extractors.readings import (
    asked_question,
    failure,
    no_answer,
    text_request,
    unfinished,
    unreadable,
)
from flipcore.text.answers import canonical_number, text_answer

# The lines joined by a backslash are one line of the prompt: a reply is stored under the words that
# were sent, so they stay as they are.
CHOICE_PROMPT = """You read out which option an answer names. You do not solve the question and do \
not correct the answer.

Question:
{question}

Options:
{options}

The answer to read, between the marks:
<<<
{text}
>>>

If the answer settles on exactly one option, reply "Final: " and that option's label. If it names \
none, several, or declines
to answer, reply "Final: none". Reply with that one line only.
"""
NUMBER_PROMPT = """You read out which number an answer gives. You do not solve the question and do \
not correct the answer.

Question:
{question}

The answer to read, between the marks:
<<<
{text}
>>>

If the answer settles on exactly one number, reply "Final: " and that number in digits. If it \
gives none, or several to choose
from, reply "Final: none". Reply with that one line only.
"""
_MARKS = re.compile(r"<{3,}|>{3,}")
FINAL_LINE = re.compile(r"\s*Final:[ \t]*(\S[^\n]*?)[ \t]*\n?\s*")


def between_marks(text: str) -> str:
    """Return the text with any marks of its own broken up.
    Otherwise the text could end its own quotation in a judge's prompt."""
    return _MARKS.sub(lambda match: " ".join(match[0]), text)


def judge_prompt(item: Item, variant: Variant, text: str, *, backwards: bool = False) -> str:
    """Return the judge's prompt on a text.
    With `backwards` the options are listed from last to first, each with its own label."""
    question, text = asked_question(item, variant), between_marks(text)
    if item.kind == "number":
        return NUMBER_PROMPT.format(question=question, text=text)
    lines = [
        f"{label}. {item.options[i]}"
        for label, i in zip(variant.labels, variant.order, strict=True)
    ]
    return CHOICE_PROMPT.format(
        question=question, options="\n".join(lines[::-1] if backwards else lines), text=text
    )


def judged_reading(item: Item, variant: Variant, reply: str) -> Reading:
    """Read the judge's reply, which must be the one line that was asked for.
    The reading's span is in the judge's reply."""
    line = FINAL_LINE.fullmatch(reply)
    if line is None:
        return unreadable("The judge did not reply with the one line that was asked for.")
    verdict = line.group(1)
    if verdict == "none":
        return unreadable("The judge found no single answer.")
    if item.kind == "number":
        answer = canonical_number(verdict)
    elif item.kind == "text":
        answer = text_answer(verdict, variant.target)
    elif verdict in variant.labels:
        answer = str(variant.order[variant.labels.index(verdict)])
    else:
        answer = None
    if answer is None:
        return unreadable(f"The judge named {verdict[:40]!r}, which is not among the answers.")
    return Reading(OK, answer=answer, span=line.span(1))


@dataclass(frozen=True)
class Judge(Extractor):
    """`max_tokens` limits the judge's reply."""

    max_tokens: int = param(16, "most tokens")
    name: ClassVar[str] = "judge"
    title: ClassVar[str] = "Judge"
    about: ClassVar[str] = (
        "Another model says which option the written answer names; it needs its own gate."
    )
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice", "number"})
    abilities: ClassVar[frozenset[str]] = frozenset({"generate"})
    needs_judge: ClassVar[bool] = True
    backwards: ClassVar[bool] = False

    def needs(
        self, item: Item, variant: Variant, ask: Ask, so_far: Sequence[Completion]
    ) -> Sequence[Need]:
        needs = [Need(text_request(variant, ask))]
        if so_far and not no_answer(so_far) and so_far[0].text.strip():
            prompt = judge_prompt(item, variant, text=so_far[0].text, backwards=self.backwards)
            needs.append(Need(Request("generate", prompt, max_tokens=self.max_tokens), answer_at=0))
        return needs

    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        if unanswered := no_answer(completions):
            return unanswered
        if not completions[0].text.strip():
            return unreadable("The answer is empty, so there was nothing to judge.")
        if failed := failure(completions, 2):
            return failed
        # The answer itself is complete, so the reading is unreadable and not cut.
        if unfinished(completions[1]):
            return unreadable("The judge's reply was cut off, so it was not read.")
        return judged_reading(item, variant, reply=completions[1].text)


@dataclass(frozen=True)
class JudgeBackwards(Judge):
    name: ClassVar[str] = "judge_backwards"
    title: ClassVar[str] = "Judge, options backwards"
    about: ClassVar[str] = (
        "The judge shown the options from last to first; beside `judge` it measures position bias."
    )
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice"})
    backwards: ClassVar[bool] = True


EXTRACTORS = (Judge(), JudgeBackwards())
