"""Loss test (statistics of source 001): is the published wording easier for the model than a paraphrase of it, beyond what
controls show? Min-k % (arXiv:2310.16789): is the least likely part of the wording likely?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from flipcore.detectors.detector import ScoreDetector
from flipcore.stats.memory import frames


@dataclass(frozen=True)
class Loss(ScoreDetector):
    """`measure` is the extractor of a loss in nats, small where a text is known: `d` is the paraphrases' mean less the published
    wording's."""

    axis: str = "paraphrase"
    unit: str = "D: loss of the paraphrase minus loss of the published wording, nats"
    direction: str = "small"
    null: str = "the same difference on controls"

    def is_in(self, frame: pd.DataFrame) -> bool:
        return bool((frame["extractor"] == self.measure).any())

    def scores(self, frame: pd.DataFrame, roles: Sequence[str]) -> pd.DataFrame:
        return frames.losses(frame, self.measure, roles, self.axis)


@dataclass(frozen=True)
class MinK(ScoreDetector):
    """A value of the published wording alone, large where it is known: `d` is the value."""

    unit: str = "mean log-probability of the least likely tokens, nats"
    null: str = "the same value of controls"

    @property
    def table_axis(self) -> str:
        return "paraphrase"

    def scores(self, frame: pd.DataFrame, roles: Sequence[str]) -> pd.DataFrame:
        return frames.losses(frame, self.measure, roles, alone=True)


DETECTORS = (
    Loss(
        "question_loss",
        "question loss",
        "How much less surprising the published wording is than a paraphrase of it.",
        measure="question_loss",
    ),
    Loss(
        "answer_loss",
        "answer loss",
        "How much less surprising the published answer is after the published wording than after a paraphrase.",
        measure="answer_loss",
    ),
    MinK("min_k", "min-k %", "How likely the least likely tokens of the published wording are.", measure="min_k"),
)
