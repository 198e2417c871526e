"""The numbers of the flip predictor, as a description.

That it "predicts flips beyond the axis" is not claimed: the error rate of such a sentence has not
been simulated.
"""

import math

from flipcore.claims.claim import Claim, description
from flipcore.stats.base.estimate import number_text, p_text
from flipcore.stats.flips.predictor import FlipPrediction


def prediction(fit: FlipPrediction) -> Claim:
    """Give the out-of-fold AUC beside that of the axis alone, with the permutation p.

    The rest stands in small type.
    """
    slope = f"{number_text(fit.slope)}: 1 is calibrated, below 1 overconfident."
    # A regression of flips on predictions has no slope then.
    if math.isnan(fit.slope):
        slope = "none: the predictions do not vary, or they separate flips from the rest."
    detail = (
        f"Brier score {number_text(fit.brier, 3)}, {number_text(fit.brier_constant, 3)} for "
        f"always saying the mean; {fit.n_rows:,} item-axis rows ({fit.n_dropped:,} dropped for a "
        f"missing feature). Calibration slope {slope}"
    )
    return description(
        f"Out-of-fold AUC {fit.auc.text()}; the axis alone gives {number_text(fit.auc_by_axis)} "
        f"({p_text(fit.p)}).",
        detail=detail,
        p=fit.p,
    )
