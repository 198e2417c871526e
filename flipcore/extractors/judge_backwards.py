"""Judge, options listed backwards: shows whether the judge's answer depends on the order in which it sees the options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from flipcore.extractors.judge import Judge


@dataclass(frozen=True)
class JudgeBackwards(Judge):
    name: ClassVar[str] = "judge_backwards"
    title: ClassVar[str] = "Judge, options backwards"
    about: ClassVar[str] = "The judge shown the options from last to first; beside `judge` it measures position bias."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice"})
    backwards: ClassVar[bool] = True


EXTRACTOR = JudgeBackwards()
