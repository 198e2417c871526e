"""Unit tests: the code of an output is run with its item's tests, in a sandbox.

The admin must allow the sandbox. The answer is "passed" or "failed" (Chen et al. 2021,
arXiv:2107.03374). One extractor takes the code from the output's blocks, as people do. The other
takes the output as the rest of the function, as HumanEval's own harness does. They differ where the
form of the output is wrong, not the program.
"""

import json
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from flipcore.core import sandbox
from flipcore.core.contracts import Ask, Extractor, Need, param
from flipcore.core.errors import BadInput
from flipcore.core.records import (
    CODE,
    OK,
    WRITTEN_CODE,
    Completion,
    Item,
    Reading,
    Request,
    Variant,
)
from flipcore.extractors.readings import absent, failure, no_answer, text_request, unreadable

_BLOCK = re.compile(r"^[ \t]*```[^\n`]*\n(?P<code>.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)
_RAW_ENDS = re.compile(r"\n(?=class |def |#|if |print\()")  # where HumanEval's harness ends a body


def code_of(text: str, name: str) -> str | None:
    """Return the code of an output, or None.

    It is the last block that defines `name`, or else the last block. Without blocks it is the
    output itself, where that defines `name` or is indented as the rest of a function.
    """
    defines = re.compile(
        rf"^[ \t]*(?:async[ \t]+)?def[ \t]+{re.escape(name)}\b|^{re.escape(name)}[ \t]*=",
        re.MULTILINE,
    )
    blocks = [match["code"] for match in _BLOCK.finditer(text)]
    if blocks:
        return next((block for block in reversed(blocks) if defines.search(block)), blocks[-1])
    if definition := defines.search(text):
        statement = re.search(r"^(?:from|import|class|def|@)\b", text, re.MULTILINE)
        return text[min(match.start() for match in (definition, statement) if match) :]
    return text if re.match(r"(?:[ \t]*\n)*(?: {2,}|\t)\S", text) else None


def program(before: str, code: str, name: str) -> str:
    """Return the program to run: the question's code, then the output's.
    The output's code defines the function again, or is the rest of it."""
    if re.search(rf"^[ \t]+def[ \t]+{re.escape(name)}\b", code, re.MULTILINE):
        code = textwrap.dedent(code)
    return f"{before}\n{code}"


@dataclass(frozen=True)
class UnitTests(Extractor):
    """`cpu_s` limits the processor time of a program; it may take six times as long in all."""

    cpu_s: int = param(5, "seconds of processor time")
    name: ClassVar[str] = WRITTEN_CODE
    title: ClassVar[str] = "Unit tests"
    about: ClassVar[str] = (
        "Whether the code of the reply passes its item's tests, run in a sandbox that the admin "
        "allows."
    )
    applies_to: ClassVar[frozenset[str]] = frozenset({CODE})
    abilities: ClassVar[frozenset[str]] = frozenset({"generate"})
    needs_sandbox: ClassVar[bool] = True

    def __post_init__(self) -> None:
        sandbox.Program("", name="", tests="", cpu_s=self.cpu_s)  # BadInput for wrong seconds

    def why_not(self) -> str:
        return sandbox.why_not()

    def needs(
        self, item: Item, variant: Variant, ask: Ask, so_far: Sequence[Completion]
    ) -> Sequence[Need]:
        if reason := self.why_not():
            raise BadInput(reason)
        needs = [Need(text_request(variant, ask))]
        if so_far and not no_answer(so_far) and (code := self.program(item, so_far[0].text)):
            task = {
                "code": code,
                "name": str(item.meta.get("entry_point", "")),
                "tests": str(item.meta.get("tests", "")),
                "before": str(item.meta.get("before", "")),
                "cpu_s": self.cpu_s,
            }
            needs.append(Need(Request("generate", json.dumps(task)), answer_at=0))
        return needs

    def program(self, item: Item, text: str) -> str | None:
        """Return the program to run; None if the output holds no code."""
        name = str(item.meta.get("entry_point", ""))
        code = code_of(text, name)
        if code is None or not code.strip():
            return None
        return program(str(item.meta.get("before", "")), code, name=name)

    def read(self, item: Item, variant: Variant, completions: Sequence[Completion]) -> Reading:
        if unanswered := no_answer(completions):
            return unanswered
        if self.program(item, completions[0].text) is None:
            return unreadable("The answer holds no code.")
        if failed := failure(completions, 2):
            return failed
        verdict, _, reason = completions[1].text.partition(": ")
        if verdict in (sandbox.PASSED, sandbox.FAILED):
            return Reading(OK, answer=verdict, reason=reason)
        return absent(reason)


@dataclass(frozen=True)
class UnitTestsRaw(UnitTests):
    name: ClassVar[str] = "raw_unit_tests"
    title: ClassVar[str] = "Unit tests, reply as it is"
    about: ClassVar[str] = (
        "The same with the reply as the rest of the function, as HumanEval's own harness takes it."
    )

    def program(self, item: Item, text: str) -> str | None:
        body = _RAW_ENDS.split(text, maxsplit=1)[0]
        return f"{item.meta.get('before', '')}{body}" if body.strip() else None


EXTRACTORS = (UnitTestsRaw(), UnitTests())  # the last one is the default reference extractor
