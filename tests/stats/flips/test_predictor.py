"""Which items flip: signal is found, noise is not, an item never stands on both sides of a fold."""

import builtins
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from flipcore.claims.flips import prediction_claim
from flipcore.core.errors import BadInput, MissingPackage
from flipcore.core.randomness import generator
from flipcore.stats.flips.predictor import _calibration_slope, flip_prediction, predictor_rows
from tests.stats.flips.test_surface import asked, frame


def table(n=150, slope=3.0, seed=0):
    rng = generator(seed, "table")
    margin = np.repeat(rng.random(n), 2)
    chance = 1 / (1 + np.exp(slope * (margin - 0.5)))
    return pd.DataFrame(
        {
            "item_id": np.repeat(np.arange(n), 2),
            "axis": ["order", "format"] * n,
            "margin": margin,
            "flipped": (rng.random(2 * n) < chance).astype(int),
        }
    )


@pytest.mark.slow
def test_a_planted_signal_is_found_with_its_sign_and_calibration():
    rows = table(n=600)
    found = flip_prediction(rows, ["margin"], n_permutations=19)
    assert found.p == 0.05 and found.auc.low > 0.6 and found.weights["margin"] < 0
    assert found.brier < found.brier_constant and 0.6 < found.slope < 1.5
    assert found.auc.value == pytest.approx(roc_auc_score(rows["flipped"], found.probabilities))
    assert (found.n_rows, found.n_dropped) == (1200, 0) and set(found.weights) == {"margin", "order"}


@pytest.mark.slow
def test_noise_is_not_found():
    found = flip_prediction(table(slope=0.0), ["margin"], n_permutations=39)
    assert found.p > 0.05 and found.auc.low < 0.5


@pytest.mark.slow
def test_what_the_axis_alone_explains_is_not_credited_to_the_features():
    # one axis flips 90% of the items, the other 10%, the margin says nothing: AUC is .9 either way
    rng, rows = generator(4), table(n=200, slope=0.0)
    rows["flipped"] = (rng.random(400) < np.where(rows["axis"] == "order", 0.9, 0.1)).astype(int)
    found = flip_prediction(rows, ["margin"], n_permutations=39)
    assert found.auc.low > 0.8 and found.auc_by_axis == pytest.approx(found.auc.value, abs=0.03) and found.p > 0.05


def test_an_item_never_helps_to_predict_itself():
    # each item has its own feature and two rows of one label: folds that split items would reach AUC 1
    label = generator(1).integers(0, 2, 40)
    rows = pd.DataFrame({"item_id": np.repeat(np.arange(40), 2), "axis": "order", "flipped": np.repeat(label, 2)})
    names = [f"is_item_{k}" for k in range(40)]
    rows[names] = np.repeat(np.eye(40), 2, axis=0)
    assert flip_prediction(rows, names, n_permutations=1).auc.value < 0.7


def test_the_calibration_slope_is_an_unpenalised_logistic_regression():
    rows = table()
    found = flip_prediction(rows, ["margin"], n_permutations=1)
    p = found.probabilities
    fit = LogisticRegression(C=1e9, max_iter=1000).fit(np.log(p / (1 - p))[:, None], rows["flipped"])
    assert found.slope == pytest.approx(fit.coef_[0, 0], abs=1e-3)


def test_overconfident_predictions_have_a_slope_near_0_and_separating_ones_have_none():
    rng = np.random.default_rng(2)
    for spread in (4.0, 12.0, 24.0):  # with full steps from a slope of 1 the widest came to a number of 150 digits
        log_odds = np.repeat([-spread, spread], 30) + rng.normal(size=60)
        y = (rng.random(60) < np.where(log_odds > 0, 0.7, 0.3)).astype(float)
        fit = LogisticRegression(C=1e9, max_iter=5000).fit(log_odds[:, None], y)
        assert _calibration_slope(y, 1 / (1 + np.exp(-log_odds))) == pytest.approx(fit.coef_[0, 0], abs=2e-3)
    apart = np.repeat([0.0, 1.0], 30)
    assert math.isnan(_calibration_slope(apart, np.where(apart > 0, 0.9, 0.1) + rng.normal(0, 0.01, 60)))
    assert math.isnan(_calibration_slope(apart, np.full(60, 0.5)))
    separated = replace(flip_prediction(table(), ["margin"], n_permutations=1), slope=math.nan)
    assert "Calibration slope none:" in prediction_claim(separated).detail


def test_rows_without_a_feature_are_dropped_and_counted():
    rows = table()
    rows.loc[:9, "margin"] = np.nan
    found = flip_prediction(rows, ["margin"], n_permutations=1)
    assert found.n_dropped == 10 and found.mask.sum() == 290 and found.probabilities.size == 290


@pytest.mark.parametrize(("rows", "why"), [(table().assign(flipped=1), "one class"), (table(n=4), "fewer than 5 folds")])
def test_what_cannot_be_learnt_is_missing_and_says_why(rows, why):
    found = flip_prediction(rows, ["margin"])
    assert math.isnan(found.auc.value) and math.isnan(found.p) and why in found.note


def test_missing_columns_and_a_missing_package_are_sentences(monkeypatch):
    with pytest.raises(BadInput, match="entropy_bits"):
        flip_prediction(table())
    real = builtins.__import__

    def without_sklearn(name, *args, **kwargs):
        if name.startswith("sklearn"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_sklearn)
    with pytest.raises(MissingPackage, match="scikit-learn"):
        flip_prediction(table(), ["margin"])


def base(**changes):
    row = {"item_id": "i", "probabilities": [0.5, 0.25, 0.25], "n_options": 3, "n_prompt_chars": 40, "is_correct": True}
    return pd.DataFrame([row | changes])


def test_a_row_holds_margin_entropy_and_whether_the_item_flipped():
    row = predictor_rows(frame(asked("i", "AAB")), base(), "regex").iloc[0]
    # margin .5 - .25; entropy of (1/2, 1/4, 1/4) is 1.5 bits; 40 characters are 10 tokens
    assert (row["margin"], row["entropy_bits"], row["n_prompt_tokens"], row["flipped"]) == (0.25, 1.5, 10, 1.0)


def test_an_item_without_first_token_shares_has_no_features_but_stays():
    row = predictor_rows(frame(asked("i", "AA")), base(probabilities=[]), "regex").iloc[0]
    assert np.isnan(row["margin"]) and np.isnan(row["entropy_bits"]) and row["flipped"] == 0.0


def test_an_undefined_cell_is_missing_and_not_stable():
    rows = predictor_rows(frame(asked("i", [None, None])), base(), "regex")
    assert rows["flipped"].isna().all()


def test_the_noise_floor_is_no_axis_to_predict():
    rows = predictor_rows(frame(asked("i", "AB") + asked("i", "A", "identity")), base(), "regex")
    assert rows["axis"].tolist() == ["option_order"]
