"""Loss test (statistics of source 001): is the published wording easier for the model than a
paraphrase of it, beyond what controls show? Min-k % (arXiv:2310.16789): is the least likely part of
the wording likely? Min-k %++ (arXiv:2404.02936): and likelier than most of what could have stood in
its place?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from flipcore.detectors.detector import Evidence, ScoreDetector
from flipcore.stats.memory import frames
from flipcore.stats.memory.members import Members

OVER_REFERENCE = "question_loss"  # the extractor whose losses are compared with a reference model's
NO_COMPLETION = "Cut off: not applicable, no completion is read."


class _Scored(ScoreDetector):
    """Reads log-probabilities of given texts."""

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
    """`measure` is the extractor of a loss in nats, small where a text is known: `d` is the
    paraphrases' mean less the published wording's."""

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
    """A value of the published wording alone, large where it is known: `d` is the value."""

    unit: str = "mean log-probability of the least likely tokens, nats"
    null: str = "the same value of controls"
    reads: str = "how likely the text is"

    def scores(self, frame: pd.DataFrame, roles: Sequence[str]) -> pd.DataFrame:
        return frames.losses(frame, self.measure, roles=roles, is_absolute=True)


@dataclass(frozen=True)
class OverReference(_Scored):
    """`d` is the loss of the published wording under the study's reference model less this model's
    own (Carlini et al. 2020): what is hard for both says nothing."""

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
