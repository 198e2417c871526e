"""What is said of the flip predictor: its numbers. That it "predicts flips beyond the axis" is not claimed: the error rate of
such a sentence has not been simulated."""

from __future__ import annotations

from flipcore.claims.claim import Claim, description
from flipcore.stats.base.estimate import number_text, p_text
from flipcore.stats.flips.predictor import FlipPrediction


def prediction(found: FlipPrediction) -> Claim:
    """The out-of-fold AUC beside what knowing the axis alone reaches, with the permutation p; in small type the rest."""
    detail = (
        f"Brier score {number_text(found.brier, 3)}, {number_text(found.brier_constant, 3)} for always saying the mean; "
        f"{found.n_rows:,} item-axis rows ({found.n_dropped:,} dropped for a missing feature). Calibration slope "
        f"{number_text(found.slope)}: 1 is calibrated, below 1 overconfident."
    )
    return description(
        f"Out-of-fold AUC {found.auc.text()}; the axis alone gives {number_text(found.auc_by_axis)} ({p_text(found.p)}).",
        detail=detail,
        p=found.p,
    )
