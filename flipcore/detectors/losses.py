"""Detectors on log-probabilities of given texts.

Loss test (statistics of source 001): is the published wording easier for the model than a
paraphrase, by more than on controls? Min-k % (arXiv:2310.16789): how probable are the least
probable tokens of the wording? Min-k %++ (arXiv:2404.02936): how probable are they among all tokens
that could be in their place?
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from flipcore.detectors.detector import Evidence, ScoreDetector
from flipcore.stats.memory import frames
from flipcore.stats.memory.members import Members

OVER_REFERENCE = "question_loss"  # the extractor whose losses are compared with a reference model's
NO_COMPLETION = "Cut off: not applicable, no completion is read."


class _Scored(ScoreDetector):
    """A detector that reads log-probabilities of given texts."""

    @property
    def table_axis(self) -> str:
        return "paraphrase"

    def evidence(
        self,
        frame: pd.DataFrame,
        item_roles: Sequence[str],
        control_roles: Sequence[str],
        members: Members,
    ) -> Evidence | None:
        evidence = super().evidence(frame, item_roles, control_roles, members)
        return evidence and replace(evidence, cut=NO_COMPLETION)


@dataclass(frozen=True)
class Loss(_Scored):
    """`measure` is the extractor of a loss in nats, which is small for a known text. `d` is the
    mean loss of the paraphrases minus that of the published wording."""

    axis: str = "paraphrase"
    unit: str = "D: loss of the paraphrase minus loss of the published wording, nats"
    direction: str = "small"
    null: str = "the same difference on controls"
    reads: str = "how likely the text is"

    def is_in(self, frame: pd.DataFrame) -> bool:
        return bool((frame["extractor"] == self.measure).any())

    def scores(self, frame: pd.DataFrame, roles: Sequence[str]) -> pd.DataFrame:
        return frames.losses(frame, self.measure, roles=roles, operator=self.axis)


@dataclass(frozen=True)
class MinK(_Scored):
    """`d` is a value of the published wording alone, which is large for a known text."""

    unit: str = "mean log-probability of the least likely tokens, nats"
    null: str = "the same value of controls"
    reads: str = "how likely the text is"

    def scores(self, frame: pd.DataFrame, roles: Sequence[str]) -> pd.DataFrame:
        return frames.losses(frame, self.measure, roles=roles, is_absolute=True)


@dataclass(frozen=True)
class OverReference(_Scored):
    """`d` is the loss of the published wording under the study's reference model minus that under
    this model (Carlini et al. 2020), so a text that is hard for both is no evidence."""

    unit: str = "D: loss under the reference model minus this model's, nats"
    null: str = "the same difference on controls"
    reads: str = "how likely the text is"

    def is_in(self, frame: pd.DataFrame) -> bool:
        return "reference" in frame and bool(
            frame.loc[frame["extractor"] == self.measure, "reference"].notna().any()
        )

    def scores(self, frame: pd.DataFrame, roles: Sequence[str]) -> pd.DataFrame:
        return frames.over_reference(frame, self.measure, roles=roles)


DETECTORS = (
    Loss(
        "question_loss",
        "question loss",
        about="How much less surprising the published wording is than a paraphrase of it.",
        measure="question_loss",
    ),
    Loss(
        "answer_loss",
        "answer loss",
        about="How much less surprising the published answer is after the published wording than "
        "after a paraphrase.",
        measure="answer_loss",
    ),
    MinK(
        "min_k",
        "min-k %",
        about="How likely the least likely tokens of the published wording are.",
        measure="min_k",
    ),
    MinK(
        "min_k_plus",
        "min-k %++",
        about="How likely the least likely tokens of the published wording are among all that "
        "could stand there.",
        measure="min_k_plus",
        unit="mean of the lowest, standard deviations over the vocabulary",
    ),
    OverReference(
        "over_reference",
        "loss beside a reference model",
        about="How much less surprising the published wording is to the model than to the study's "
        "reference model.",
        measure=OVER_REFERENCE,
    ),
)
