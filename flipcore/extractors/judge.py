"""A second model reads what the first one wrote. Its reply is a completion of its own, child of the one it judged."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from flipcore.contracts import Need
from flipcore.extractors.regex import text_request
from flipcore.extractors.reading import stated_number
from flipcore.records import ABSENT, OK, UNREADABLE, Reading, Request

PROMPT = """You are shown a question, its options, and a reply that somebody gave. Do not answer the question yourself.
Say which option the reply chooses, even if it is wrong.

Question: {question}
{options}

Reply:
<<<
{reply}
>>>

Write one line: "Chosen: " and the option's number, or "Chosen: none" if the reply chooses none or several."""
NUMBER_PROMPT = """You are shown a question and a reply that somebody gave. Do not answer the question yourself.
Say which number the reply gives as its answer, even if it is wrong.

Question: {question}

Reply:
<<<
{reply}
>>>

Write one line: "Chosen: " and the number, or "Chosen: none" if the reply gives none or several."""


@dataclass(frozen=True)
class Judge:
    name: ClassVar[str] = "judge"
    title: ClassVar[str] = "LLM judge"
    about: ClassVar[str] = "A second model says which option the text chooses; it enters no claim before it passed its gate."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice", "number"})
    abilities: ClassVar[frozenset[str]] = frozenset({"generate"})

    def needs(self, item, variant, ask, so_far):
        first = Need(text_request(variant, ask))
        if not so_far or so_far[0].status != "ok":
            return (first,)
        return (first, Need(Request("generate", self.prompt(item, so_far[0].text), max_tokens=16), judged=0))

    def prompt(self, item, reply: str) -> str:
        """Options carry numbers in the item's own order, so the judge never sees the variant's labels."""
        if item.kind == "number":
            return NUMBER_PROMPT.format(question=item.question, reply=reply)
        options = "\n".join(f"{i + 1}. {option}" for i, option in enumerate(item.options))
        return PROMPT.format(question=item.question, options=options, reply=reply)

    def read(self, item, variant, completions):
        failed = next((c for c in completions if c.status != "ok"), None)
        if failed is not None or len(completions) < 2:
            return Reading(ABSENT, reason=failed.error if failed else "There was no text to judge.")
        reply = completions[1].text
        found = re.search(r"Chosen:\s*(\S[^\n]*)", reply) or re.match(r"\s*(\S+)\s*$", reply)
        if not found or found[1].lower().startswith("none"):
            return Reading(UNREADABLE, reason="The judge found no choice." if found else "The judge's reply cannot be read.")
        number = stated_number(found[1])
        if item.kind == "number":
            return Reading(OK if number.answer else UNREADABLE, number.answer, span=found.span(1), reason=number.reason)
        position = int(number.answer) - 1 if number.answer and number.answer.isdigit() else -1
        if not 0 <= position < len(item.options):
            return Reading(UNREADABLE, span=found.span(1), reason="The judge named an option that does not exist.")
        return Reading(OK, str(position), span=found.span(1))


EXTRACTOR = Judge()
