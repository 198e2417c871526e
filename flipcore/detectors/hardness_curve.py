"""Hardness curve (ConStat, arXiv:2405.16281): are the benchmark answers better than expected from
the controls and from reference models' scores on both sets?

So controls of another difficulty than the benchmark can be used too. No new calls are needed where
the reference models have answered.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from flipcore.core.records import WRITTEN_ANSWER
from flipcore.detectors.detector import Detector, Evidence
from flipcore.stats.memory import frames
from flipcore.stats.memory.hardness_curve import excess
from flipcore.stats.memory.members import Members


@dataclass(frozen=True)
class HardnessCurve(Detector):
    """`measure` is the extractor that reads the answers; answers in words have their own extractor.
    This detector gives no verdict: its false verdicts were only simulated, and its power was only
    tried once on known doses (the pocket model's card)."""

    measure: str = WRITTEN_ANSWER
    unit: str = "right (1) or wrong (0), less the share of reference models that are right"
    null: str = "what reference models' scores on both sets expect"
    reads: str = "the published score"

    def is_in(self, frame: pd.DataFrame) -> bool:
        own_readouts = frame[frame["extractor"] == frames.written_extractor(frame)]
        return bool(own_readouts[frames.reference_columns(frame)].notna().to_numpy().any())

    def scores(self, frame: pd.DataFrame, roles: Sequence[str]) -> pd.DataFrame:
        rows = frames.published(frame, frames.written_extractor(frame), roles=roles)
        reference_share = rows[frames.reference_columns(rows)].mean(axis=1)
        table = pd.DataFrame(
            {"item_id": rows["item_id"], "right": rows["d"], "of references": reference_share}
        )
        table["d"] = table["right"] - reference_share
        return table.dropna(subset="d", ignore_index=True)

    def evidence(
        self,
        frame: pd.DataFrame,
        item_roles: Sequence[str],
        control_roles: Sequence[str],
        members: Members,
    ) -> Evidence | None:
        sets = [
            frames.published(frame, frames.written_extractor(frame), roles=roles)
            for roles in (item_roles, control_roles)
        ]
        if any(answers.empty for answers in sets):
            return None
        # Only reference models with answers on both sets can be compared.
        compared = []
        for name in frames.reference_columns(frame):
            if all(answers[name].notna().any() for answers in sets):
                compared.append(name)
        own_scores = [answers["d"] for answers in sets]
        references = [answers[compared].to_numpy().T for answers in sets]
        curve = excess(*own_scores, *references)
        numbers = {
            "accuracy": curve.benchmark,
            "accuracy_control": curve.control_accuracy,
            "expected": curve.expected,
            "excess": curve.excess,
            "n_benchmark": curve.benchmark.n,
            "n_control": curve.control_accuracy.n,
            "n_references": curve.n_references,
        }
        return Evidence(curve=curve, numbers=numbers)


DETECTORS = (
    HardnessCurve(
        "hardness_curve",
        "hardness curve",
        about="How much more of the benchmark is answered right than reference models of the same "
        "strength expect.",
    ),
)
