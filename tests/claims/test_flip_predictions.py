import numpy as np

from flipcore.claims.flip_predictions import prediction
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.flips.predictor import FlipPrediction


def test_the_predictor_reports_its_numbers_and_claims_nothing():
    auc = Estimate(0.7, 0.6, 0.8, 0.95, "bootstrap", 40, 0)
    said = prediction(FlipPrediction(auc, 0.2, 0.25, 1.1, 0.01, 0.61, 80, 2, {}, np.empty(0), np.empty(0)))
    assert said.text == "Out-of-fold AUC 0.70 [0.60, 0.80]; the axis alone gives 0.61 (p = .010)."
    assert not said.asserted and "80 item-axis rows (2 dropped" in said.detail
