"""Predict which items flip on which axes, by L2 logistic regression on what is known from the base
prompt."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from flipcore.core.early_imports import learners
from flipcore.core.errors import BadInput, MissingPackage
from flipcore.core.randomness import generator
from flipcore.core.records import IDENTITY
from flipcore.stats.base.estimate import MIN_N, Estimate, missing, without_interval
from flipcore.stats.base.resample import N_BOOT_SOURCE, index_draws, monte_carlo_p
from flipcore.stats.base.separability import auc, weighted_auc
from flipcore.stats.flips import surface

FEATURES = ("margin", "entropy_bits", "n_prompt_tokens", "n_options", "base_correct")
N_FOLDS = 5


@dataclass(frozen=True)
class FlipPrediction:
    """Result of the prediction; numbers are NaN where undefined.

    auc : of the out-of-fold probabilities.
    brier, brier_constant : Brier scores of the model, and of always predicting the training rate.
    slope : calibration slope; 1 is calibrated, below 1 is overconfident.
    p : from permutations of the labels within axes, each with the whole cross-validation.
    auc_by_axis : mean AUC of these permutations, which is what the axis alone can predict.
    n_rows, n_dropped : number of rows used, and of rows that lack a feature or the label.
    weights : feature -> coefficient of the standardised feature, fitted on all rows.
    probabilities : (used rows,) out-of-fold probabilities of a flip.
    mask : (rows,) True for the used rows.
    note : why there is no prediction; "" if there is one.
    """

    auc: Estimate
    brier: float
    brier_constant: float
    slope: float
    p: float
    auc_by_axis: float
    n_rows: int
    n_dropped: int
    weights: dict[str, float]
    probabilities: np.ndarray
    mask: np.ndarray
    note: str = ""


def flip_prediction(
    rows: pd.DataFrame,
    features: Sequence[str] = FEATURES,
    *,
    seed: int = 0,
    n_boot: int = N_BOOT_SOURCE,
    n_permutations: int = 199,
) -> FlipPrediction:
    """Predict which items flip.

    `rows` has one row per item and axis, with the columns `item_id`, `axis`, `flipped` (0/1), the
    features, and optionally `family`. Axes become dummies, features are standardised on the
    training folds, and C = 1. Folds, resamples and permutations keep the rows of an item (or of a
    family) together. Numbers are NaN with fewer than 5 items or one class only. Raises BadInput for
    missing columns, MissingPackage without scikit-learn.
    """
    lacking = [name for name in ("item_id", "axis", "flipped", *features) if name not in rows]
    if lacking:
        raise BadInput(
            f"The table lacks the column(s) {', '.join(lacking)}; give one row per item and axis."
        )
    # Dummies of all axes would add up to a constant, so the first axis has none.
    dummies = pd.get_dummies(rows["axis"], drop_first=True).astype(float)
    design = pd.concat([rows[list(features)].astype(float), dummies], axis=1)
    mask = (design.notna().all(axis=1) & rows["flipped"].notna()).to_numpy()
    x, y = design[mask].to_numpy(), rows["flipped"][mask].to_numpy(dtype=int)
    unit = pd.factorize(rows["family" if "family" in rows else "item_id"][mask])[0]
    n_units = int(unit.max(initial=-1)) + 1
    if n_units < N_FOLDS or np.unique(y).size < 2:
        reason = "All rows are of one class."
        if n_units < N_FOLDS:
            reason = f"{n_units} items are fewer than {N_FOLDS} folds."
        return _undefined(n_units, mask, reason)
    model, folds = _model(), _folds(unit)
    probabilities, constant = _out_of_fold(model, folds, x, y)
    blocks = _exchangeable_blocks(rows["axis"][mask], unit)
    observed = auc(y, probabilities)
    p, auc_by_axis = _permutation_p(model, folds, x, y, blocks, observed, seed, n_permutations)
    model.fit(x, y)
    return FlipPrediction(
        auc=_auc_estimate(y, probabilities, unit, seed, n_boot),
        brier=float(np.mean((probabilities - y) ** 2)),
        brier_constant=float(np.mean((constant - y) ** 2)),
        slope=_calibration_slope(y, probabilities),
        p=p,
        auc_by_axis=auc_by_axis,
        n_rows=int(mask.sum()),
        n_dropped=int((~mask).sum()),
        weights=dict(zip(design.columns, model[-1].coef_[0].tolist(), strict=True)),
        probabilities=probabilities,
        mask=mask,
    )


def _undefined(n_units: int, mask: np.ndarray, reason: str) -> FlipPrediction:
    n_rows = int(mask.sum())
    return FlipPrediction(
        auc=missing(n_units, note=reason),
        brier=math.nan,
        brier_constant=math.nan,
        slope=math.nan,
        p=math.nan,
        auc_by_axis=math.nan,
        n_rows=n_rows,
        n_dropped=len(mask) - n_rows,
        weights={},
        probabilities=np.full(n_rows, np.nan),
        mask=mask,
        note=reason,
    )


def _model():
    try:
        learners()
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
    except ImportError as error:
        raise MissingPackage(
            "The flip predictor needs scikit-learn, which is not installed. Install it with 'pip "
            "install -r requirements.txt'."
        ) from error
    return make_pipeline(StandardScaler(), LogisticRegression(C=1.0, max_iter=1000))


def _folds(unit: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    learners()
    from sklearn.model_selection import GroupKFold

    return list(GroupKFold(N_FOLDS).split(unit, groups=unit))


def _out_of_fold(model, folds: list, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities from models that were not fitted on the row, and the training rates,
    which are the constant baseline."""
    probabilities, constant = np.empty(y.size), np.empty(y.size)
    for train, test in folds:
        constant[test] = y[train].mean()
        if np.unique(y[train]).size < 2:
            # A regression cannot be fitted to one class; the training rate is the best prediction.
            probabilities[test] = constant[test]
        else:
            model.fit(x[train], y[train])
            probabilities[test] = model.predict_proba(x[test])[:, 1]
    return probabilities, constant


def _exchangeable_blocks(axis: pd.Series, unit: np.ndarray) -> list[np.ndarray]:
    """Return blocks of row numbers, (units, rows per unit) each, whose units a permutation may
    exchange: units of one axis that have equally many rows."""
    names = axis.to_numpy(dtype=object)
    blocks = []
    for name in dict.fromkeys(names):
        rows_of_unit: dict[int, list[int]] = {}
        for row in np.flatnonzero(names == name):
            rows_of_unit.setdefault(int(unit[row]), []).append(int(row))
        for size in sorted({len(rows) for rows in rows_of_unit.values()}):
            blocks.append(np.array([rows for rows in rows_of_unit.values() if len(rows) == size]))
    return blocks


def _permutation_p(
    model,
    folds: list,
    x: np.ndarray,
    y: np.ndarray,
    blocks: list[np.ndarray],
    observed: float,
    seed: int,
    m: int,
) -> tuple[float, float]:
    """Return the p of the observed AUC, and the mean AUC under permutation."""
    rng, null_aucs = generator(seed, "flip predictor"), []

    def draw(k: int) -> np.ndarray:
        aucs = np.empty(k)
        for i in range(k):
            shuffled = y.copy()
            for block in blocks:
                shuffled[block] = y[rng.permutation(block)]
            aucs[i] = auc(shuffled, _out_of_fold(model, folds, x, shuffled)[0])
        null_aucs.append(aucs)
        return aucs

    # max_m: no further draws near .05, because each is a whole cross-validation.
    p = monte_carlo_p(observed, draw, m, max_m=m).p
    return p, float(np.mean(np.concatenate(null_aucs)))


def _auc_estimate(
    y: np.ndarray, scores: np.ndarray, unit: np.ndarray, seed: int, n_boot: int
) -> Estimate:
    """Return the AUC with a percentile interval from resampled units (items or families)."""
    n = int(unit.max()) + 1
    value = auc(y, scores)
    if n < MIN_N:
        return without_interval(value, n)
    chunks = []
    for draws in index_draws(n, n_boot, generator(seed)):
        # The weight of a row is how often its unit was drawn, so no scores are copied.
        counts = np.array([np.bincount(draw, minlength=n) for draw in draws], dtype=float)
        chunks.append(weighted_auc(y, scores, counts[:, unit]))
    # `nanpercentile`, because a resample of one class has no AUC.
    low, high = np.nanpercentile(np.concatenate(chunks), [2.5, 97.5])
    return Estimate(value, float(low), float(high), level=0.95, method="percentile", n=n, seed=seed)


def _calibration_slope(y: np.ndarray, probabilities: np.ndarray) -> float:
    """Return the slope of an unpenalised logistic regression of y on the predicted log-odds, by
    Newton's method.

    NaN if there is no finite slope, because all predictions are equal or they separate the two
    outcomes.
    """
    p = np.clip(probabilities, 1e-12, 1 - 1e-12)
    x = np.column_stack([np.ones(y.size), np.log(p / (1 - p))])
    if np.ptp(x[:, 1]) < 1e-12:
        return math.nan
    beta = np.zeros(2)
    loss = _logistic_loss(x @ beta, y)
    for _ in range(50):
        fitted = 1 / (1 + np.exp(-np.clip(x @ beta, -500, 500)))
        hessian = x.T @ (x * (fitted * (1 - fitted))[:, None])
        # If the predictions separate the outcomes, the curvature vanishes and the slope diverges.
        if not np.linalg.cond(hessian) <= 1e12:
            return math.nan
        step = np.linalg.solve(hessian, x.T @ (y - fitted))
        # A full step may overshoot, so it is halved while it makes the fit worse.
        while _logistic_loss(x @ (beta + step), y) > loss + 1e-12 and np.abs(step).max() > 1e-10:
            step /= 2
        beta = beta + step
        loss = _logistic_loss(x @ beta, y)
        if np.abs(step).max() <= 1e-10:
            return float(beta[1])
    return math.nan


def _logistic_loss(log_odds: np.ndarray, y: np.ndarray) -> float:
    return float(np.sum(np.logaddexp(0, log_odds) - y * log_odds))


def predictor_rows(frame: pd.DataFrame, base: pd.DataFrame, extractor: str) -> pd.DataFrame:
    """Return the table that `flip_prediction` needs, one row per item and axis.

    `frame` has the readouts of one model. `base` has one row per item, about the first sample of
    its base prompt: `item_id`, `probabilities` (of the options as first tokens), `n_options`,
    `n_prompt_chars`, `is_correct`.
    """
    cells = surface.surface(frame, extractor)
    wide = pd.DataFrame(cells.rate, index=cells.items, columns=cells.columns)
    wide = wide.drop(columns=IDENTITY, errors="ignore").rename_axis("item_id").reset_index()
    rates = wide.melt("item_id", var_name="axis", value_name="rate")
    items = base.drop_duplicates("item_id").copy()
    descending = [np.sort(np.asarray(p, dtype=float))[::-1] for p in items["probabilities"]]
    # The most probable option minus the second.
    items["margin"] = [p[0] - p[1] if p.size > 1 else np.nan for p in descending]
    items["entropy_bits"] = [_entropy(p) for p in descending]
    # English text has about four characters per token; no tokenizer is needed for an estimate.
    items["n_prompt_tokens"] = items["n_prompt_chars"] / 4
    items["base_correct"] = items["is_correct"].astype(float)
    rows = rates.merge(items, on="item_id", how="inner")
    if "family" in frame:
        family_of = dict(zip(frame["item_id"], frame["family"], strict=True))
        rows["family"] = rows["item_id"].map(family_of)
    rows["flipped"] = np.where(rows["rate"].isna(), np.nan, (rows["rate"] > 0).astype(float))
    return rows


def _entropy(shares: np.ndarray) -> float:
    """Return the entropy in bits of the shares, normalised to a sum of 1; NaN if all are 0."""
    total = shares.sum()
    if not total > 0:
        return math.nan
    p = shares[shares > 0] / total
    return float(-(p * np.log2(p)).sum())
