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
from flipcore.stats.flips import predictor
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


# Each step by hand, with a model that answers with the rate of its training rows.


class Constant:
    def fit(self, x, y):
        self.rate = y.mean()

    def predict_proba(self, x):
        return np.column_stack([np.full(len(x), 1 - self.rate), x[:, 0] * self.rate])


def test_a_seed_of_0_and_its_numbers_of_draws_are_what_nobody_asked_for(monkeypatch):
    asked = []

    def permuted(*arguments):
        asked.append(arguments[-2:])
        return 0.5, 0.5

    monkeypatch.setattr(predictor, "_permutation_p", permuted)
    found = flip_prediction(table(20), ["margin"])
    assert found.auc == flip_prediction(table(20), ["margin"], seed=0, n_boot=2_000).auc
    assert (found.auc.seed, asked) == (0, [(0, 199)] * 2)


@pytest.mark.parametrize("n", [5, 9, 10])
def test_five_items_have_a_prediction_and_ten_an_interval(n):
    rows = table(n)
    rows.loc[:1, "flipped"] = 0, 1
    rows = pd.concat([rows, rows[:1].assign(margin=np.nan)], ignore_index=True)
    found = flip_prediction(rows, ["margin"], n_permutations=1, n_boot=20)
    assert (found.note, found.auc.n, found.auc.has_interval) == ("", n, n == 10)
    assert (found.n_rows, found.n_dropped, list(found.weights)) == (2 * n, 1, ["margin", "order"])
    y = rows["flipped"][:-1].to_numpy()
    assert found.brier == pytest.approx(np.mean((found.probabilities - y) ** 2))
    assert found.auc.value == pytest.approx(roc_auc_score(y, found.probabilities))
    constant = np.empty(2 * n)
    for train, test in predictor._folds(np.repeat(np.arange(n), 2)):
        constant[test] = y[train].mean()
    assert found.brier_constant == pytest.approx(np.mean((constant - y) ** 2))


def test_an_undefined_prediction_counts_its_rows():
    rows = table(6).assign(flipped=1)
    rows.loc[[0, 3], "margin"] = np.nan
    found = flip_prediction(rows, ["margin"])
    assert (found.n_rows, found.n_dropped, found.auc.n) == (10, 2, 6)
    assert (found.mask.tolist(), np.isnan(found.probabilities).tolist()) == (
        [False, True, True, False] + [True] * 8, [True] * 10
    )  # fmt: skip
    rows["family"] = np.arange(12) // 4
    assert flip_prediction(rows, ["margin"]).note == "3 items are fewer than 5 folds."
    nothing = flip_prediction(rows.assign(flipped=np.nan), ["margin"])
    assert (nothing.n_rows, nothing.n_dropped) == (0, 12) and nothing.note.startswith("0 items")


def test_a_row_is_predicted_by_the_other_folds_alone():
    y, x = np.array([0, 1, 1, 1]), np.ones((4, 1))
    folds = [(np.array([0, 1, 2]), np.array([3])), (np.array([2, 3]), np.array([0, 1])), (np.array([0, 3]), np.array([2]))]
    probabilities, constant = predictor._out_of_fold(Constant(), folds, x / 2, y)
    # where all training rows are of one class, their rate is the prediction
    assert constant == pytest.approx([1, 1, 1 / 2, 2 / 3]) and probabilities == pytest.approx([1, 1, 1 / 4, 1 / 3])


def test_units_of_one_axis_with_equally_many_rows_may_be_exchanged():
    axis, unit = pd.Series(["b", "a", "a", "a", "b", "a"]), np.array([0, 0, 0, 1, 1, 2])
    blocks = predictor._exchangeable_blocks(axis, unit)
    assert [block.tolist() for block in blocks] == [[[0], [4]], [[3], [5]], [[1, 2]]]


def test_labels_are_permuted_within_their_block_and_ties_count():
    y, x = np.array([0, 0, 1, 1, 1, 0]), np.array([[1.0], [1], [1], [0], [0], [0]])
    folds = [(np.arange(6), np.arange(6))]
    alone = [np.array([[row]]) for row in range(6)]
    # Ones have x 1, 0, 0 and zeros 1, 1, 0: of nine pairs one has the larger x, and four are ties.
    assert predictor._permutation_p(Constant(), folds, x, y, alone, 3 / 9, 0, 3) == pytest.approx((1.0, 3 / 9))
    assert predictor._permutation_p(Constant(), folds, x, y, alone, 4 / 9, 0, 3)[0] == pytest.approx(1 / 4)
    # Exchange the first and the last: three ones of x 1, 0, 0 become 1, 0, 0 or none at all.
    pair = [np.array([[0], [3]])]
    p, mean = predictor._permutation_p(Constant(), folds, x, y, pair, 6 / 9, 0, 200)
    assert p == pytest.approx((1 + 200 * (mean - 3 / 9) * 3) / 201) and 0.3 < p < 0.7


def test_the_interval_of_the_auc_resamples_whole_items():
    rng = np.random.default_rng(3)
    unit, y = np.repeat(np.arange(10), 2), rng.integers(0, 2, 20)
    scores = (rng.random(20) + 0.3 * y).round(1)
    found = predictor._auc_estimate(y, scores, unit, 4, 20)
    aucs = []
    for draw in generator(4).integers(0, 10, size=(20, 10), dtype=np.int32):
        rows = np.concatenate([np.flatnonzero(unit == item) for item in draw])
        aucs.append(roc_auc_score(y[rows], scores[rows]))
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(aucs, [2.5, 97.5])))
    assert (found.value, found.n, found.seed, found.level) == (pytest.approx(roc_auc_score(y, scores)), 10, 4, 0.95)


def test_predictions_that_are_nearly_equal_have_no_slope_and_sure_ones_are_cut():
    y = np.array([0.0, 1, 0, 1, 1, 0])
    assert math.isnan(_calibration_slope(y, np.full(6, 0.5) + np.arange(6) * 1e-14))
    # A sure prediction has the log-odds of 1e-12: the same as that itself.
    sure = np.array([0.0, 1, 1, 0, 1, 0])
    assert _calibration_slope(y, sure) == pytest.approx(_calibration_slope(y, np.clip(sure, 1e-12, 1 - 1e-12)))
    # Two of three are right on each side: log-odds of 2 to 1, over 27.63.
    assert _calibration_slope(y, sure) == pytest.approx(math.log(2) / math.log(1e12), rel=1e-4)


def test_rows_of_several_items_have_their_own_features():
    readouts = frame(asked("i", "AAB") + asked("j", "AA")).assign(family="f")
    several = pd.concat([base(), base(item_id="j", probabilities=[0.6, 0.2, 0.0], is_correct=False, n_prompt_chars=10)])
    rows = predictor_rows(readouts, pd.concat([several, base(n_options=9)]), "regex")
    assert rows[["item_id", "n_options", "flipped", "base_correct", "family"]].values.tolist() == [
        ["i", 3, 1.0, 1.0, "f"], ["j", 3, 0.0, 0.0, "f"]
    ]  # fmt: skip
    # shares of .75 and .25 have an entropy of .8113 bits
    assert rows["margin"].tolist() == pytest.approx([0.25, 0.4])
    assert rows["entropy_bits"].tolist() == pytest.approx([1.5, 0.8113], abs=1e-4)
    assert rows["n_prompt_tokens"].tolist() == [10, 2.5]
    single = predictor_rows(readouts, base(probabilities=[0.7]), "regex").iloc[0]
    assert math.isnan(single["margin"]) and single["entropy_bits"] == 0
    two = predictor_rows(readouts, base(probabilities=[0.7, 0.1]), "regex").iloc[0]
    assert two["margin"] == pytest.approx(0.6)
    assert math.isnan(predictor_rows(readouts, base(probabilities=[0.0, 0.0]), "regex").iloc[0]["entropy_bits"])
