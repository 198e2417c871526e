"""Published score: are more answers right on the benchmark, asked as published, than on controls?

No new calls are needed. It is used only if difficulty cannot explain the whole difference:
against a random split of the same source, or against items newer than the model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from flipcore.core.records import WRITTEN_ANSWER
from flipcore.detectors.detector import Detector, Evidence
from flipcore.stats.memory import frames
from flipcore.stats.memory.members import Members
from flipcore.stats.memory.published_score import score_gap


@dataclass(frozen=True)
class PublishedScore(Detector):
    """`measure` is the extractor that reads the answers; answers in words have their own."""

    measure: str = WRITTEN_ANSWER
    unit: str = "right (1) or wrong (0)"
    null: str = "the accuracy of the controls, asked as they stand"
    reads: str = "the published score"

    def is_in(self, frame: pd.DataFrame) -> bool:
        return bool((frame["extractor"] == frames.written_extractor(frame)).any())

    def scores(self, frame: pd.DataFrame, roles: Sequence[str]) -> pd.DataFrame:
        return frames.published(frame, frames.written_extractor(frame), roles=roles)

    def evidence(
        self,
        frame: pd.DataFrame,
        item_roles: Sequence[str],
        control_roles: Sequence[str],
        members: Members,
    ) -> Evidence | None:
        items, controls = (self.scores(frame, roles) for roles in (item_roles, control_roles))
        item_ids, control_ids = items["item_id"].tolist(), controls["item_id"].tolist()
        control = members.score_control(control_ids)
        if items.empty or controls.empty or not control:
            return None
        score = score_gap(
            items["d"].to_numpy(),
            controls["d"].to_numpy(),
            control=control,
            families=members.units(item_ids, control_ids),
        )
        score = replace(score, is_unpublished=members.never_published(control_ids))
        numbers = {
            "score_gap": score.gap,
            "accuracy": score.benchmark,
            "accuracy_control": score.control_accuracy,
            "n_benchmark": score.benchmark.n,
            "n_control": score.control_accuracy.n,
        }
        return Evidence(score=score, numbers=numbers)


DETECTORS = (
    PublishedScore(
        "published_score",
        "published score",
        about="How much more of the benchmark than of its controls is answered right as published.",
    ),
)
