"""A detector of memory: by which share of its loss the published wording is easier than a paraphrase."""

from dataclasses import dataclass

from flipcore.detectors import ScoreDetector
from flipcore.stats.memory import frames


@dataclass(frozen=True)
class LossRatio(ScoreDetector):
    def scores(self, frame, roles):
        rows = frames.losses(frame, self.measure, roles, self.axis)
        return rows.assign(d=rows["d"] / rows["reworded"])


DETECTOR = LossRatio(
    "loss_ratio",
    "loss ratio",
    "The share by which the published wording is easier than a paraphrase.",
    axis="paraphrase",
    measure="question_loss",
    unit="share of the paraphrase's loss",
    direction="small",
)
