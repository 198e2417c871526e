"""What is said of the flip predictor: its numbers. That it "predicts flips beyond the axis" is not claimed: the error rate of
such a sentence has not been simulated."""

import math

from flipcore.claims.claim import Claim, description
from flipcore.stats.base.estimate import number_text, p_text
from flipcore.stats.flips.predictor import FlipPrediction


def prediction(fit: FlipPrediction) -> Claim:
    """The out-of-fold AUC beside what knowing the axis alone reaches, with the permutation p; in small type the rest."""
    slope = f"{number_text(fit.slope)}: 1 is calibrated, below 1 overconfident."
    if math.isnan(fit.slope):
        slope = "none: the predictions do not vary, or they separate flips from the rest."
    detail = (
        f"Brier score {number_text(fit.brier, 3)}, {number_text(fit.brier_constant, 3)} for "
        "always saying the mean; "
        f"{fit.n_rows:,} item-axis rows ({fit.n_dropped:,} dropped for a missing feature). "
        "Calibration slope "
        f"{slope}"
    )
    return description(
        f"Out-of-fold AUC {fit.auc.text()}; the axis alone gives {number_text(fit.auc_by_axis)} "
        f"({p_text(fit.p)}).",
        detail=detail,
        p=fit.p,
    )
