"""Which items flip: signal is found, noise is not, an item never stands on both sides of a fold."""

import builtins
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from flipcore.errors import BadInput, MissingPackage
from flipcore.stats.coding import coded_answers
from flipcore.stats.prediction_rows import base_features, prediction_rows
from flipcore.stats.predictor import flip_prediction
from flipcore.stats.resample import generator


def table(n=150, slope=3.0, seed=0):
    rng = generator(seed, "table")
    margin = np.repeat(rng.random(n), 2)
    chance = 1 / (1 + np.exp(slope * (margin - 0.5)))
    return pd.DataFrame({"item_id": np.repeat(np.arange(n), 2), "axis": ["order", "format"] * n, "margin": margin,
                         "flipped": (rng.random(2 * n) < chance).astype(int)})


def test_a_planted_signal_is_found_with_its_sign_and_calibration():
    rows = table(n=600)
    found = flip_prediction(rows, ["margin"], n_permutations=19)
    assert found.p == 0.05 and found.auc.low > 0.6 and found.weights["margin"] < 0
    assert found.brier < found.brier_constant and 0.6 < found.slope < 1.5
    assert found.auc.value == pytest.approx(roc_auc_score(rows["flipped"], found.probabilities))
    assert (found.n_rows, found.n_dropped) == (1200, 0) and set(found.weights) == {"margin", "order"}


def test_noise_is_not_found():
    found = flip_prediction(table(slope=0.0), ["margin"], n_permutations=39)
    assert found.p > 0.05 and found.auc.low < 0.5


def test_an_item_never_helps_to_predict_itself():
    # each item's two rows share a label and a feature that names the item: folds that split items would reach AUC 1
    rng = generator(1)
    n = 60
    label = rng.integers(0, 2, n)
    rows = pd.DataFrame({"item_id": np.repeat(np.arange(n), 2), "axis": "order", "flipped": np.repeat(label, 2),
                         "margin": np.repeat(rng.random(n), 2)})
    assert flip_prediction(rows, ["margin"], n_permutations=1).auc.low < 0.5


def test_the_calibration_slope_is_an_unpenalised_logistic_regression():
    rows = table()
    found = flip_prediction(rows, ["margin"], n_permutations=1)
    p = found.probabilities
    fit = LogisticRegression(C=1e9, max_iter=1000).fit(np.log(p / (1 - p))[:, None], rows["flipped"])
    assert found.slope == pytest.approx(fit.coef_[0, 0], abs=1e-3)


def test_rows_without_a_feature_are_dropped_and_counted():
    rows = table()
    rows.loc[:9, "margin"] = np.nan
    found = flip_prediction(rows, ["margin"], n_permutations=1)
    assert found.n_dropped == 10 and found.used.sum() == 290 and found.probabilities.size == 290


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


READOUTS = pd.DataFrame([
    {"item_id": item, "axis": "order", "variant": variant, "sample": 0, "extractor": "first_token", "status": "ok",
     "answer": answer, "is_correct": correct, "probabilities": shares}
    for item, variant, answer, correct, shares in [
        ("i", "base", "0", True, [["0", 0.6], ["1", 0.2]]), ("i", "r1", "1", False, [["1", 0.9], ["0", 0.1]]),
        ("j", "base", "1", None, "[]"), ("j", "r1", "1", True, "[]")]])


def test_features_are_read_from_the_base_prompt_and_missing_ones_stay_missing():
    found = base_features(READOUTS)
    # shares .6 and .2 of a label mass of .8: .75 and .25
    assert found.loc["i", "margin"] == pytest.approx(0.5) and found.loc["i", "base_correct"] == 1.0
    assert found.loc["i", "entropy_bits"] == pytest.approx(-0.75 * math.log2(0.75) + 0.5)
    assert found.loc["j"].isna().all()


def test_prediction_rows_hold_the_items_that_define_a_flip_rate():
    answers = coded_answers(pd.concat([READOUTS, READOUTS.iloc[[0]].assign(axis="format")]))
    found = prediction_rows(answers, "first_token", base_features(READOUTS))
    assert found[["item_id", "axis", "flipped"]].values.tolist() == [["i", "order", 1], ["j", "order", 0]]
    assert found.loc[0, "n_options"] == 2
    assert prediction_rows(answers, "first_token", base_features(READOUTS), axes=["format"]).empty
